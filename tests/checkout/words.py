#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""words.py SOURCE [PATH...]: names, comments and messages use the field's common words.

Each word of REFUSED has a common one beside it. Names are checked in code by their parts, sentences in comments and in
strings, and everything in documents. Strings of tests in Python and JavaScript hold what programs print: only their
comments are checked. What a word of the list may mean elsewhere is in ALLOWED.
"""
import pathlib, re, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

REFUSED = {
    'tell, tells, told, telling': 'report, notice, say; distinguish',
    'room, rooms': 'capacity; does not fit',
    'place, places, spot, spots': 'address, position, row, node',
    'who, whom, nobody, somebody': 'the caller, the thread, no one is named',
    'behind': 'after', 'wish, wishes, wished': 'required; options',
    'lack, lacks, lacking': 'missing, without',
    'learn, learns, learnt': 'load, find out', 'forget, forgets, forgotten': 'discard, drop',
    'heed, heeds, attend, attends': 'check, handle', 'twin, twins': 'duplicate, pair',
    'begun': 'started', 'said': 'reported, stated', 'whole': 'complete, all', 'sound': 'valid',
    'reckoned': 'computed',
}
NAMES = 'given lives past whose'  # refused in names, common in sentences
PHRASES = {
    r'(?<!there )is none\b': 'NULL means ...', r'is of\b': 'belongs to, its type', r'(?<!there )are none\b': 'none is left',
    r'(?<!there )is no (?!longer|more|less|such)\w+': 'is not an X', r'is taken for\b': 'is matched to',
}
ALLOWED = r'in[ _-]place|(?:tak\w+|in) (?:the|its|their) place|damaged_places|places\b(?=,|\)|  )|sound card'
ALLOWED += r'|Whole time|value="whole"|(?:People|Everyone) who|[Ww]ho woke whom|who calls it'  # of the page, and of people
# Names of the system, of perf, of formats, and columns of tables.
ALLOWED_NAMES = {'SI_TKILL', 'in_place', 'drop_in_place', 'name_nodes_in_place', 'places', 'damaged_places', 'who', 'tell', 'most_common'}

TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
SCRIPT_TOKENS = re.compile(TOKENS.pattern + r'|`(?:\\.|[^`\\])*`', re.DOTALL)
RUST_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)  # a ' may begin a lifetime
PYTHON_TOKENS = re.compile(r'#[^\n]*|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
CODE = {'.c': TOKENS, '.h': TOKENS, '.def': TOKENS, '.go': SCRIPT_TOKENS, '.js': SCRIPT_TOKENS, '.mjs': SCRIPT_TOKENS, '.css': TOKENS,
        '.rs': RUST_TOKENS, '.py': PYTHON_TOKENS}
DOCUMENTS = {'.md', '.scd', '.html'}
OMITTED = {'NEWS.md', 'README.md', 'tests/checkout/words.py'}  # the first page has words of its own; this file has them all
WORDS = {word: common for words, common in REFUSED.items() for word in words.split(', ')}
SENTENCE = re.compile(r'\b(' + '|'.join(WORDS) + r')\b|\b(' + '|'.join(PHRASES) + ')', re.IGNORECASE)
PARTS = set(WORDS) | set(NAMES.split())


def common(found):
    word = found.lower()
    return WORDS.get(word) or next((c for phrase, c in PHRASES.items() if re.match(phrase, word)), 'another word')


def sentences(text, at, pattern=SENTENCE):
    for found in pattern.finditer(re.sub(ALLOWED, lambda m: '_' * len(m.group(0)), text)):
        yield at + text.count('\n', 0, found.start()), found.group(0)


def names(code, at):
    for found in re.finditer(r'[A-Za-z_]\w*', code):
        name = found.group(0)
        parts = name.lower().strip('_').split('_')
        if name not in ALLOWED_NAMES and (PARTS & set(parts) or (len(parts) > 1 and parts[0] in ('most', 'least'))):
            yield at + code.count('\n', 0, found.start()), name


def check_code(text, tokens, has_strings):
    position, line = 0, 1
    for token in tokens.finditer(text):
        yield from names(text[position:token.start()], line)
        line += text.count('\n', position, token.start())
        is_comment = token.group(0).startswith(('/', '#', '"""'))
        if is_comment or (has_strings and ' ' in token.group(0)):
            yield from sentences(token.group(0), line)
        line += token.group(0).count('\n')
        position = token.end()
    yield from names(text[position:], line)


def check_file(path, name):
    text = path.read_text()
    if path.suffix in DOCUMENTS:
        return sentences(text, 1)
    return check_code(text, CODE[path.suffix], not (name.startswith('tests/') and path.suffix in ('.py', '.js', '.mjs')))


def files_of(root, paths):
    """Those of the checkout, without what is built in it."""
    for path in sorted(found for name in paths for found in [root / name, *(root / name).rglob('*')]):
        name = path.relative_to(root).as_posix()
        if path.suffix in {*CODE, *DOCUMENTS} and path.is_file() and name not in OMITTED and '/syscalls/' not in name:
            yield path, name


def main():
    hermetic.settle()
    root = pathlib.Path(sys.argv[1])
    built = {path.parent.name for path in root.glob('*/build.ninja')} | {path.name for path in root.glob('build*')}  # as .gitignore has it
    files = list(files_of(root, sys.argv[2:] or [path.name for path in root.iterdir() if path.name not in built and path.name[0] != '.']))
    count = 0
    for path, name in files:
        for line, found in check_file(path, name):
            print(f'{name}:{line}: "{found}": write {common(found)}')
            count += 1
    print(f'{len(files)} files, {count} words')
    return 1 if count else 0


sys.exit(main())
