// SPDX-License-Identifier: MIT
export interface Named {
    path: string
    blob: Blob
}
export interface Sorted {
    /** Their files by the names that commands use. */
    recordings: { name: string; files: Record<string, Blob> }[]
    /** By the path below a root, as --symfs reads it. */
    symbols: Record<string, Blob>
    kallsyms: Blob | null
    others: Named[]
}
export function elfIdentity(blob: Blob): Promise<{ buildId: string; hasCode: boolean } | null>
export function kindOf(path: string, blob: Blob): Promise<'recording' | 'symbols' | 'kallsyms' | 'other'>
export function sort(list: Named[]): Promise<Sorted>
