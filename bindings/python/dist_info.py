#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dist_info.py FOLDER: what pip would write beside the package there, for packages of distributions that copy it.

importlib.metadata.version('perfile') reads it, and so do pip and others that look for what a package needs.
"""
import pathlib, re, sys, tomllib

HERE = pathlib.Path(__file__).resolve().parent


def main():
    project = tomllib.loads((HERE / 'pyproject.toml').read_text(encoding='utf-8'))['project']
    version = re.search(r"__version__ = '(.+)'", (HERE / 'perfile' / '_version.py').read_text(encoding='utf-8')).group(1)
    folder = pathlib.Path(sys.argv[1]) / f'{project["name"]}-{version}.dist-info'
    folder.mkdir(parents=True)
    lines = ['Metadata-Version: 2.1', f'Name: {project["name"]}', f'Version: {version}', f'Summary: {project["description"]}',
             f'License: {project["license"]["text"]}', f'Requires-Python: {project["requires-python"]}',
             *(f'Classifier: {one}' for one in project['classifiers'])]
    for extra, needs in project['optional-dependencies'].items():
        lines += [f'Provides-Extra: {extra}', *(f"Requires-Dist: {need}; extra == '{extra}'" for need in needs)]
    (folder / 'METADATA').write_text('\n'.join([*lines, '']), encoding='utf-8')


if __name__ == '__main__':
    main()
