// SPDX-License-Identifier: MIT
// Files of all kinds: which are recordings, and where the command finds symbols in the others.

const bytesAt = async (blob, from, to) => new DataView(await blob.slice(from, to).arrayBuffer())
const MAX_HEADERS = 1 << 22, MAX_NOTES = 1 << 16 // bytes
const SHT_NOTE = 7, SHT_NOBITS = 8, SHF_EXECINSTR = 4, PT_NOTE = 4, NT_GNU_BUILD_ID = 3, GNU = 0x474e5500

// Where members of headers are, by the class of the file: 32 and 64 bits.
const HEADERS = [
    { sections: [0x20, 0x2e, 0x30], segments: [0x1c, 0x2a, 0x2c], section: [4, 8, 16, 20], segment: [0, 4, 16] },
    { sections: [0x28, 0x3a, 0x3c], segments: [0x20, 0x36, 0x38], section: [4, 8, 24, 32], segment: [0, 8, 32] },
]

function buildIdIn(view, little) {
    for (let at = 0; at + 12 <= view.byteLength;) {
        const name = view.getUint32(at, little), size = view.getUint32(at + 4, little), start = at + 12 + (name + 3 & ~3)
        if (name === 4 && view.getUint32(at + 8, little) === NT_GNU_BUILD_ID && view.getUint32(at + 12) === GNU && start + size <= view.byteLength)
            return Array.from(new Uint8Array(view.buffer, start, size), byte => byte.toString(16).padStart(2, '0')).join('')
        at = start + (size + 3 & ~3)
    }
    return ''
}

/** Build id of an ELF file, '' if it has none, and whether its code is in it, as is not so in debug files. */
export async function elfIdentity(blob) {
    const head = await bytesAt(blob, 0, 64)
    if (head.byteLength < 52 || head.getUint32(0) !== 0x7f454c46)
        return null
    const is64 = head.getUint8(4) === 2, little = head.getUint8(5) === 1, where = HEADERS[+is64]
    const address = (view, at) => is64 ? Number(view.getBigUint64(at, little)) : view.getUint32(at, little)
    const list = async ([offset, bytes, count]) => {
        const from = address(head, offset), each = head.getUint16(bytes, little), all = each * head.getUint16(count, little)
        const view = await bytesAt(blob, from, from + Math.min(all, MAX_HEADERS))
        return Array.from({ length: each ? Math.floor(view.byteLength / each) : 0 }, (_, i) => new DataView(view.buffer, i * each, each))
    }
    let hasCode = false, buildId = ''
    const look = async (offset, size) => {
        if (!buildId && size <= MAX_NOTES)
            buildId = buildIdIn(await bytesAt(blob, offset, offset + size), little)
    }
    for (const section of await list(where.sections)) {
        const [type, flags, offset, size] = where.section
        hasCode ||= section.getUint32(type, little) !== SHT_NOBITS && (address(section, flags) & SHF_EXECINSTR) !== 0
        if (section.getUint32(type, little) === SHT_NOTE)
            await look(address(section, offset), address(section, size))
    }
    for (const segment of buildId ? [] : await list(where.segments)) {
        const [type, offset, size] = where.segment
        if (segment.getUint32(type, little) === PT_NOTE)
            await look(address(segment, offset), address(segment, size))
    }
    return { buildId, hasCode }
}

const base = path => path.slice(path.lastIndexOf('/') + 1)
const isMagic = (view, text) => view.byteLength >= text.length && [...text].every((c, i) => view.getUint8(i) === c.charCodeAt(0))
const MAGICS = ['PERFILE2', '2ELIFREP', 'PERFFILE', 'ELIFFREP'], COMPRESSED = ['\x1f\x8b', '\x28\xb5\x2f\xfd']

/** recording, symbols (ELF files and perf-PID.map and the like), kallsyms, or other: by the first bytes and the name. */
export async function kindOf(path, blob) {
    const head = await bytesAt(blob, 0, 8), name = base(path)
    if (isMagic(head, '\x7fELF') || isMagic(head, 'JiTD') || isMagic(head, 'DTiJ') || /^perf-\d+\.map$/.test(name) || /\.ko(\.\w+)?$/.test(name))
        return 'symbols'
    if (MAGICS.some(magic => isMagic(head, magic)))
        return 'recording'
    if (/^kallsyms/.test(name))
        return 'kallsyms'
    if (COMPRESSED.some(magic => isMagic(head, magic)))
        return 'recording'
    return 'other'
}

/** A recording that is a folder: the paths in it. */
const isHeader = path => /(^|\/)data$/.test(path)

/** Adds an ELF file where it is found by its build id, whatever its name. */
async function addById(symbols, blob) {
    const found = await elfIdentity(blob).catch(() => null)
    if (!found?.buildId)
        return
    const path = `usr/lib/debug/.build-id/${found.buildId.slice(0, 2)}/${found.buildId.slice(2)}`
    if (found.hasCode)
        symbols[path] = blob
    if (!found.hasCode || !symbols[`${path}.debug`])
        symbols[`${path}.debug`] = blob
}

/**
 * Sorts files, [{path, blob}] with the paths in the folders that were chosen, into `recordings` ([{name, files}], files by path),
 * `symbols` (files by their path below a root: --symfs), `kallsyms` (a Blob or null), and `others` (paths).
 */
export async function sort(list) {
    const recordings = [], symbols = {}, others = [], folders = new Map()
    let kallsyms = null
    const kinds = await Promise.all(list.map(({ path, blob }) => kindOf(path, blob).catch(() => 'other'))) // the file has changed, or is gone
    list.forEach(({ path }, i) => {
        const folder = path.slice(0, path.lastIndexOf('/') + 1)
        if (folder && isHeader(path) && kinds[i] === 'recording')
            folders.set(folder, { name: base(folder.slice(0, -1)), files: {} })
    })
    for (const [i, { path, blob }] of list.entries()) {
        const folder = [...folders.keys()].find(name => path.startsWith(name))
        const inRoot = path.includes('/') ? path.slice(path.indexOf('/') + 1) : path
        if (folder)
            folders.get(folder).files[`${folders.get(folder).name}/${path.slice(folder.length)}`] = blob
        else if (kinds[i] === 'recording')
            recordings.push({ name: base(path), files: { [base(path)]: blob } })
        else if (kinds[i] === 'kallsyms')
            kallsyms = blob
        else if (path.includes('/') || kinds[i] === 'symbols')
            symbols[inRoot] = blob
        else
            others.push({ path, blob })
        if (kinds[i] === 'symbols' && !folder) {
            symbols[base(path)] ??= blob
            await addById(symbols, blob)
        }
    }
    return { recordings: [...recordings, ...folders.values()], symbols, kallsyms, others }
}
