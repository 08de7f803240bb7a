// SPDX-License-Identifier: MIT
// Brings what the extension is packed with: the page, which ./dev wasm makes, and the licence.
import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url)), root = join(here, '..', '..')
copyFileSync(join(root, 'build-wasm', 'perfile.html'), join(here, 'perfile.html'))
copyFileSync(join(root, 'LICENSE'), join(here, 'LICENSE'))
