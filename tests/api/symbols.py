#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""symbols.py SOURCES LIBRARY.so... LAYER=ARCHIVE.a...: what the libraries export, and which layer uses which.

The libraries export perfile_ symbols and nothing else. Their objects call nothing that prints or ends the process, and
nothing that depends on the locale of the process but in base/locale.c, and their messages name no switches of the command.
A layer uses its own symbols and headers and those that USES allows it, and no others."""
import pathlib, re, subprocess, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# the table of CONTRIBUTING.md; `public` is what <perfile/*.h> declare
READER = ['platform', 'base', 'io', 'schema', 'format', 'model', 'hwtrace', 'edit', 'record']
USES = {
    'platform': [],
    'base': [],
    'io': ['base'],
    'schema': ['base'],
    'format': ['base', 'io', 'schema'],
    'model': ['base', 'io', 'schema', 'format'],
    'edit': ['base', 'io', 'schema', 'format', 'model', 'hwtrace'],
    'record': ['base', 'io', 'schema', 'format'],
    'hwtrace': ['base', 'public'],
    'symbol': ['base', 'public'],
    'analysis': ['base', 'hwtrace', 'symbol', 'public'],
    'view': ['base', 'schema', 'hwtrace', 'symbol', 'analysis', 'public'],
    'output': ['base', 'hwtrace', 'symbol', 'analysis', 'view', 'public'],
}
FORBIDDEN = re.compile(r'^(__)?(v?f?printf|puts|putchar|perror|fputs|fputc|fwrite|exit|_exit|_Exit|quick_exit|abort|'
                       r'stderr|stdout|assert_fail|err|errx|warn|warnx|signal|sigaction|setlocale)(_chk)?$')

# what reads or writes by the locale; base/locale.h has functions that do not
BY_LOCALE = re.compile(r'^(__)?(isoc\d+_)?(strto[fd]|strtold|atof|strerror(_r)?|xpg_strerror_r|strn?case(cmp|str)|'
                       r'strcoll|strxfrm|'
                       r'localeconv|nl_langinfo|fnmatch|mbs?r?towcs?|wcs?r?tombs?|btowc|wctob|to(w?)(lower|upper)|'
                       r'str(f|p)mon|ctype_(toupper|tolower)_loc|gettext)(_chk|_internal)?$')
BY_CLASS = re.compile(r'\bis(alpha|alnum|space|print|punct|upper|lower|cntrl|graph|blank)\(')
POINT = re.compile(r'\b(?:v?s?n?printf|v?f?sscanf)\((?:[^;"]|"(?:[^"\\]|\\.)*")*?'
                   r'"(?:[^"\\]|\\.)*?%[-+ #0]*[\d*]*(?:\.[\d*]*)?(?:l|L)?[aefgAEFG](?![a-z])')


# Messages are for callers of all kinds, most of which have no switches. What is not a message: text of the verbs of that name.
# made_code.c names switches of other programs, advice.h those that recorders are to be started with.
SWITCH = re.compile(r'"(?:[^"\\\n]|\\.)*?(?<![\w<!-])--[a-z]')
TEXT_OF_VERBS = ('output/report/text.c', 'output/report/text_head.c', 'output/info.c', 'record/made_code.c', 'analysis/events/advice.h')


def switches(text):
    """The string literals that name a switch."""
    return [found.group(0) for found in SWITCH.finditer(re.sub(r'/\*.*?\*/', '', text, flags=re.S))]


def check_switches(sources, layer):
    assert switches('fail("use --clock keep"); /* "--x" */') and not switches('put("<!--js-->", a--b, "a--b");')
    return [f'{path.relative_to(sources)}: {found}: names a switch' for path in sorted((sources / layer).glob('**/*.[ch]'))
            if str(path.relative_to(sources)) not in TEXT_OF_VERBS and not path.name.startswith('gen_')
            for found in switches(path.read_text())]


def symbols(path, *options):
    """Pairs of kind and name."""
    text = subprocess.run(['nm', *options, path], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in text.splitlines() if line and not line.endswith(':')]
    return [(words[-2], words[-1].split('@')[0]) for words in fields if len(words) >= 2]


def check_exports(library):
    names = {name for kind, name in symbols(library, '-D', '--defined-only') if kind != 'A'}
    odd = sorted(name for name in names if not name.startswith('perfile_'))
    return [f'{pathlib.Path(library).name} exports {name}' for name in odd] + \
           ([] if names else [f'{library} exports nothing'])


def check_calls(layer, undefined):
    return [f'{layer} uses {name}' for name in sorted(undefined) if FORBIDDEN.match(name)]


def check_locale(sources, layer, archive):
    """By object: one of base may. Numbers with a point are printed and read by pf_format and pf_parse_double."""
    wrong = []
    listing = subprocess.run(['nm', '-A', '--undefined-only', archive], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        where, name = line.rsplit(':', 1)[0], line.split()[-1].split('@')[0]
        if BY_LOCALE.match(name) and 'locale.c' not in where:
            wrong.append(f'{where} uses {name}, which depends on the locale')
    for path in sorted((sources / layer).rglob('*.[ch]')):
        text = path.read_text()
        if path.name not in ('locale.c', 'schema.c') and not path.name.startswith('gen_'):
            wrong += [f'{layer}/{path.name}: {found.group()[:60]}: depends on the locale'
                      for rule in (BY_CLASS, POINT) for found in rule.finditer(text)]
    return wrong


def check_direction(layer, undefined, defined):
    public = {name for other in READER for name in defined.get(other, ()) if name.startswith('perfile_')}
    allowed = set().union(*(public if other == 'public' else defined.get(other, ()) for other in [layer, 'platform', *USES[layer]]))
    ours = {name for name in undefined if name.startswith(('pf_', 'perfile_'))}
    return [f'{layer} uses {name}, which is above it' for name in sorted(ours - allowed)]


def check_includes(sources, layer):
    """Inline functions leave no symbol: look at the includes too."""
    wrong = []
    for path in sorted((sources / layer).rglob('*.[ch]')):
        for other in re.findall(r'^#include "([a-z]+)/', path.read_text(), re.M):
            if other not in (layer, 'platform', *USES[layer]):
                wrong.append(f'{layer}/{path.name} includes {other}/')
    return wrong


def main():
    hermetic.settle()
    sources = pathlib.Path(sys.argv[1])
    libraries = [argument for argument in sys.argv[2:] if '=' not in argument]
    archives = dict(argument.split('=', 1) for argument in sys.argv[2:] if '=' in argument)
    wrong = [f'{layer} has no row in the table of symbols.py' for layer in archives if layer not in USES]
    for library in libraries:
        wrong += check_exports(library)
    defined, undefined = {}, {}
    for layer, archive in archives.items():
        found = symbols(archive)
        defined[layer] = {name for kind, name in found if kind.isupper() and kind != 'U'}
        undefined[layer] = {name for kind, name in found if kind == 'U'}
    for layer in archives.keys() & USES.keys():
        wrong += check_calls(layer, undefined[layer]) + check_direction(layer, undefined[layer], defined)
        wrong += check_switches(sources, layer)
        wrong += check_includes(sources, layer) + check_locale(sources, layer, archives[layer])
    print('\n'.join(wrong) or f'{len(libraries)} libraries, {len(archives)} layers: all as they should be')
    sys.exit(bool(wrong))


main()
