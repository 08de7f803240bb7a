#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reference.py TREE VERSION MAN LIBRARY...: the reference has all that the libraries export, and no link of it leads nowhere.

Each exported function has a man page that declares and describes it, each struct of the headers one that defines it. On the site,
which is made where mandoc and python3-markdown are installed, each of them, each constant and each verb is found by its name, and
each link has its page and its anchor. MAN is the folder of the verbs' man pages, or has none when these were not made."""
import html.parser, json, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

SKIP = 77
hermetic.settle()
hermetic.find_packages()
TREE, VERSION, MAN = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, str(TREE / 'doc/reference'))
import headers

wrong = []


def exported(library):
    made = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r' T (perfile_\w+)', made))


def page(folder, name):
    """The man page of a name, which may refer to another one; '' where there is none."""
    path = folder / f'{name}.3'
    text = path.read_text(encoding='utf-8') if path.exists() else ''
    other = re.match(r'\.so man3/(\w+)\.3$', text.strip())
    return page(folder, other[1]) if other else text


def try_man_pages(folder, functions, types):
    subprocess.run([sys.executable, '-B', TREE / 'doc/reference/man3.py', TREE / 'include', TREE / 'examples', VERSION, folder], check=True)
    for name in sorted(functions):
        text = page(folder, name)
        if f'{name}(' not in text.split('.SH SYNOPSIS')[-1].split('.SH')[0]:
            wrong.append(f'{name}(3) does not declare it')
        if not text.split('.SH DESCRIPTION\n')[-1].split('.SH')[0].strip() or '.SH DESCRIPTION' not in text:
            wrong.append(f'{name}(3) does not describe it')
    for name in sorted(name for name in types if name.startswith('perfile')):
        if not re.search(rf'(struct|enum|union) {name} \{{|\b{name}\)?\(', page(folder, name)):
            wrong.append(f'{name}(3) does not define it')


class Links(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.path = [], set(), path
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors |= {named[key] for key in ('id', 'name') if named.get(key)}
        self.links += [named[key] for key in ('href', 'src') if named.get(key) and not re.match(r'[a-z]+:', named[key])]


def try_site(folder, functions, types, constants):
    command = [sys.executable, '-B', TREE / 'doc/reference/site.py', TREE, VERSION, MAN, folder]
    made = subprocess.run(command, text=True, capture_output=True)
    if made.returncode == SKIP:
        print(made.stdout.strip())
        return
    if made.returncode:
        sys.exit(made.stderr)
    names = json.loads((folder / 'names.js').read_text(encoding='utf-8')[len('const names = '):].rstrip(';\n'))
    listed = {name: to for name, to, *_ in names}
    verbs = {path.stem.replace('-', ' ', 1) for path in MAN.glob('perfile*.1')}
    for name in sorted((functions | types | constants | verbs) - listed.keys()):
        wrong.append(f'the site does not list {name}')
    pages = {path.resolve(): Links(path) for path in folder.rglob('*.html')}
    pages[(folder / 'names.js').resolve()] = names_page = Links(folder / 'index.html')
    names_page.links, names_page.path = [to for _, to, *_ in names], folder / 'names.js'
    for path, one in pages.items():
        for link in one.links:
            to, _, anchor = link.partition('#')
            target = (path.parent / to).resolve() if to else path
            if not target.is_file():
                wrong.append(f'{path.name}: {link}: there is no such page')
            elif anchor and target in pages and anchor not in pages[target].anchors:
                wrong.append(f'{path.name}: {link}: there is no such anchor')
    print(f'{len(pages)} pages with {sum(len(one.links) for one in pages.values())} links, {len(verbs)} verbs')


def main():
    found = [one for header in headers.read_headers(TREE / 'include') for group in header.groups for one in group.declarations]
    functions = set().union(*map(exported, sys.argv[4:]))
    types = {one.names[0] for one in found if one.kind in ('struct', 'enum', 'typedef') and ('{' in one.text or one.kind == 'typedef')}
    constants = {name for one in found for name in one.names if name.isupper()}
    with tempfile.TemporaryDirectory() as name:
        try_man_pages(pathlib.Path(name) / 'man3', functions, types)
        try_site(pathlib.Path(name) / 'site', functions, types, constants)
    print('\n'.join(wrong[:40]) or f'{len(functions)} functions, {len(types)} types, {len(constants)} constants')
    sys.exit(bool(wrong) or len(functions) < 100)


main()
