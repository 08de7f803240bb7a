#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The command in Node, with the files of this machine: npx perfile report perf.data
import { readdirSync, readSync, writeSync } from 'node:fs'
import { instantiate } from './index.mjs'

function writeAll(fd, bytes) {
    for (let at = 0; at < bytes.length;)
        try {
            at += writeSync(fd, bytes, at)
        } catch (error) {
            if (error.code !== 'EAGAIN')
                process.exit(error.code === 'EPIPE' ? 141 : 5)
        }
}

/** /dev/NAME, which is a descriptor of this process. */
function device(FS, name, number, fd) {
    const id = FS.makedev(90, fd)
    FS.registerDevice(id, {
        open(stream) { stream.seekable = false },
        read: (stream, buffer, offset, length) => readSync(fd, buffer, offset, length, null),
        write(stream, buffer, offset, length) {
            writeAll(fd, buffer.subarray(offset, offset + length))
            return length
        },
    })
    FS.mkdev(`/dev/${name}`, id)
    FS.closeStream(number)
    FS.open(`/dev/${name}`, fd ? 1 : 0)
}

function mount({ FS, NODEFS, ENV }) {
    Object.assign(ENV, process.env)
    for (const name of readdirSync('/').filter(name => !['dev', 'proc', 'sys'].includes(name)))
        try {
            if (!FS.analyzePath(`/${name}`).exists)
                FS.mkdir(`/${name}`)
            FS.mount(NODEFS, { root: `/${name}` }, `/${name}`)
        } catch {} // a file, or not to be read: the command says so when it is named
    FS.chdir(process.cwd())
}

const { module, run } = await instantiate(mount, process.argv[2])
device(module.FS, 'given', 0, 0)
device(module.FS, 'printed', 1, 1)
device(module.FS, 'messages', 2, 2)
process.exitCode = run(process.argv.slice(2))
