// SPDX-License-Identifier: MIT
// The page that opens recordings. Every view is a command and what it made: HTML in a frame, text as it is, and files to save.

const $ = id => document.getElementById(id)
const MAX_SHOWN = 2 << 20 // characters of text
const SYMBOLS = 'symbols' // the folder of the command's files that symbols are in

const open = { recordings: [], symbols: {}, kallsyms: null, now: 0, before: -1, view: 'flame', fitting: [] }
const decoded = bytes => new TextDecoder().decode(bytes)

/* ---- the command, in a worker ---- */

const hasSql = 'sql' in $('wasm').dataset
const ready = (async () => {
    const text = atob($('wasm').textContent), bytes = Uint8Array.from(text, c => c.charCodeAt(0))
    $('wasm').remove()
    return WebAssembly.compile(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())
})()
let client = null
async function command(args, files, progress, environment = { PERFILE_ADVICE: 'no' }) {
    if (!client) {
        const url = URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' }))
        client = new Client(() => new Worker(url), await ready)
    }
    return client.run(args, files, environment, progress)
}

/* Verbs that look for symbols, and their options. */
let verbs = null
async function optionsOf(verb) {
    verbs ??= JSON.parse(decoded((await command(['help', '--json'])).stdout)).verbs
    return new Set(verbs.find(({ name }) => name === verb)?.options.map(({ name }) => name))
}

/* ---- what the command is asked ---- */

