// SPDX-License-Identifier: MIT
// anywhere.mjs PAGE RECORDING...: the page that opens recordings, in a browser: for each file the time from being chosen until the picture is drawn,
// the CPU time that all processes of the browser take for it, which other work disturbs less, of that the page's thread and its workers, which wait
// for one another, and memory (Pss, sampled).
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openBrowser } from '../tests/viewer/browser.mjs'
import { findBrowser } from '../tests/viewer/checks.mjs'

const [path, ...recordings] = process.argv.slice(2)
const secondsOf = stat => stat.replace(/.*\) . /, '').split(' ').slice(10, 12).reduce((sum, ticks) => sum + Number(ticks) / 100, 0)
/* Of the threads that the picture waits for. Workers end: what they took is remembered. */
const threads = new Map()
function noteThreads(pid) {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer'))
        return
    for (const tid of readdirSync(`/proc/${pid}/task`)) {
        const stat = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8')
        if (tid === String(pid) || stat.includes('(DedicatedWorker'))
            threads.set(tid, secondsOf(stat))
    }
}
const waitedFor = () => [...threads.values()].reduce((sum, seconds) => sum + seconds, 0)
/* Of this process' children and theirs: bytes, and seconds. */
function used() {
    const parents = new Map(), own = new Set([process.pid])
    for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
        try {
            parents.set(Number(pid), Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) . /, '').split(' ')[0]))
        } catch {} // it has ended
    for (let before = 0; before !== own.size;) {
        before = own.size
        for (const [pid, parent] of parents)
            if (own.has(parent))
                own.add(pid)
    }
    own.delete(process.pid)
    let bytes = 0, seconds = 0
    for (const pid of own)
        try {
            seconds += secondsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
            bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1])
            noteThreads(pid)
        } catch {}
    return { bytes, seconds }
}
const drawn = `new Promise(done => { const look = () => {
  const frame = document.querySelector("#view iframe");
  document.documentElement.dataset.shown && (!frame || "ready" in (frame.contentDocument?.documentElement.dataset ?? {})) ? requestAnimationFrame(() => done(performance.now())) : setTimeout(look, 50); };
  look(); })`
for (const recording of recordings) {
    threads.clear()
    const browser = await openBrowser(findBrowser()), page = await browser.page(), empty = used()
    await page.open(pathToFileURL(path).href)
    const idle = used(), before = waitedFor()
    let most = idle.bytes
    const timer = setInterval(() => { most = Math.max(most, used().bytes) }, 200)
    const start = await page.evaluate('performance.now()')
    await page.choose('#files', [resolve(recording)])
    const end = await page.evaluate(drawn)
    clearInterval(timer)
    const mb = bytes => Math.round(bytes / 1e6), seconds = used().seconds - idle.seconds
    console.log(`${recording}: ${Math.round(end - start)} ms, ${seconds.toFixed(2)} s of CPU, ${(waitedFor() - before).toFixed(2)} of the page and its workers; MB of the browser: ${mb(empty.bytes)} empty, ${mb(idle.bytes)} with the page, at most ${mb(most)}`)
    await browser.close()
}
process.exit(0)
