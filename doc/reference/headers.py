# SPDX-License-Identifier: MIT
"""The public headers as data: for each declaration its text, the comment before it, and the names that it declares.

A header is a comment about all of it, and then groups: a comment and the declarations that follow it without an empty line or
a comment between them. `/* ---- title ---- */` begins a section. What a declaration has no comment of its own for stands in the
comments of its members.
"""
import collections, pathlib, re, textwrap

# kinds: of the first name: function, struct, enum, typedef or constant
Declaration = collections.namedtuple('Declaration', 'kind names text')
Group = collections.namedtuple('Group', 'header section comment declarations')
Header = collections.namedtuple('Header', 'name comment groups')

HIDDEN = re.compile(r'PERFILE_\w+_H$|PERFILE_SIZED|PERFILE_API$|PERFILE_MUST_CHECK$|ARROW_C_\w+')
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
CPLUSPLUS = re.compile(r'^#ifdef __cplusplus$.*?^#endif$', re.DOTALL | re.MULTILINE)
SECTION = re.compile(r'/\* ---- (.*?) -+ \*/$')


def plain(comment):
    """The text of a comment, without its frame."""
    lines = [re.sub(r'^ ?\* ?', '', line.strip(' ') if line.strip() == '*' else line) for line in comment[2:-2].split('\n')]
    return '\n'.join(line.rstrip() for line in lines).strip('\n').strip(' ')


def pieces(text):
    """(what, text): comments and declarations of the outermost level, directives of the preprocessor, empty lines."""
    lines, at = text.split('\n'), 0
    while at < len(lines):
        first, line = at, lines[at]
        if line.startswith('/*'):
            while '*/' not in lines[at]:
                at += 1
            what = 'comment'
        elif line.startswith('#'):
            while lines[at].endswith('\\'):
                at += 1
            what = 'directive'
        elif not line.strip():
            what = 'empty'
        else:
            bare = ''
            while True:
                bare += COMMENT.sub('', lines[at]) if '/*' not in lines[at] or '*/' in lines[at] else lines[at].split('/*')[0]
                if '/*' in lines[at] and '*/' not in lines[at].split('/*')[-1]:  # a comment of several lines, on members
                    while '*/' not in lines[at]:
                        at += 1
                if bare.count('{') == bare.count('}') and bare.rstrip().endswith((';', '}')):
                    break
                at += 1
            what = 'declaration'
        at += 1
        yield what, '\n'.join(lines[first:at])


def declared(text):
    """The Declaration that a text is, or None."""
    bare = COMMENT.sub('', text)
    if made := re.match(r'#define (\w+)(\(?)', text):
        return None if HIDDEN.match(made[1]) or made[2] else Declaration('constant', [made[1]], text)
    if made := re.match(r'(struct|enum|union) (\w+)\s*(\{|;)', bare):
        if made[1] == 'enum':
            return Declaration('enum', [made[2], *re.findall(r'[{,]\s*(\w+)', bare)], text)
        return Declaration('struct', [made[2]], text)
    if made := re.match(r'enum \{', bare):
        return Declaration('constant', re.findall(r'[{,]\s*(\w+)', bare), text)
    if made := re.match(r'typedef .*?\(?\*?\b(perfile_\w+)\)?\(', bare, re.DOTALL):
        return Declaration('typedef', [made[1]], text)
    if made := re.search(r'\b(perfile_\w+)\(', bare):
        return Declaration('function', [made[1]], text)
    return None


def members(declaration):
    """The names of a struct's members."""
    body = re.sub(r'\(\*(\w+)\)\([^()]*\)', r'\1', COMMENT.sub('', declaration.text)).partition('{')[2]
    return re.findall(r'(\w+)(?:\[[^]]*\])*\s*[;,]', body) if declaration.kind == 'struct' else []


