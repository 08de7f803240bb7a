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
    verbs ??= JSON.parse(decoded((await whileBusy('Opening…', () => command(['help', '--json']))).stdout)).verbs
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
    const given = [...Object.keys(open.symbols).length ? [['--symfs', SYMBOLS]] : [], ...open.kallsyms ? [['--kallsyms', 'kallsyms']] : []]
    const [verb, ...rest] = wordsOf(text).map(word => quoted(words[word] ?? word)), known = given.length ? await optionsOf(verb) : null
    return [verb, ...given.filter(([name]) => known.has(name)).flat(), ...rest].join(' ')
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

const running = new Set() // what is waited for: functions that give it up
function whileBusy(words, work) {
    const soon = setTimeout(() => { $('busy').hidden = false }, PATIENCE)
    let giveUp
    const givenUp = new Promise((_, reject) => { giveUp = () => reject(new Cancelled()) })
    running.add(giveUp)
    $('doing').textContent = words
    $('progress').removeAttribute('value')
    document.documentElement.dataset.busy = ''
    const notify = ({ name, read, size: all }) => {
        if (name.startsWith(SYMBOLS + '/'))
            return
        $('doing').textContent = `${words}: ${size(read)} of ${size(all)}`
        $('progress').value = read / all
    }
    return Promise.race([work(notify), givenUp]).finally(() => {
        clearTimeout(soon)
        running.delete(giveUp)
        if (running.size)
            return
        $('busy').hidden = true
        delete document.documentElement.dataset.busy
    })
}
$('cancel').onclick = () => {
    client?.cancel()
    running.forEach(giveUp => giveUp())
}

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
/* What a picture saves is the target of a link, as of any page: save() of the editor gets it. */
function saveFrom(inner) {
    if (!perfilePage.save)
        return
    const blobs = new Map(), { createObjectURL } = inner.URL, { click } = inner.HTMLAnchorElement.prototype
    inner.URL.createObjectURL = blob => {
        const url = createObjectURL(blob)
        blobs.set(url, blob)
        return url
    }
    inner.HTMLAnchorElement.prototype.click = function () {
        return this.download && blobs.has(this.href) ? perfilePage.save(this.download, blobs.get(this.href)) : click.call(this)
    }
}
/* A page is written into a frame, so that it has the same origin: files are dropped on it, too. It is filled where it is shown. */
function pageOf(bytes) {
    const frame = element('iframe', { title: 'The picture' })
    frame.fill = () => {
        const inner = frame.contentDocument
        inner.open()
        inner.write(decoded(bytes))
        inner.close()
        saveFrom(frame.contentWindow)
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
        say('Select a time in the picture first: drag over its timeline.')
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
    const done = await whileBusy(`${WORDS[words[0]] ?? 'Working'}…`, notify => command(words, files(), notify, /^flame .*--format html/.test(line) ? {} : undefined))
    return { done, failed: done.status > 1 && !done.stdout.length }
}

/* A picture has its own notices; this one says what can be done about it here. */
const HINTS = [
    [/no symbols for (.*?): the files are not on this machine/, names => `No names of ${names}: drop these files here; where they are stripped, their debug files, too.`],
    [/no symbols for (.*?): stripped/, names => `No names of ${names}, which are stripped: drop their debug files here.`],
    [/no symbols for (.*?): the files here are a different build/, names => `No names of ${names}: the files that were dropped are of another build.`],
    [/no symbols for .*?: this machine has no symbols of that kernel/, () => 'No names of the kernel: drop a copy of its /proc/kallsyms, or its vmlinux, here.'],
    [/no symbols for (.*?): JIT-compiled/, () => 'No names of code that was compiled while it ran: drop perf-PID.map or jitdump files here.'],
]
function missingOf(messages) {
    const hints = HINTS.flatMap(([pattern, words]) => {
        const found = pattern.exec(messages)
        return found ? [words(found[1]?.replace(/ \(build ids? [^)]*\)/g, ''))] : []
    })
    return hints.join('\n')
}
async function makeView(id, asked) {
    const usual = await lineOf(viewsOf().find(view => view.id === id)), line = asked ?? usual, isUsual = line === usual
    const { done, failed } = await perform(line)
    const isPicture = !failed && isPage(done.stdout)
    return { line, isUsual, nodes: failed ? [] : nodesOf(done), shown: done.stdout, failed, messages: isPicture ? missingOf(done.stderr) : done.stderr.trim(), isPicture }
}

