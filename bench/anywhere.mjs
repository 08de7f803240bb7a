// SPDX-License-Identifier: MIT
// anywhere.mjs PAGE RECORDING...: the page that opens recordings, in a browser: for each file the time from being chosen until the picture is drawn,
// the CPU time that all processes of the browser take for it, which other work disturbs less, and their memory (Pss, sampled).
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { openBrowser } from '../tests/viewer/browser.mjs'
import { findBrowser } from '../tests/viewer/checks.mjs'

const [path, ...recordings] = process.argv.slice(2)
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
            const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) . /, '').split(' ').slice(10, 12)
            seconds += (Number(user) + Number(system)) / 100
            bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1])
        } catch {}
    return { bytes, seconds }
}
const drawn = `new Promise(done => { const look = () => {
  const frame = document.querySelector("#view iframe");
  document.documentElement.dataset.shown && (!frame || "ready" in (frame.contentDocument?.documentElement.dataset ?? {})) ? requestAnimationFrame(() => done(performance.now())) : setTimeout(look, 5); };
  look(); })`
for (const recording of recordings) {
    const browser = await openBrowser(findBrowser()), page = await browser.page(), empty = used()
    await page.open(pathToFileURL(path).href)
    const idle = used()
    let most = idle.bytes
    const timer = setInterval(() => { most = Math.max(most, used().bytes) }, 200)
    const start = await page.evaluate('performance.now()')
    await page.choose('#files', [recording])
    const end = await page.evaluate(drawn)
    clearInterval(timer)
    const mb = bytes => Math.round(bytes / 1e6)
    console.log(`${recording}: ${Math.round(end - start)} ms, ${(used().seconds - idle.seconds).toFixed(2)} s of CPU; MB of the browser: ${mb(empty.bytes)} empty, ${mb(idle.bytes)} with the page, at most ${mb(most)}`)
    await browser.close()
}
process.exit(0)
