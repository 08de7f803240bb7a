#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""messages.py [TREE]: all texts of the sources that people may read: messages, notes, help, docs of columns, notes of outputs.

One a line, as FILE:LINE: TEXT, with adjacent literals joined; for reading them all once. Left out are literals without two
words, names of formats and columns, and code of the viewer page. Those of the page are in src/output/flame/viewer."""
import pathlib, re, sys

TREE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:[^\'\\]|\\.)*\'|"(?:[^"\\\n]|\\.)*"|\S|\s+', re.S)
MACRO = re.compile(r'^\s*#\s*include')


def literals(text):
    """(line, text) of each literal, adjacent ones joined; PRIu64 and the like between them are %d."""
    line, start, parts = 1, 0, []
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith('"'):
            start = start if parts else line
            parts.append(token[1:-1])
        elif parts and not token.isspace() and not token.startswith(('/*', '//')):
            if not (token in 'PRIudx0123456789' or token.isalnum()):
                yield start, ''.join(parts)
                parts = []
        line += token.count('\n')
    if parts:
        yield start, ''.join(parts)


def is_sentence(text):
    words = re.findall(r"[A-Za-z][a-z']+", text)
    return len(words) >= 2 and ' ' in text.strip()


def main():
    for folder in 'cli', 'src':
        for path in sorted((TREE / folder).rglob('*')):
            if path.suffix not in ('.c', '.h', '.def') or 'syscalls' in path.parts:
                continue
            source = re.sub(r'(?m)^\s*#\s*include.*$', '', path.read_text())
            for line, text in literals(source):
                if is_sentence(text):
                    print(f'{path.relative_to(TREE)}:{line}: {text}')


main()
