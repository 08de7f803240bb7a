// SPDX-License-Identifier: MIT
// The command perfile as a function: each run has a module and files of its own, so nothing is left of it.

const isNode = typeof process === 'object' && !!process.versions?.node

if (isNode && !globalThis.require) { // which the code of Emscripten takes for granted
    const { createRequire } = await import('node:module')
    globalThis.require = createRequire(import.meta.url)
    globalThis.__dirname = '/'
}
const { default: make } = await import('./command.mjs')

let wasm // the bytes or the module, once they are loaded
let isGiven = false
let query = null // the same command with SQLite, and its `make`

async function load(name) {
    const url = new URL(name, import.meta.url)
    if (!isNode)
        return (await fetch(url)).arrayBuffer()
    const { readFile } = await import('node:fs/promises')
    return readFile(url)
}

/** Sets the bytes of perfile.wasm, or its WebAssembly.Module, where they cannot be loaded from beside this file: for all verbs. */
export function useWasm(bytesOrModule) {
    wasm = bytesOrModule
    isGiven = true
}

const compiled = async code => code instanceof WebAssembly.Module ? code : WebAssembly.compile(await code)

/** Every run has an instance of its own; all are of one module, which is compiled once. The verb query needs another one, with SQLite. */
async function moduleOf(verb) {
    if (verb !== 'query' || isGiven)
        return { make, code: wasm = await compiled(wasm ?? load('perfile.wasm')) }
    return query ??= { make: (await import('./query.mjs')).default, code: await compiled(load('query.wasm')) }
}

/** A module whose main function has not run, for this verb; `prepare` is called with it before. */
export async function instantiate(prepare, verb) {
    const { make: makeModule, code } = await moduleOf(verb)
    let status = 0
    const module = await makeModule({
        instantiateWasm(imports, received) {
            WebAssembly.instantiate(code, imports).then(instance => received(instance, code))
            return {}
        },
        preRun: [prepare],
        quit(code, reason) { // otherwise Node would end
            status = code
            throw reason
        },
        print() {},
        printErr() {},
    })
    return {
        module,
        run(args) {
            try {
                module.callMain(args)
            } catch (error) {
                if (error?.name !== 'ExitStatus')
                    throw error
            }
            return status
        },
    }
}

function redirect(module, number, path) {
    module.FS.closeStream(number)
    module.FS.open(path, 'w') // takes the lowest number that is free
}

/** When the content was written, as far as that is known: what is made here would be of now. */
function date(module, path, content) {
    module.FS.lookupPath(path, { follow: true }).node.timestamp = content.lastModified ?? 0
}

/* Bytes that are read at once by what reads on, at first and later: each slice is a question to another process of the browser. */
const FIRST_AHEAD = 1 << 18, MAX_AHEAD = 1 << 22
const EIO = 29
/* Browsers notice late how much slices hold that are not used any more. They collect them when a large buffer is asked for: one of
 * ASKED bytes, which are never touched, after every COLLECTED bytes. */
const COLLECTED = 1 << 23, ASKED = 1 << 26
function collect() {
    try {
        return new ArrayBuffer(ASKED).byteLength
    } catch { // as good
        return 0
    }
}

/** Reads of a Blob, in slices. `progress` is called with the end of what was read, and the size. */
function slices(blob, FS, progress) {
    const reader = new FileReaderSync()
    let from = 0, kept = new ArrayBuffer(0), ahead = FIRST_AHEAD, held = 0
    const load = (start, end) => {
        try {
            return reader.readAsArrayBuffer(blob.slice(start, end))
        } catch { // the file has changed, or is gone
            throw new FS.ErrnoError(EIO)
        }
    }
    return {
        all: () => new Uint8Array(load(0, blob.size)),
        read(buffer, offset, length, position) {
            const end = Math.min(position + length, blob.size)
            if (end <= position)
                return 0
            if (position < from || end > from + kept.byteLength) {
                const readsOn = position >= from && position <= from + kept.byteLength
                ahead = readsOn ? Math.min(2 * ahead, MAX_AHEAD) : FIRST_AHEAD
                kept = load(position, readsOn ? Math.max(end, position + ahead) : end)
                from = position
                if ((held += kept.byteLength) >= COLLECTED)
                    collect(), held = 0
                progress?.(from + kept.byteLength, blob.size)
            }
            buffer.set(new buffer.constructor(kept, position - from, end - position), offset)
            return end - position
        },
    }
}

