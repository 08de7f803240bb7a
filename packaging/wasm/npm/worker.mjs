// SPDX-License-Identifier: MIT
// The command in a worker, for client.mjs: a message {id, args, files, environment} is answered by some {id, progress} and
// then {id, done} or {id, error}. The first one may have `wasm`, the bytes of perfile.wasm or its module.
import { run, useWasm } from './index.mjs'

onmessage = async ({ data: { id, wasm, args, files, environment } }) => {
    if (wasm)
        useWasm(wasm)
    try {
        const done = await run(args, files, environment, progress => postMessage({ id, progress }))
        postMessage({ id, done }, [done.stdout.buffer, ...Object.values(done.files).map(bytes => bytes.buffer)])
    } catch (error) {
        postMessage({ id, error: String(error?.message ?? error) })
    }
}
