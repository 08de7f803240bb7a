// SPDX-License-Identifier: MIT
// A read-only editor for recordings: perfile.html, the page that opens them, in a webview. It has the recording's address, and
// reads the bytes itself; what is saved goes through the dialog of the editor.
const vscode = require('vscode')

const VIEWS = ['perfile.recording', 'perfile.any'] // of files with the usual names, and of all others
const CALM = 1000 // ms without a change, after which a recording is read again

/* What the page runs when it is ready: its only addition. */
function start(recording) {
    const editor = acquireVsCodeApi(), root = document.documentElement
    const follow = () => {
        const { classList } = document.body // that of light high contrast has the class of dark high contrast, too
        root.classList.toggle('dark', classList.contains('vscode-dark') || classList.contains('vscode-high-contrast') && !classList.contains('vscode-high-contrast-light'))
    }
    follow()
    new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter: ['class'] })
    perfilePage.save = async (file, blob) => editor.postMessage({ save: file, bytes: new Uint8Array(await blob.arrayBuffer()) })
    const fetched = async ({ url, name, lastModified }) => {
        const answer = await fetch(url)
        if (!answer.ok)
            throw new Error(`${name} cannot be read: ${answer.status} ${answer.statusText}`)
        return [{ path: name, blob: new File([await answer.blob()], name, { lastModified }) }]
    }
    const read = recording => perfilePage.receive(fetched(recording)).catch(error => perfilePage.begin(String(error.message ?? error)))
    addEventListener('message', ({ data }) => data?.recording && read(data.recording))
    read(recording)
}

/* The text of a script element must not end it. */
const inScript = value => JSON.stringify(value).replace(/</g, '\\u003c')

/** The page, with leave to read from where the webview has files, and the recording that it opens. */
function pageOf(text, webview, recording) {
    return text
        .replace("default-src 'none';", `default-src 'none'; connect-src ${webview.cspSource};`)
        .replace('</body>', () => `<script>(${start})(${inScript(recording)})</script>\n</body>`)
}

const folderOf = uri => vscode.Uri.joinPath(uri, '..'), nameOf = uri => uri.path.slice(uri.path.lastIndexOf('/') + 1)

class Recordings {
    constructor(context) {
        this.folder = context.extensionUri
    }

    openCustomDocument(uri) {
        return { uri, dispose() {} }
    }

    async resolveCustomEditor({ uri }, panel) {
        const { webview } = panel
        const recording = async () => ({ url: String(webview.asWebviewUri(uri)), name: nameOf(uri), lastModified: (await vscode.workspace.fs.stat(uri)).mtime })
        const [page, first] = await Promise.all([vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.folder, 'perfile.html')), recording()])
        webview.options = { enableScripts: true, localResourceRoots: [folderOf(uri)] }
        webview.onDidReceiveMessage(message => this.save(uri, message))
        webview.html = pageOf(new TextDecoder().decode(page), webview, first)
        this.follow(uri, panel, async () => webview.postMessage({ recording: await recording() }))
    }

    /** Calls `read` when the file was written and is left alone. */
    follow(uri, panel, read) {
        const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folderOf(uri), nameOf(uri).replace(/[*?[\]{}]/g, '[$&]')))
        let timer
        const later = () => {
            clearTimeout(timer)
            timer = setTimeout(() => read().catch(() => {}), CALM) // it may be gone again
        }
        watcher.onDidChange(later)
        watcher.onDidCreate(later)
        panel.onDidDispose(() => {
            clearTimeout(timer)
            watcher.dispose()
        })
    }

    async save(uri, { save, bytes }) {
        const to = save && await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(folderOf(uri), save) })
        if (to)
            await vscode.workspace.fs.writeFile(to, bytes)
    }
}

exports.activate = context => {
    for (const view of VIEWS)
        context.subscriptions.push(vscode.window.registerCustomEditorProvider(view, new Recordings(context),
            { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: true }))
}
exports.deactivate = () => {}
