// SPDX-License-Identifier: MIT
// The command in a worker of a browser, so that the page goes on meanwhile.

/** Runs that are given up end with this. */
export class Cancelled extends Error {
    constructor() {
        super('cancelled')
        this.name = 'Cancelled'
    }
}

/** `start` makes a worker of worker.mjs; `wasm`: see useWasm. One command runs at a time; others wait. */
export class Client {
    #start
    #wasm
    #worker = null
    #last = Promise.resolve()
    #reject = null
    #id = 0

    constructor(start = () => new Worker(new URL('worker.mjs', import.meta.url), { type: 'module' }), wasm = undefined) {
        this.#start = start
        this.#wasm = wasm
    }

    /** As run() of the package; `progress` is called while files are read. */
    run(args, files = {}, environment = {}, progress = undefined) {
        const next = this.#last.then(() => this.#ask({ args, files, environment }, progress))
        this.#last = next.catch(() => {})
        return next
    }

    /** Gives up what runs: its promise is rejected with Cancelled. */
    cancel() {
        this.#stop(new Cancelled())
    }

    #stop(error) {
        this.#worker?.terminate()
        this.#worker = null
        this.#reject?.(error)
        this.#reject = null
    }

    #ask(question, progress) {
        return new Promise((resolve, reject) => {
            const id = ++this.#id, isNew = !this.#worker, worker = this.#worker ??= this.#start()
            this.#reject = reject
            worker.onmessage = ({ data }) => {
                if (data.id !== id)
                    return
                if (data.progress)
                    return progress?.(data.progress)
                this.#reject = null
                if (data.error === undefined)
                    resolve(data.done)
                else
                    this.#stop(null), reject(new Error(data.error))
            }
            worker.onerror = event => {
                event.preventDefault?.()
                this.#stop(new Error(event.message || 'the worker cannot be started'))
            }
            worker.postMessage({ id, ...(isNew && this.#wasm ? { wasm: this.#wasm } : {}), ...question })
        })
    }
}
