// SPDX-License-Identifier: MIT
// make.mjs NPM COMMAND.mjs WASM.gz VIEWER OUT.html [sql]: the page that opens recordings, of the files in this folder and of the npm package's folder;
// sql: with the verb query, if COMMAND.mjs and its WASM have it.
// The sheet of colours is that of the viewer's style sheet, so that both are one page to look at.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [npm, command, wasm, viewer, out, sql] = process.argv.slice(2), here = dirname(fileURLToPath(import.meta.url))
const read = (folder, name) => readFileSync(join(folder, name), 'utf8')

/** A module as a part of one script: what it imports stands before it. Browsers refuse workers of modules in pages from files. */
function part(name, imports = /^import .*\n/gm) {
    const text = read(npm, name).replace(imports, '').replace(/^export default .*$/gm, '').replace(/^export /gm, '').replace(/import\.meta\.url/g, 'location.href')
    const left = text.match(/^(import|export)\b.*/m)
    if (left)
        throw new Error(`${name}: ${left[0]}`)
    return text
}
const short = input => execFileSync('terser', ['--compress', '--mangle'], { input, encoding: 'utf8' })

const index = part('index.mjs').replace(/^const \{ default: make \} = await import\('\.\/command\.mjs'\)$/m, 'const make = perfile')
const worker = short(['(async () => {', part(command), index, part('worker.mjs'), '})()'].join('\n'))
const script = ['client.mjs', 'symbols.mjs'].map(name => part(name)).join('\n') + read(here, 'page.js')
const colours = read(viewer, 'viewer.css').match(/^:root[^{]*\{[^}]*\}/gm).slice(0, 2).join('\n')
const parts = {
    css: colours + '\n' + read(here, 'page.css').replace(/^\s+/gm, ''),
    worker,
    sql: sql ? ' data-sql' : '',
    wasm: readFileSync(wasm).toString('base64'),
    js: short(`(() => {\n${script}\n})()`),
}
for (const [name, text] of Object.entries(parts))
    if (/<\/script|<!--/i.test(text))
        throw new Error(`${name} would end its element`)
writeFileSync(out, read(here, 'page.html').replace(/<!--(css|worker|sql|wasm|js)-->/g, (_, name) => parts[name]))
