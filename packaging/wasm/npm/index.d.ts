// SPDX-License-Identifier: MIT
export type Content = Uint8Array | ArrayBuffer | Blob

export interface Done {
    /** 0: as asked; 1: what was read is damaged or empty; 2: usage; 3 and more: it cannot be read, or memory is short. */
    status: number
    stdout: Uint8Array
    stderr: string
    /** The files that were made, by their names. */
    files: Record<string, Uint8Array>
}

export function run(args: string[], files?: Record<string, Content>, environment?: Record<string, string>): Promise<Done>
export function useWasm(bytes: Uint8Array | ArrayBuffer): void
export function open(content: Content): Recording

export class Recording {
    constructor(content: Content)
    verb(name: string, ...options: string[]): Promise<Done>
    info(): Promise<any>
    /** What is wrong with it; nothing: it is valid. */
    check(): Promise<any[]>
    report(...options: string[]): Promise<string>
    script(...options: string[]): Promise<string>
    page(...options: string[]): Promise<string>
    table(view: string, ...options: string[]): Promise<Uint8Array>
    repair(...options: string[]): Promise<Uint8Array>
    cut(...options: string[]): Promise<Uint8Array>
}
