// SPDX-License-Identifier: MIT
// A read-only editor for recordings: perfile.html, the page that opens them, in a webview. It has the recording's address, and
// reads the bytes itself; what is saved goes through the dialog of the editor.
const vscode = require('vscode')

const VIEW = 'perfile.recording'

/* What the page runs when it is ready: its only addition. */
function start({ url, name, lastModified }) {
    const editor = acquireVsCodeApi(), root = document.documentElement
    const follow = () => root.classList.toggle('dark', /vscode-dark|vscode-high-contrast(?!-light)/.test(document.body.className))
    follow()
    new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter: ['class'] })
    perfilePage.save = async (file, blob) => editor.postMessage({ save: file, bytes: new Uint8Array(await blob.arrayBuffer()) })
    fetch(url).then(answer => answer.blob())
        .then(blob => perfilePage.receive([{ path: name, blob: new File([blob], name, { lastModified }) }]))
        .catch(error => { document.getElementById('problem').textContent = String(error.message ?? error) })
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

    async resolveCustomEditor({ uri }, { webview }) {
        const [page, about] = await Promise.all([vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.folder, 'perfile.html')), vscode.workspace.fs.stat(uri)])
        webview.options = { enableScripts: true, localResourceRoots: [folderOf(uri)] }
        webview.onDidReceiveMessage(message => this.save(uri, message))
        webview.html = pageOf(new TextDecoder().decode(page), webview,
            { url: String(webview.asWebviewUri(uri)), name: nameOf(uri), lastModified: about.mtime })
    }

    async save(uri, { save, bytes }) {
        const to = save && await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.joinPath(folderOf(uri), save) })
        if (to)
            await vscode.workspace.fs.writeFile(to, bytes)
    }
}

exports.activate = context => {
    context.subscriptions.push(vscode.window.registerCustomEditorProvider(VIEW, new Recordings(context),
        { webviewOptions: { retainContextWhenHidden: true }, supportsMultipleEditorsPerDocument: true }))
}
exports.deactivate = () => {}
