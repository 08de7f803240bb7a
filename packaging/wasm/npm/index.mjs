// SPDX-License-Identifier: MIT
// The command perfile as a function: each run has a module and files of its own, so nothing is left of it.

const isNode = typeof process === 'object' && !!process.versions?.node

if (isNode && !globalThis.require) { // which the code of Emscripten takes for granted
    const { createRequire } = await import('node:module')
    globalThis.require = createRequire(import.meta.url)
    globalThis.__dirname = '/'
}
const { default: make } = await import('./command.mjs')

let wasm // the bytes, once they are loaded

async function load() {
    const url = new URL('perfile.wasm', import.meta.url)
    if (!isNode)
        return (await fetch(url)).arrayBuffer()
    const { readFile } = await import('node:fs/promises')
    return readFile(url)
}

/** Gives the bytes of perfile.wasm, where they cannot be loaded from beside this file. */
export function useWasm(bytes) {
    wasm = bytes
}

/** A module whose main function has not run; `prepare` is called with it before. */
export async function instantiate(prepare) {
    wasm ??= await load()
    let status = 0
    const module = await make({
        wasmBinary: wasm,
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

async function put(module, folder, files, written) {
    const blobs = []
    for (const [name, content] of Object.entries(files))
        if (typeof Blob === 'function' && content instanceof Blob && typeof FileReaderSync === 'function')
            blobs.push({ name, data: content }) // read in slices, when they are needed
        else
            module.FS.writeFile(`${folder}/${name}`, content)
    if (blobs.length) {
        module.FS.mkdir('/blobs')
        module.FS.mount(module.WORKERFS, { blobs }, '/blobs')
        for (const { name } of blobs)
            module.FS.symlink(`/blobs/${name}`, `${folder}/${name}`)
    }
    for (const name of Object.keys(files))
        date(module, `${folder}/${name}`, written[name])
}

async function bytesOf(content) {
    if (typeof Blob === 'function' && content instanceof Blob && typeof FileReaderSync !== 'function')
        return new Uint8Array(await content.arrayBuffer())
    return content instanceof ArrayBuffer ? new Uint8Array(content) : content
}

/**
 * Runs the command: `args` as on a command line, `files` by the names that the arguments use. In a worker of a browser a
 * Blob is read in slices; elsewhere it is loaded. Returns the exit status, what was printed, and the files that were made.
 */
export async function run(args, files = {}, environment = {}) {
    const given = {}
    for (const [name, content] of Object.entries(files))
        given[name] = await bytesOf(content)
    const { module, run: start } = await instantiate(module => {
        Object.assign(module.ENV, { HOME: '/nonexistent', NO_COLOR: '1', ...environment })
        module.FS.mkdir('/work')
        module.FS.chdir('/work')
        module.FS.writeFile('/out', '')
        module.FS.writeFile('/err', '')
    })
    await put(module, '/work', given, files)
    redirect(module, 1, '/out')
    redirect(module, 2, '/err')
    const status = start(args)
    const made = {}
    for (const name of module.FS.readdir('/work'))
        if (!(name in given) && module.FS.isFile(module.FS.stat(`/work/${name}`).mode))
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