const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`
/* As a shell takes words: '...', "..." and \. */
function wordsOf(line) {
    const words = []
    for (const [, word] of line.matchAll(/((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+)/g))
        words.push(word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (all, single, double, escaped) => single ?? escaped ?? double.replace(/\\(.)/g, '$1')))
    return words
}
const nowOf = () => open.recordings[open.now], beforeOf = () => open.recordings[open.before]
const stem = name => name.replace(/\.(gz|zst)$/, '').replace(/\.data$/, '')

/* `compare` is used instead when there is a recording to compare with; BEFORE and NOW stand for names. */
const VIEWS = [
    { id: 'flame', label: 'Picture', line: 'flame --format html NOW', compare: 'flame --format html --before BEFORE NOW' },
    { id: 'report', label: 'Report', line: 'report --stdio NOW', compare: 'diff BEFORE NOW' },
    { id: 'info', label: 'Info', line: 'info NOW', },
    { id: 'check', label: 'Check', line: 'check NOW' },
    { id: 'annotate', label: 'Code', line: 'annotate --format html NOW', needsSymbols: true },
    { id: 'table', label: 'Tables', line: 'table functions NOW' },
    { id: 'sql', label: 'SQL', line: `query 'SELECT symbol, sum(period) FROM samples GROUP BY symbol ORDER BY 2 DESC LIMIT 50' NOW`, needsSql: true },
]
/* Views for events of some recordings: by the command that the command advises for them. Another one is its own label. */
const FITS = {
    'sched latency': ['Scheduler'],
    offcpu: ['Off CPU', 'flame --off-cpu --format html NOW'],
    'trace -s': ['System calls'],
    'lock contention': ['Locks'],
    mem: ['Memory'],
    'c2c report': ['Shared lines'],
    'kmem stat': ['Allocations'],
    'kmem --page stat': ['Pages'],
    'kwork report': ['Interrupts'],
    'stat report': ['Counts'],
    'table block_latency': ['Disks'],
    'table page_faults': ['Page faults'],
}
/* Header features say which events there are: this takes milliseconds. */
async function fittingViews() {
    const { stderr } = await command(['info', nowOf().name], files(), undefined, {}), [, found = ''] = /for its events try: (.*)/.exec(stderr) ?? []
    return found.split(', ').filter(Boolean).map(text => text.replace('perfile ', ''))
        .map(id => ({ id, label: FITS[id]?.[0] ?? id, line: FITS[id]?.[1] ?? `${id} NOW` }))
}
/* OUT stands for the name of what is saved, which ends in `end`. */
const SAVES = [
    { label: 'Flame graph page (HTML)', line: 'flame --format html -o OUT NOW', compare: 'flame --format html --before BEFORE -o OUT NOW', end: '.html' },
    { label: 'Flame graph (SVG)', line: 'flame --format svg -o OUT NOW', compare: 'flame --format svg --before BEFORE -o OUT NOW', end: '.svg' },
    { label: 'Folded stacks', line: 'flame --format folded -o OUT NOW', end: '.folded' },
    { label: 'pprof', line: 'export --format pprof -o OUT NOW', end: '.pb.gz' },
    { label: 'speedscope', line: 'export --format speedscope -o OUT NOW', end: '.speedscope.json' },
    { label: 'Firefox Profiler', line: 'export --format firefox -o OUT NOW', end: '.firefox.json.gz' },
    { label: 'Chrome trace', line: 'export --format chrome -o OUT NOW', end: '.trace.json.gz' },
    { label: 'callgrind', line: 'export --format callgrind -o OUT NOW', end: '.callgrind' },
    { label: 'Samples (CSV)', line: 'table samples --format csv -o OUT NOW', end: '.samples.csv' },
    { label: 'Samples (Parquet)', line: 'table samples --format parquet -o OUT NOW', end: '.samples.parquet' },
    null,
    { label: 'Repaired recording', line: 'repair -o OUT NOW', end: '.repaired.data' },
    { label: 'First half of the time…', line: 'cut --time 0%-50% -o OUT NOW', end: '.cut.data', edits: true },
    { label: 'Without names (anonymized)', line: 'anonymize -o OUT NOW', end: '.anonymized.data' },
]

/** The command line of a view or of what is saved. */
async function lineOf({ line, compare, end = '' }) {
    const text = beforeOf() && compare || line, words = { BEFORE: beforeOf()?.name, NOW: nowOf().name, OUT: stem(nowOf().name) + end }
    const known = await optionsOf(text.split(' ')[0]), added = []
    if (Object.keys(open.symbols).length && known.has('--symfs'))
        added.push('--symfs', SYMBOLS)
    if (open.kallsyms && known.has('--kallsyms'))
        added.push('--kallsyms', 'kallsyms')
    const [verb, ...rest] = wordsOf(text).map(word => quoted(words[word] ?? word))
    return [verb, ...added, ...rest].join(' ')
}

/** All files by the names that commands use. */
function files() {
    const all = open.kallsyms ? { kallsyms: open.kallsyms } : {}
    for (const [path, blob] of Object.entries(open.symbols))
        all[`${SYMBOLS}/${path}`] = blob
    for (const recording of open.recordings)
        Object.assign(all, recording.files)
    return all
}

/* ---- busy ---- */

const size = bytes => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
const PATIENCE = 250

function whileBusy(words, work) {
    const soon = setTimeout(() => { $('busy').hidden = false }, PATIENCE)
    $('doing').textContent = words
    $('progress').removeAttribute('value')
    document.documentElement.dataset.busy = ''
    const notify = ({ name, read, size: all }) => {
        if (name.startsWith(SYMBOLS + '/'))
            return
        $('doing').textContent = `${words}: ${size(read)} of ${size(all)}`
        $('progress').value = read / all
    }
    return work(notify).finally(() => {
        clearTimeout(soon)
        $('busy').hidden = true
        delete document.documentElement.dataset.busy
    })
}
$('cancel').onclick = () => client?.cancel()

/* ---- what a command made ---- */

const made = new Map() // by view: {line, nodes, shown (bytes to save), messages, failed}
const isPage = bytes => decoded(bytes.subarray(0, 15)).toLowerCase() === '<!doctype html>', isSvg = bytes => /^(<\?xml|<svg)/.test(decoded(bytes.subarray(0, 5)))

function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties)
    made.append(...children)
    return made
}
function download(name, content, type = 'application/octet-stream') {
    const blob = new Blob([content], { type })
    if (perfilePage.save)
        return perfilePage.save(name, blob)
    const url = URL.createObjectURL(blob)
    element('a', { href: url, download: name }).click()
    setTimeout(() => URL.revokeObjectURL(url), 60000)
}
/* A page is written into a frame, so that it is of the same origin: files are dropped on it, too. It is filled where it is shown. */
function pageOf(bytes) {
    const frame = element('iframe', { title: 'The picture' })
    frame.fill = () => {
        const inner = frame.contentDocument
        inner.open()
        inner.write(decoded(bytes))
        inner.close()
        takeDrops(frame.contentWindow)
        followTheme(inner)
        followCut(frame)
        frame.contentWindow.focus()
    }
    return frame
}
/*
 * A large recording does not fit into a page: its samples are joined, its lightest stacks are cut. Here the recording is at hand: the
 * time that is selected in the picture is read again, and is a picture of its own.
 */
function followCut(frame) {
    const cut = frame.contentDocument.getElementById('cut')
    if (!cut)
        return
    frame.look = () => { $('detail').hidden = frame.hidden || !cut.children.length }
    new MutationObserver(frame.look).observe(cut, { childList: true })
    $('detail').onclick = () => {
        const [, from, to] = new URLSearchParams(frame.contentWindow.location.hash.slice(1)).get('time')?.match(/^([\d.]+)-([\d.]+)$/) ?? []
        if (to)
            return chooseTime(from, to)
        $('messages').textContent = 'Select a time in the picture first: drag over its timeline.'
        $('messages').hidden = false
    }
}
/* In ns since the first sample. With a time of its own the first sample is another one: what is selected there is added to it. */
async function chooseTime(from, to) {
    const line = await lineOf(VIEWS[0]), [, start = 0] = made.get('flame').line.match(/ --time \+([\d.]+),/) ?? []
    const at = ns => `+${(Number(start) + ns / 1e9).toFixed(9)}`
    return choose('flame', line.replace('--format html', `--format html --time ${at(from)},${at(to)}`))
}
const imageOf = bytes => element('iframe', { title: 'The picture', src: URL.createObjectURL(new Blob([bytes], { type: 'image/svg+xml' })) })
function textOf(bytes) {
    const text = decoded(bytes.subarray(0, MAX_SHOWN)), cut = bytes.length > MAX_SHOWN
    const pre = element('pre', { tabIndex: 0 }, text)
    return cut ? [element('p', { className: 'quiet' }, `The first ${size(MAX_SHOWN)} of ${size(bytes.length)}. Save text has all of it.`), pre] : [pre]
}
const listOf = files => element('ul', {}, ...Object.entries(files).map(([name, bytes]) =>
    element('li', {}, element('button', { type: 'button', onclick: () => download(name, bytes) }, `Save ${name}`), ` ${size(bytes.length)}`)))

function nodesOf({ stdout, files }) {
    const nodes = Object.keys(files).length ? [listOf(files)] : []
    if (isPage(stdout))
        return [...nodes, pageOf(stdout)]
    if (isSvg(stdout))
        return [...nodes, imageOf(stdout)]
    if (stdout.subarray(0, 4096).includes(0))
        return [...nodes, listOf({ output: stdout })]
    return stdout.length || !nodes.length ? [...nodes, ...textOf(stdout)] : nodes
}

/* The names of recordings may say what went wrong; messages begin with the command. */
const WORDS = { flame: 'Reading', report: 'Adding up', check: 'Checking' }
async function perform(line) {
    const words = wordsOf(line)
    if (words[0] === 'perfile')
        words.shift()
    const done = await whileBusy(`${WORDS[words[0]] ?? 'Working'}…`, notify => command(words, files(), notify))
    return { done, failed: done.status > 1 && !done.stdout.length }
}

/* A picture has its own notices; this one says what can be done about it here. */
function missingOf(messages) {
    const missing = /no symbols for (.*?): the files are not on this machine/.exec(messages)
    return missing ? `No names of ${missing[1]}: drop these files here; where they are stripped, their debug files, too.` : ''
}
async function makeView(id, asked) {
    const usual = await lineOf(viewsOf().find(view => view.id === id)), line = asked ?? usual, isUsual = line === usual
    const { done, failed } = await perform(line)
    const isPicture = !failed && isPage(done.stdout)
    made.set(id, { line, isUsual, nodes: failed ? [] : nodesOf(done), shown: done.stdout, failed, messages: isPicture ? missingOf(done.stderr) : done.stderr.trim(), isPicture })
}

/* ---- views ---- */

function show(id) {
    const view = made.get(id)
    for (const tab of $('views').children) {
        tab.setAttribute('aria-selected', String(tab.id === `tab-${id}`))
        tab.tabIndex = tab.id === `tab-${id}` ? 0 : -1
    }
    for (const [other, { nodes }] of made)
        nodes.forEach(node => { node.hidden = other !== id })
    for (const node of view.nodes.filter(node => !node.isConnected)) {
        $('view').append(node)
        node.fill?.()
    }
    $('views').querySelector('[aria-selected=true]').scrollIntoView({ block: 'nearest', inline: 'nearest' })
    $('command').value = view.line
    $('commandbox').hidden = view.isPicture && view.isUsual
    $('detail').hidden = true
    view.nodes.forEach(node => node.look?.())
    $('keep').hidden = view.isPicture || !view.shown.length
    $('theme').hidden = view.isPicture // which has a switch of its own
    $('messages').textContent = view.messages
    $('messages').hidden = !view.messages
    $('messages').className = view.failed ? 'failed' : ''
    document.title = `${nowOf().name} - perfile`
    document.documentElement.dataset.shown = id
}
function forgetViews() {
    for (const { nodes } of made.values())
        nodes.forEach(node => node.remove())
    made.clear()
}
async function choose(id, line) {
    open.view = id
    const older = made.get(id)
    if (line || !older) {
        try {
            await makeView(id, line)
        } catch (error) {
            if (error instanceof Cancelled)
                return cancelled(id)
            made.set(id, { line: line ?? '', nodes: [], shown: new Uint8Array(), failed: true, messages: `perfile stopped: ${error.message}` })
        }
        older?.nodes.forEach(node => node.remove())
    }
    if (open.view === id)
        show(id)
}
/* What was there before is shown, or the beginning. */
function cancelled(id) {
    const [other] = made.has(id) ? [id] : made.keys()
    if (other)
        return choose(other)
    begin('Cancelled.')
}

function viewsOf() {
    const hasSymbols = Object.keys(open.symbols).length > 0
    const [picture, ...others] = VIEWS.filter(view => (hasSymbols || !view.needsSymbols) && (hasSql || !view.needsSql))
    return [picture, ...open.fitting, ...others]
}
function fillTabs() {
    $('views').replaceChildren(...viewsOf().map(({ id, label }) =>
        element('button', { id: `tab-${id}`, type: 'button', role: 'tab', onclick: () => choose(id) }, label)))
    for (const tab of $('views').children)
        tab.setAttribute('aria-controls', 'view')
}
$('views').onkeydown = event => {
    const tabs = [...$('views').children], step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!step)
        return
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]
    next.focus()
    next.click()
}
$('commandbox').onsubmit = event => {
    event.preventDefault()
    choose(open.view, $('command').value)
}
$('keep').onclick = () => download(`${stem(nowOf().name)}.${open.view}.txt`, made.get(open.view).shown, 'text/plain')

/* ---- recordings ---- */

function fillNames() {
    const names = open.recordings.map(({ name }, i) => new Option(name, i))
    $('now').replaceChildren(...names)
    $('now').value = open.now
    $('now').disabled = names.length === 1
    $('before').replaceChildren(new Option('nothing', -1), ...names.filter((_, i) => i !== open.now).map(option => option.cloneNode(true)))
    $('before').value = open.before
    $('beforebox').hidden = names.length === 1
}
async function showAll(id = 'flame') {
    forgetViews()
    fillNames()
    open.fitting = await fittingViews().catch(() => [])
    fillTabs()
    $('start').hidden = true
    $('bar').hidden = $('view').hidden = false
    return choose(viewsOf().some(view => view.id === id) ? id : 'flame')
}
function chooseRecordings() {
    const now = Number($('now').value), before = Number($('before').value)
    open.before = before === now ? open.now : before // the same twice: they change sides
    open.now = now
    showAll(open.view)
}
$('now').onchange = $('before').onchange = chooseRecordings

/* Names are different in the folder of the command. */
function renamed(recording, used) {
    let name = recording.name.replace(/^-/, '_')
    for (let i = 2; used.has(name); i++)
        name = recording.name.replace(/(\.[^.]*)?$/, `-${i}$1`)
    used.add(name)
    return { name, date: dateOf(recording), files: Object.fromEntries(Object.entries(recording.files).map(([path, blob]) => [name + path.slice(recording.name.length), blob])) }
}
const dateOf = ({ files }) => Math.max(...Object.values(files).map(({ lastModified = 0 }) => lastModified))

/** Files of all kinds: [{path, blob}]. `how`: 'compare' with what is open, or open instead. */
async function receive(list, how = 'open') {
    const found = await sort(list), isFirst = !found.recordings.length && !open.recordings.length
    /* What is no recording is opened all the same: the command says what is wrong with it. */
    const chosen = isFirst ? found.others.map(({ path, blob }) => ({ name: path, files: { [path]: blob } })) : found.recordings
    Object.assign(open.symbols, found.symbols)
    open.kallsyms = found.kallsyms ?? open.kallsyms
    if (!chosen.length && !open.recordings.length)
        return begin(list.length ? 'These are symbols: drop a recording, too.' : 'There are no files in it.')
    const kept = how === 'compare' || !chosen.length ? open.recordings : [], used = new Set([SYMBOLS, 'kallsyms', ...kept.map(({ name }) => name)])
    const added = chosen.map(recording => renamed(recording, used)).sort((a, b) => a.date - b.date || (a.name < b.name ? -1 : 1))
    open.recordings = [...kept, ...added]
    if (added.length) {
        open.now = open.recordings.length - 1
        open.before = how === 'compare' || open.recordings.length === 2 ? open.now - 1 : -1
    }
    return showAll(added.length ? 'flame' : open.view)
}

function begin(problem = '') {
    $('problem').textContent = problem
    $('start').hidden = false
    $('start').classList.toggle('over', made.size > 0)
    $('back').hidden = !made.size
    $('choosefiles').focus()
}
$('back').onclick = () => { $('start').hidden = true }
$('add').onclick = () => begin()

for (const id of ['files', 'folder']) {
    $(`choose${id}`).onclick = () => $(id).click()
    $(id).onchange = async ({ target }) => {
        const list = [...target.files].map(file => ({ path: file.webkitRelativePath || file.name, blob: file }))
        target.value = ''
        if (list.length)
            await receive(list)
    }
}

/* ---- dropping ---- */

const inFolder = reader => new Promise((resolve, reject) => reader.readEntries(resolve, reject))
async function filesOf(entry, path = '') {
    if (!entry)
        return []
    if (entry.isFile)
        return [{ path: path + entry.name, blob: await new Promise((resolve, reject) => entry.file(resolve, reject)) }]
    const reader = entry.createReader(), all = []
    for (let some; (some = await inFolder(reader)).length;)
        all.push(...some)
    return (await Promise.all(all.map(one => filesOf(one, `${path}${entry.name}/`)))).flat()
}
async function dropped(transfer, how) {
    const entries = [...transfer.items].filter(({ kind }) => kind === 'file').map(item => [item.webkitGetAsEntry?.(), item.getAsFile()])
    const list = await Promise.all(entries.map(([entry, file]) => entry?.isDirectory ? filesOf(entry) : file ? [{ path: file.name, blob: file }] : []))
    if (entries.length)
        await receive(list.flat(), how)
}
function dragOver(event) {
    const over = event.target?.closest?.('[data-drop]')
    event.preventDefault()
    if (!document.documentElement.classList.contains('dragged')) {
        document.documentElement.classList.add('dragged')
        $('drops').hidden = open.recordings.length !== 1
        if (made.size)
            begin()
    }
    for (const choice of $('drops').children)
        choice.classList.toggle('over', choice === over)
}
function dragEnd() {
    document.documentElement.classList.remove('dragged')
    $('drops').hidden = true
    if (made.size)
        $('start').hidden = true
}
function takeDrops(target) {
    target.addEventListener('dragenter', dragOver)
    target.addEventListener('dragover', dragOver)
    target.addEventListener('dragleave', event => event.relatedTarget === null && target === window && dragEnd())
    target.addEventListener('drop', event => {
        event.preventDefault()
        dragEnd()
        dropped(event.dataTransfer, event.target?.closest?.('[data-drop]')?.dataset.drop)
    })
}
takeDrops(window)

/* ---- saving ---- */

const closeMenu = () => { $('savemenu').hidden = true; $('save').setAttribute('aria-expanded', 'false') }
async function saveAs(item) {
    closeMenu()
    const line = await lineOf(item)
    if (item.edits) {
        $('commandbox').hidden = false
        $('command').value = line
        return $('command').focus()
    }
    try {
        const { done } = await perform(line), names = Object.keys(done.files)
        names.forEach(name => download(name, done.files[name]))
        $('messages').hidden = !done.stderr
        $('messages').className = names.length ? '' : 'failed'
        $('messages').textContent = done.stderr.trim()
    } catch (error) {
        if (!(error instanceof Cancelled))
            throw error
    }
}
$('savemenu').append(...SAVES.map(item => item ? element('button', { type: 'button', role: 'menuitem', onclick: () => saveAs(item) }, item.label) : element('hr')))
$('save').onclick = () => {
    $('savemenu').hidden = !$('savemenu').hidden
    $('save').setAttribute('aria-expanded', String(!$('savemenu').hidden))
    $('savemenu').querySelector('button').focus()
}
$('savemenu').onkeydown = event => {
    const items = [...$('savemenu').querySelectorAll('button')], step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (event.key === 'Escape') {
        closeMenu()
        $('save').focus()
    } else if (step) {
        event.preventDefault()
        items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus()
    }
}
addEventListener('pointerdown', event => event.target.closest('#save, #savemenu') || closeMenu())

/* ---- colours: the picture has a switch of its own, which this follows ---- */

const root = document.documentElement
const setDark = isDark => root.classList.toggle('dark', isDark)
setDark(matchMedia('(prefers-color-scheme: dark)').matches)
function followTheme(inner) {
    const button = inner?.getElementById('theme'), of = inner?.documentElement
    if (!button)
        return
    if (of.classList.contains('dark') !== root.classList.contains('dark'))
        button.click()
    new MutationObserver(() => setDark(of.classList.contains('dark'))).observe(of, { attributes: true, attributeFilter: ['class'] })
}
$('theme').onclick = () => {
    const inner = $('view').querySelector('iframe')?.contentDocument?.getElementById('theme')
    inner ? inner.click() : setDark(!root.classList.contains('dark'))
}

if (typeof DecompressionStream === 'undefined')
    $('problem').textContent = 'This page needs a browser of 2023 or later.'
ready.catch(error => { $('problem').textContent = `This browser does not run WebAssembly here: ${error.message}` })
ready.then(() => { document.documentElement.dataset.ready = '' })
/* For editors that show this page, and tests. What is saved goes to save(name, blob) if there is one. */
const close = () => {
    forgetViews()
    Object.assign(open, { recordings: [], symbols: {}, kallsyms: null, fitting: [] })
}
globalThis.perfilePage = { open, made, receive, choose, close, save: null }