/** A file of the module whose bytes stay in the Blob; what maps it into memory loads it. */
function putBlob({ FS }, path, blob, progress) {
    FS.writeFile(path, '')
    const { node } = FS.lookupPath(path), memory = node.stream_ops, slice = slices(blob, FS, progress)
    node.usedBytes = blob.size
    node.stream_ops = {
        ...memory,
        read: (stream, ...where) => slice.read(...where),
        mmap(stream, ...how) {
            node.contents = slice.all()
            try {
                return memory.mmap(stream, ...how)
            } finally {
                node.contents = new Uint8Array(0)
            }
        },
    }
}

const isRead = content => typeof Blob === 'function' && content instanceof Blob && typeof FileReaderSync === 'function'

function put(module, folder, files, written, progress) {
    for (const [name, content] of Object.entries(files)) {
        const path = `${folder}/${name}`
        module.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')))
        if (isRead(content))
            putBlob(module, path, content, progress && ((read, size) => progress({ name, read, size })))
        else
            module.FS.writeFile(path, content)
        date(module, path, written[name])
    }
}

async function bytesOf(content) {
    if (typeof Blob === 'function' && content instanceof Blob && typeof FileReaderSync !== 'function')
        return new Uint8Array(await content.arrayBuffer())
    return content instanceof ArrayBuffer ? new Uint8Array(content) : content
}

/**
 * Runs the command: `args` as on a command line, `files` by the names that the arguments use, which may have folders. In a
 * worker of a browser a Blob is read in slices, of which `progress` is notified: {name, read, size}; elsewhere it is loaded.
 * Returns the exit status, what was printed, and the files that were made.
 */
export async function run(args, files = {}, environment = {}, progress = undefined) {
    const preset = {}
    for (const [name, content] of Object.entries(files))
        preset[name] = await bytesOf(content)
    const { module, run: start } = await instantiate(module => {
        Object.assign(module.ENV, { HOME: '/nonexistent', NO_COLOR: '1', ...environment })
        module.FS.mkdir('/work')
        module.FS.chdir('/work')
        module.FS.writeFile('/out', '')
        module.FS.writeFile('/err', '')
    }, args[0])
    put(module, '/work', preset, files, progress)
    redirect(module, 1, '/out')
    redirect(module, 2, '/err')
    const status = start(args)
    const made = {}
    for (const name of module.FS.readdir('/work'))
        if (!(name in preset) && module.FS.isFile(module.FS.stat(`/work/${name}`).mode))
            made[name] = module.FS.readFile(`/work/${name}`)
    return { status, stdout: module.FS.readFile('/out'), stderr: new TextDecoder().decode(module.FS.readFile('/err')), files: made }
}

/** A recording: bytes, a Blob or a File. */
export class Recording {
    constructor(content) {
        this.content = content
    }

    /** Any verb that reads a recording: `verb('report', '--stdio')`. Throws with the message where it cannot be read. */
    async verb(name, ...options) {
        const done = await run([name, ...options, 'perf.data'], { 'perf.data': this.content })
        if (done.status > 1)
            throw new Error(done.stderr.trim())
        return done
    }

    async #text(name, ...options) {
        return new TextDecoder().decode((await this.verb(name, ...options)).stdout)
    }

    async info() {
        return JSON.parse(await this.#text('info', '--format', 'json'))
    }

    async check() {
        const text = await this.#text('check', '--format', 'jsonl')
        return text.split('\n').filter(Boolean).map(line => JSON.parse(line))
    }

    report(...options) {
        return this.#text('report', ...options)
    }

    script(...options) {
        return this.#text('script', ...options)
    }

    /** The offline page of `perfile flame`, as HTML. */
    page(...options) {
        return this.#text('flame', '--format', 'html', ...options)
    }

    /** A view of `perfile table` as an Arrow IPC file. */
    async table(view, ...options) {
        const done = await this.verb('table', view, '--format', 'arrow', '-o', 'table.arrow', ...options)
        return done.files['table.arrow']
    }

    async #made(name, ...options) {
        return (await this.verb(name, '-q', '-o', 'made.data', ...options)).files['made.data']
    }

    repair(...options) {
        return this.#made('repair', ...options)
    }

    cut(...options) {
        return this.#made('cut', ...options)
    }
}

export function open(content) {
    return new Recording(content)
}