/* ---- views ---- */

let turn = 0 // grows with every change of what is open: what was made for the older is not shown
let notice = '' // stands above the next view once

function say(text, isFailed = false) {
    $('messages').textContent = text
    $('messages').hidden = !text
    $('messages').className = isFailed ? 'failed' : ''
}
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
    say([notice, view.messages].filter(Boolean).join('\n'), view.failed)
    notice = ''
    document.title = `${nowOf().name} - perfile`
    $('heading').textContent = nowOf().name
    document.documentElement.dataset.shown = id
}
function forgetViews() {
    for (const { nodes } of made.values())
        nodes.forEach(node => node.remove())
    made.clear()
}
async function choose(id, line) {
    open.view = id
    if (line || !made.has(id)) {
        const mine = turn
        let view
        try {
            view = await makeView(id, line)
        } catch (error) {
            view = error instanceof Cancelled ? null : { line: line ?? '', nodes: [], shown: new Uint8Array(), failed: true, messages: stopped(error) }
        }
        if (mine !== turn)
            return
        if (!view)
            return cancelled(id)
        made.get(id)?.nodes.forEach(node => node.remove())
        made.set(id, view)
    }
    if (open.view === id)
        show(id)
}
const stopped = error => `perfile stopped: ${error.message}`
/* What was there before is shown, or the beginning. */
function cancelled(id) {
    const [other] = made.has(id) ? [id] : made.keys()
    $('start').hidden = true
    if (other)
        return choose(other)
    close()
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
    const mine = ++turn
    client?.cancel()
    forgetViews()
    fillNames()
    const fitting = await whileBusy('Opening…', fittingViews).catch(error => error instanceof Cancelled ? null : [])
    if (mine !== turn)
        return
    if (!fitting)
        return cancelled(id)
    open.fitting = fitting
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
    const plain = recording.name.replace(/^-|[\0-\x1f\x7f]/g, '_')
    let name = plain
    for (let i = 2; used.has(name); i++)
        name = plain.replace(/(\.[^.]*)?$/, `-${i}$1`)
    used.add(name)
    return { name, date: dateOf(recording), files: Object.fromEntries(Object.entries(recording.files).map(([path, blob]) => [name + path.slice(recording.name.length), blob])) }
}
const dateOf = ({ files }) => Math.max(...Object.values(files).map(({ lastModified = 0 }) => lastModified))

/* Files that are of no use. */
const MAX_NAMED = 5
function uselessOf(found, unread) {
    const list = (words, names) => names.length ? [`${words}: ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''}`] : []
    return [...list('Neither recordings nor symbols', found.map(({ path }) => path)), ...list('Not readable', unread)].join('\n')
}
/* Another recording may be of another machine: build ids are those of one file. */
function forgetSymbols() {
    open.symbols = Object.fromEntries(Object.entries(open.symbols).filter(([path]) => path.includes('.build-id/')))
    open.kallsyms = null
}
/* Sorts files into what is open. Returns the view to show, or nothing. */
async function accept(list, how, unread) {
    const found = await whileBusy('Opening…', async () => sort(await list)), isFirst = !found.recordings.length && !open.recordings.length
    /* What is not a recording is opened all the same: the command says what is wrong with it. */
    const chosen = isFirst ? found.others.map(({ path, blob }) => ({ name: path, files: { [path]: blob } })) : found.recordings
    const hasSymbols = Object.keys(found.symbols).length > 0 || found.kallsyms !== null
    if (chosen.length && open.recordings.length && how !== 'compare')
        forgetSymbols()
    Object.assign(open.symbols, found.symbols)
    open.kallsyms = found.kallsyms ?? open.kallsyms
    const useless = uselessOf(isFirst ? [] : found.others, unread)
    if (!chosen.length && !open.recordings.length)
        return void begin([hasSymbols ? 'These are symbols: drop a recording, too.' : useless ? '' : 'There are no files in it.', useless].filter(Boolean).join('\n'))
    $('start').hidden = true
    if (!chosen.length && !hasSymbols)
        return void say(useless, true)
    notice = useless
    const kept = how === 'compare' || !chosen.length ? open.recordings : [], used = new Set([SYMBOLS, 'kallsyms', '__proto__', ...kept.map(({ name }) => name)])
    const added = chosen.map(recording => renamed(recording, used)).sort((a, b) => a.date - b.date || (a.name < b.name ? -1 : 1))
    open.recordings = [...kept, ...added]
    if (added.length) {
        open.now = open.recordings.length - 1
        open.before = how === 'compare' || open.recordings.length === 2 ? open.now - 1 : -1
    }
    return added.length ? 'flame' : open.view
}
let taking = Promise.resolve()
/**
 * Files of all kinds: [{path, blob}], or a promise of them; one list after the other. `how`: 'compare' with what is open, or open
 * instead; `unread` are the names of those that could not be read.
 */
