// SPDX-License-Identifier: MIT
import type { Content, Done, Progress } from './index.mjs'

export class Cancelled extends Error {}

/** The command in a worker of a browser. */
export class Client {
    constructor(start?: () => Worker, wasm?: Uint8Array | ArrayBuffer | WebAssembly.Module)
    run(
        args: string[],
        files?: Record<string, Content>,
        environment?: Record<string, string>,
        progress?: (progress: Progress) => void,
    ): Promise<Done>
    /** Rejects what runs, and what waits, with Cancelled. */
    cancel(): void
}
