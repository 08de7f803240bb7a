#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The extension for Visual Studio Code: vscode.py PERFILE FOLDER SOURCE; FOLDER is what ./dev wasm makes."""
import os, pathlib, shutil, subprocess, sys, tempfile

import page


def main():
    page.hermetic.settle()
    perfile, folder, source = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    why = page.why_not(folder)
    if why:
        sys.exit(print('skipped: wasm:', why) or 0)
    with tempfile.TemporaryDirectory() as name:
        jobs = page.Jobs(perfile, pathlib.Path(name))
        demo = jobs.folder / 'demo.perf.data'
        shutil.copy(source / 'examples/demo.perf.data', demo)
        os.utime(demo, (page.DATE, page.DATE))
        digest = jobs.native(jobs.folder, ['flame', '--format', 'html', *page.SYMFS, demo.name])['digest']
        done = subprocess.run(['node', page.HERE / 'vscode.mjs', source / 'editors/vscode', folder / 'perfile.html', demo, digest], check=False)
    sys.exit(0 if done.returncode == page.SKIPPED else done.returncode)


if __name__ == '__main__':
    main()
