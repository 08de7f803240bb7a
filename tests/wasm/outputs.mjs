// SPDX-License-Identifier: MIT
// outputs.mjs: runs the package's command as each line on standard input says, {args, file, slices}; slices: the file is read as in a worker of a
// browser. Prints a line with the exit
// status, the SHA-256 of what was printed, and the milliseconds; and checks the functions of a recording.
import { createHash } from 'node:crypto'
import { openSync, readFileSync, readSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { run, open } from 'perfile'

const digest = bytes => createHash('sha256').update(bytes).digest('hex')
const environment = { HOME: '/dev/null', TZ: 'UTC0', LC_ALL: 'C.UTF-8', PERFILE_ADVICE: 'no' }

// what each function of a recording gives, as bytes or text
const functions = {
    info: async recording => JSON.stringify(await recording.info()),
    check: async recording => JSON.stringify(await recording.check()),
    report: (recording, args) => recording.report(...args),
    script: (recording, args) => recording.script(...args),
    page: (recording, args) => recording.page(...args),
    table: (recording, args) => recording.table(...args),
    repair: (recording, args) => recording.repair(...args),
    cut: (recording, args) => recording.cut(...args),
}

/** What a browser has of a large file; Node 18 has no such Blob. */
class Part extends Blob {
    constructor(file, start, end) {
        super([])
        Object.assign(this, { file, start, end, lastModified: 0 })
    }
    get size() {
        return this.end - this.start
    }
    slice(from, to) {
        return new Part(this.file, this.start + from, Math.min(this.start + to, this.end))
    }
}
class Reader {
    readAsArrayBuffer({ file, start, size }) {
        const bytes = new Uint8Array(size)
        readSync(file, bytes, 0, size, start)
        return bytes.buffer
    }
}

async function answer({ call, args, file, slices }) {
    if (slices)
        globalThis.FileReaderSync = Reader
    else
        delete globalThis.FileReaderSync
    const bytes = slices ? new Part(openSync(file), 0, statSync(file).size) : new Uint8Array(readFileSync(file))
    if (!call) {
        const done = await run([...args, 'perf.data'], { 'perf.data': bytes }, environment)
        return { status: done.status, digest: digest(done.stdout), errors: done.stderr.slice(0, 400) }
    }
    try {
        return { status: 0, digest: digest(await functions[call](open(bytes), args)) }
    } catch (error) {
        return { status: 1, errors: String(error.message) }
    }
}

for await (const line of createInterface({ input: process.stdin })) {
    const start = performance.now()
    let found
    try {
        found = await answer(JSON.parse(line))
    } catch (error) { // a trap
        found = { status: -1, errors: String(error) }
    }
    console.log(JSON.stringify({ ...found, ms: Math.round(performance.now() - start) }))
}
