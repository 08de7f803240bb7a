#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man3.py INCLUDE EXAMPLES VERSION FOLDER: the man pages of section 3, one for each group of functions or types of the headers.

Each other name that a group declares is a page of one line, which refers to that of the group. EXAMPLES is the folder whose
programs show how functions are used.
"""
import pathlib, re, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers, uses

BASIC = ('perfile.h', 'records.h', 'writer.h', 'edit.h', 'index.h', 'recorder.h')  # in libperfile; the others in libperfile-analysis
WIDTH = 78
NEAR = 5  # so many groups before and after one are named in its page


def roff(text):
    """Text in which nothing is a request or an escape."""
    return re.sub(r'^([.\'])', r'\\&\1', text.replace('\\', '\\e').replace('-', '\\-'), flags=re.MULTILINE)


def literal(text):
    return f'.RS 4\n.nf\n{roff(text)}\n.fi\n.RE'


def prose(comment):
    parts = []
    for what, *content in headers.blocks(comment):
        if what == 'term':
            parts.append(f'.TP\n.B {roff(content[0])}\n.RS\n{prose(content[1])}\n.RE')
        else:
            parts.append(literal(content[0]) if what == 'literal' else f'.PP\n{roff(content[0])}')
    return '\n'.join(parts)


def wrapped(prototype):
    """A prototype over lines that fit, each parameter complete, continued below the first one."""
    start = prototype.index('(') + 1
    first, *others = prototype[start:].split(', ')
    lines = [prototype[:start] + first]
    for parameter in others:
        lines[-1] += ','
        if len(lines[-1]) + 1 + len(parameter) > WIDTH:
            lines.append(' ' * min(start, WIDTH - 2 - max(map(len, others))) + parameter)
        else:
            lines[-1] += ' ' + parameter
    return '\n'.join(lines)


def since(group):
    found = re.search(r'[Ss]ince (\d+\.\d+)', group.comment)
    return found[1] if found else '0.1'


class Pages:
    def __init__(self, include, examples, version, folder):
        self.headers, self.folder, self.version = headers.read_headers(include), pathlib.Path(folder), version
        self.types, self.uses = headers.types_by_name(self.headers), uses.Uses(examples)

    def section(self, name, text):
        return f'.SH {name}\n{text}' if text else ''

    def types_of(self, group):
        """The definitions that the prototypes mention, but those that every call has."""
        shown = {one.names[0] for one in group.declarations if one.kind != 'function'}
        text = '\n'.join(headers.prototype(one.text) for one in group.declarations if one.kind == 'function')
        used = [name for name in headers.mentioned(text, self.types) if name not in shown]
        return '\n'.join(literal(self.types[name][0].text) for name in used if name not in ('perfile_error', 'perfile_allocator'))

    def synopsis(self, group):
        lines = [f'.B #include <perfile/{group.header}>', '.PP']
        functions = [one for one in group.declarations if one.kind == 'function']
        others = [one for one in group.declarations if one.kind != 'function']
        texts = [one.text for one in others] + [wrapped(headers.prototype(one.text)) for one in functions]
        return '\n'.join([*lines, '.nf', *map(roff, texts), '.fi'])

    def near(self, group):
        """The titles of the groups of its section, or of those around it."""
        groups = next(header.groups for header in self.headers if header.name == group.header)
        at = groups.index(group)
        close = groups[max(0, at - NEAR):at] + groups[at + 1:at + 1 + NEAR]
        return [headers.title(other) for other in close if other.section == group.section]

    def see_also(self, group):
        return ' ,\n'.join(f'.BR {roff(name)} (3)' for name in [*dict.fromkeys(self.near(group)), 'libperfile'])

    def errors(self, group):
        fails = any('PERFILE_MUST_CHECK' in one.text or re.search(r'\bint perfile_\w+\(.*perfile_error', one.text, re.DOTALL)
                    for one in group.declarations if one.kind == 'function')
        return ('A negative result is a value of enum perfile_code, and *error, which may be NULL, has the code, the offset and a '
                'sentence. perfile_error(3) lists the codes; those of this call are named above.') if fails else ''

    def page(self, group):
        title, library = headers.title(group), 'perfile' if group.header in BASIC else 'perfile-analysis'
        names = [one.names[0] for one in group.declarations]
        about = headers.first_sentence(group.comment) or group.section or 'a declaration of ' + group.header
        example = self.uses.of([one.names[0] for one in group.declarations if one.kind == 'function'])
        parts = [f'.\\" Made of include/perfile/{group.header}.', f'.TH {title} 3 "" "perfile {self.version}" "libperfile"',
                 self.section('NAME', f'{roff(", ".join(names))} \\- {roff(about)}'),
                 self.section('LIBRARY', f'cc ... $(pkg\\-config \\-\\-cflags \\-\\-libs {roff(library)})'),
                 self.section('SYNOPSIS', self.synopsis(group)), self.section('DESCRIPTION', prose(group.comment).removeprefix('.PP\n')),
                 self.section('TYPES', self.types_of(group)), self.section('ERRORS', self.errors(group)),
                 self.section('EXAMPLE', example and f'In {roff(example[0])}:\n{literal(example[1])}'),
                 self.section('RULES', f'Lifetimes, threads, NULL and the growth of structs: libperfile(3). Since {since(group)}.'),
                 self.section('SEE ALSO', self.see_also(group))]
        return '\n'.join(part for part in parts if part) + '\n'

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        groups = [group for header in self.headers for group in header.groups if headers.title(group).lower().startswith('perfile')]
        functions = {one.names[0] for group in groups for one in group.declarations if one.kind == 'function'}
        for group in groups:
            title = headers.title(group)
            names = [one.names[0] for one in group.declarations if one.kind == 'function' or one.names[0] not in functions]
            if title in names:
                self.put(title, self.page(group))
            for name in names:
                if name != title:
                    self.put(name, f'.so man3/{title}.3\n')

    def put(self, name, text):
        (self.folder / f'{name}.3').write_text(text, encoding='utf-8')


if __name__ == '__main__':
    Pages(*sys.argv[1:5]).write()
