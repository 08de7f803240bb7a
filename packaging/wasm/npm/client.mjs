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
    #cancelled = 0 // the last run that was given up

    constructor(start = () => new Worker(new URL('worker.mjs', import.meta.url), { type: 'module' }), wasm = undefined) {
        this.#start = start
        this.#wasm = wasm
    }

    /** As run() of the package; `progress` is called while files are read. */
    run(args, files = {}, environment = {}, progress = undefined) {
        const id = ++this.#id, next = this.#last.then(() => this.#ask({ id, args, files, environment }, progress))
        this.#last = next.catch(() => {})
        return next
    }

    /** Gives up what runs and what waits: their promises are rejected with Cancelled. */
    cancel() {
        this.#cancelled = this.#id
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
            const { id } = question
            if (id <= this.#cancelled)
                throw new Cancelled()
            const isNew = !this.#worker, worker = this.#worker ??= this.#start()
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
            worker.postMessage({ ...question, ...(isNew && this.#wasm ? { wasm: this.#wasm } : {}) })
        })
    }
}