def read_header(path):
    header, section, comment, made, is_about_all = path.name, '', '', [], False
    groups, about = [], ''

    def end():
        if made:
            groups.append(Group(header, section, comment, list(made)))
        made.clear()

    for what, text in pieces(CPLUSPLUS.sub('', path.read_text(encoding='utf-8'))):
        if what == 'comment' and 'SPDX' in text:
            continue
        if what == 'comment' and not is_about_all:
            about, is_about_all = plain(text), True
        elif what == 'comment':
            end()
            titled = SECTION.match(text)
            section, comment = (titled[1], '') if titled else (section, plain(text))
        elif what == 'empty':
            end()
            comment = ''
        elif (one := declared(text)) is not None:
            made.append(one)
    end()
    return Header(header, about, [group for group in groups if not is_forward(group)])


def is_forward(group):
    """`struct perfile_reader;` alone, without a word."""
    return not group.comment and all(one.kind == 'struct' and '{' not in one.text for one in group.declarations)


def read_headers(include):
    """All public headers, perfile.h first."""
    paths = sorted((pathlib.Path(include) / 'perfile').glob('*.h'), key=lambda path: (path.name != 'perfile.h', path.name))
    return [read_header(path) for path in paths]


def prototype(text):
    """A function's declaration without what compilers alone need."""
    return re.sub(r'\s+', ' ', re.sub(r'\bPERFILE_(API|MUST_CHECK)\b', '', text)).strip()


def title(group):
    """The name of what is written about a group: its first function, or its first name."""
    functions = [one for one in group.declarations if one.kind == 'function']
    return (functions or group.declarations)[0].names[0]


def first_sentence(comment):
    """For lists: up to the first full stop, or the first paragraph."""
    text = re.sub(r'\s+', ' ', re.split(r'\n\s*\n|\n {2}', comment)[0]).strip()
    return re.match(r'(.*?[.:])(?: |$)', text + ' ')[1].rstrip('.:') if re.search(r'[.:]( |$)', text) else text


def summary(comment):
    """What a header is for, in a line: its first sentence, without the name of the header before it."""
    return re.sub(r'^[\w/.]+: ', '', first_sentence(comment))


def types_by_name(headers):
    """The complete definition of each struct, enum and typedef."""
    return {one.names[0]: (one, group) for header in headers for group in header.groups for one in group.declarations
            if one.kind in ('struct', 'enum', 'typedef') and ('{' in one.text or one.kind == 'typedef')}


def mentioned(text, types):
    """The names of `types` in a text, each once, in order."""
    return list(dict.fromkeys(name for name in re.findall(r'\b\w+\b', text) if name in types))


TERM = re.compile(r'([A-Z][\w .]*?\.) {2,}(?=\S)')


def blocks(comment):
    """What a comment is made of: ('text', paragraph), ('literal', lines) and ('term', word, lines, which are a comment again).

    What is indented, and tables, keep their lines; `Word.   text`, continued with the same indentation, explains a word.
    """
    lines, at = comment.split('\n'), 0
    while at < len(lines):
        first, line = at, lines[at]
        if not line.strip():
            at += 1
            continue
        if term := TERM.match(line):
            at = end_of(lines, at, lambda other: other.startswith(' ' * 8))
            yield 'term', term[1].rstrip('.'), textwrap.dedent('\n'.join([' ' * term.end() + line[term.end():], *lines[first + 1:at]]))
        elif is_literal(line):
            at = end_of(lines, at, is_literal)
            yield 'literal', '\n'.join(lines[first:at]).rstrip()
        else:
            while at < len(lines) and lines[at].strip() and not is_literal(lines[at]) and (at == first or not TERM.match(lines[at])):
                at += 1
            yield 'text', ' '.join(lines[first:at])


def is_literal(line):
    return line.startswith(('  ', '|', '- '))


def end_of(lines, at, belongs):
    """The line after the last one that belongs to a block; empty ones between them do."""
    end = at = at + 1
    while at < len(lines) and (belongs(lines[at]) or not lines[at].strip()):
        at += 1
        end = at if lines[at - 1].strip() else end
    return end