async function receive(list, how = 'open', unread = []) {
    const next = taking.then(() => accept(list, how, unread))
    taking = next.catch(() => {})
    try {
        const view = await next
        if (view)
            await showAll(view)
    } catch (error) {
        if (!(error instanceof Cancelled))
            throw error
        await cancelled(open.view)
    }
}

function close() {
    turn++
    forgetViews()
    Object.assign(open, { recordings: [], symbols: {}, kallsyms: null, fitting: [] })
    $('bar').hidden = $('view').hidden = $('commandbox').hidden = true
    say('')
}
function begin(problem = '') {
    $('problem').textContent = problem
    $('start').hidden = false
    $('start').classList.toggle('over', made.size > 0)
    $('back').hidden = !made.size
    $('choosefiles').focus()
}
$('back').onclick = () => {
    $('start').hidden = true
    $('add').focus()
}
$('start').onkeydown = event => {
    if (event.key === 'Escape' && !$('back').hidden)
        $('back').click()
}
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

/*
 * What is dropped is an entry or a handle: Chromium reads folders that are entries only for pages of a server, and other browsers have no
 * handles of what is dropped.
 */
const MAX_DEPTH = 100
const fileOf = from => from.getFile?.() ?? new Promise((resolve, reject) => from.file(resolve, reject))
async function membersOf(from) {
    const all = [], reader = from.createReader?.()
    if (!reader)
        for await (const one of from.values())
            all.push(one)
    else
        for (let some; (some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length;)
            all.push(...some)
    return all
}
/* All files of it; `unread` gets the names of those that are gone or not allowed. */
async function filesOf(from, unread, path = '', depth = 0) {
    const name = path + from.name
    try {
        if (from.isFile || from.kind === 'file')
            return [{ path: name, blob: await fileOf(from) }]
        const members = depth < MAX_DEPTH ? await membersOf(from) : []
        return (await Promise.all(members.map(one => filesOf(one, unread, `${name}/`, depth + 1)))).flat()
    } catch {
        unread.push(name)
        return []
    }
}
function droppedFiles(item, unread) {
    const entry = item.webkitGetAsEntry?.(), file = item.getAsFile()
    if (!entry?.isDirectory)
        return file ? [{ path: file.name, blob: file }] : []
    const handle = item.getAsFileSystemHandle?.().catch(() => null) // which is to be had now, not later
    return (async () => filesOf(await handle ?? entry, unread))()
}
function dropped(transfer, how) {
    const unread = [], lists = [...transfer.items].filter(({ kind }) => kind === 'file').map(item => droppedFiles(item, unread))
    return lists.length && receive(Promise.all(lists).then(all => all.flat()), how, unread)
}
function dragOver(event) {
    if (!event.dataTransfer?.types.includes('Files')) // a piece of the page
        return
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
        if (!event.dataTransfer.types.includes('Files'))
            return
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
    try {
        const line = await lineOf(item)
        if (item.edits) {
            $('commandbox').hidden = false
            $('command').value = line
            return $('command').focus()
        }
        const { done } = await perform(line), names = Object.keys(done.files)
        names.forEach(name => download(name, done.files[name]))
        say(done.stderr.trim(), !names.length)
    } catch (error) {
        if (!(error instanceof Cancelled))
            say(stopped(error), true)
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
globalThis.perfilePage = { open, made, receive, choose, begin, close, save: null }
