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

/** The recording that is read, the end of what was read of it, and its size. */
export interface Progress {
    name: string
    read: number
    size: number
}

export function run(
    args: string[],
    files?: Record<string, Content>,
    environment?: Record<string, string>,
    progress?: (progress: Progress) => void,
): Promise<Done>
export function useWasm(bytesOrModule: Uint8Array | ArrayBuffer | WebAssembly.Module): void
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
