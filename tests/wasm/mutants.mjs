// SPDX-License-Identifier: MIT
// mutants.mjs NPM: runs commands of the package in the folder NPM, one for each line on standard input, {args, file}, and prints a line with
// the exit status, the SHA-256 of what was printed, and the bytes of memory that the module had at its end.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const { run } = await import(pathToFileURL(join(resolve(process.argv[2]), 'index.mjs')))
const environment = { HOME: '/dev/null', TZ: 'UTC0', LC_ALL: 'C.UTF-8', PERFILE_ADVICE: 'no' }

let memory = null // of the module that runs
const { instantiate } = WebAssembly
WebAssembly.instantiate = async (...how) => {
    const instance = await instantiate(...how)
    memory = Object.values(instance.exports).find(value => value instanceof WebAssembly.Memory)
    return instance
}

for await (const line of createInterface({ input: process.stdin })) {
    const { args, file } = JSON.parse(line)
    let found
    try {
        const { status, stdout } = await run([...args, 'perf.data'], { 'perf.data': new Uint8Array(readFileSync(file)) }, environment)
        found = { status, digest: createHash('sha256').update(stdout).digest('hex') }
    } catch (error) { // a trap
        found = { status: -1, error: String(error?.stack ?? error) }
    }
    console.log(JSON.stringify({ ...found, memory: memory.buffer.byteLength }))
}
