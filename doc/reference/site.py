#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""site.py TREE VERSION MAN FOLDER: the documentation as pages that need no server and no network.

The guides are those of doc/, the verbs the man pages in the folder MAN, the library the public headers: each function, struct and
constant stands once, below its name; the programs of examples/ stand there complete. Pages are searched by a script of theirs, which
has all names, the members of structs and the words below each heading. Exit 77, and one line, where mandoc or python3-markdown is
missing.
"""
import html, json, os, pathlib, re, shutil, subprocess, sys, textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers, uses

SKIP = 77
GUIDES = {'embedding.md': 'Programs of your own', 'pgo.md': 'Feeding optimisers', 'stacks.md': 'Complete stacks',
          'traces.md': 'Hardware traces', 'comparing.md': 'Comparing',
          'fleet.md': 'Many recordings', 'page.md': 'The page', 'format.md': 'The format', 'differences.md': 'Differences from perf',
          'first-minute.md': 'First screens'}
FIRST = {'README.md': 'First steps', 'NEWS.md': 'What is new', 'SECURITY.md': 'Security', 'bindings/python/README.md': 'Python'}
PAGE = '''<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{root}style.css">
<script src="{root}names.js" defer></script>
<script src="{root}search.js" defer></script>
</head>
<body data-root="{root}">
<a class="skip" href="#content">To the content</a>
<header>
<a class="home" href="{root}index.html">perfile {version}</a>
<form role="search" onsubmit="return false">
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off" placeholder="function, verb, option, any word ..." aria-controls="found">
</form>
</header>
<ul id="found" aria-live="polite" hidden></ul>
<main id="content" tabindex="-1">
{content}
</main>
</body>
</html>
'''


def slug(text):
    return re.sub(r'[^a-z0-9_]+', '-', text.lower()).strip('-')


def words_of(text):
    """The distinct words of a text, for the search."""
    return ' '.join(sorted(set(re.findall(r'[a-z0-9_][a-z0-9_-]{2,}', text.lower()))))


def parts_of(made):
    """(heading's id, heading, text below it) of a page; the text before the first heading has no heading."""
    pieces = re.split(r'<h[23][^>]* id="([^"]*)"[^>]*>(.*?)</h[23]>', made, flags=re.DOTALL)
    plain = [html.unescape(re.sub(r'<[^>]*>', '', piece)) for piece in pieces]
    return [('', '', plain[0]), *zip(pieces[1::3], (' '.join(heading.split()) for heading in plain[2::3]), plain[3::3])]


class Site:
    def __init__(self, tree, version, man, folder):
        self.tree, self.version, self.man, self.folder = pathlib.Path(tree), version, pathlib.Path(man), pathlib.Path(folder)
        self.headers = headers.read_headers(self.tree / 'include')
        self.uses = uses.Uses(self.tree / 'examples')
        self.names = []  # (name, page, kind, words) of all that is searched
        self.anchors = {name: f'api/{header.name[:-2]}.html#{name}' for header in self.headers for group in header.groups
                        for one in group.declarations for name in one.names}

    def write(self, path, title, content):
        root = '../' * path.count('/')
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(PAGE.format(title=html.escape(title), root=root, version=self.version, content=content),
                                        encoding='utf-8')

    # ---- the library ----

    def linked(self, text):
        """Text of C or of a comment: names that are declared, and programs of examples/, become links."""
        def link(found):
            to = self.anchors.get(found[0]) or self.pages.get(found[0])
            return f'<a href="../{to}">{found[0]}</a>' if to else found[0]
        return re.sub(r'\b(?:(?:perfile_|PERFILE_|Arrow)\w+|examples/\w+\.cc?\b)', link, html.escape(text, quote=False))

    def prose(self, comment):
        parts = []
        for what, *content in headers.blocks(comment):
            if what == 'term':
                parts.append(f'<dl><dt>{html.escape(content[0])}</dt><dd>{self.prose(content[1])}</dd></dl>')
            elif what == 'literal':
                parts.append(f'<pre tabindex="0">{self.linked(textwrap.dedent(content[0]))}</pre>')
            else:
                marked = re.sub(r'`([^`]+)`', r'<code>\1</code>', self.linked(content[0]))
                parts.append(f'<p>{marked}</p>')
        return '\n'.join(parts)

    def group(self, group):
        names = [one.names[0] for one in group.declarations]
        anchors = ''.join(f'<span id="{name}"></span>' for one in group.declarations for name in one.names if name != headers.title(group))
        code = '\n'.join(headers.prototype(one.text) if one.kind == 'function' else one.text for one in group.declarations)
        example = self.uses.of([one.names[0] for one in group.declarations if one.kind == 'function'])
        words = words_of(group.comment + ' '.join(one.text for one in group.declarations))
        for one in group.declarations:
            for name in one.names:
                self.find(name, self.anchors[name], 'constant' if name.isupper() else one.kind, words)
                words = ''
            for member in headers.members(one):
                self.find(f'{one.names[0]}.{member}', self.anchors[one.names[0]], 'member')
        return '\n'.join([
            f'<section>{anchors}<h3 id="{headers.title(group)}">{", ".join(names)}</h3>', self.prose(group.comment),
            f'<pre tabindex="0"><code>{self.linked(code)}</code></pre>',
            self.use(*example) if example else '', '</section>'])

    def use(self, source, lines):
        """A part of a program, with a link to all of it."""
        return (f'<details><summary>In {source}</summary><pre tabindex="0"><code>{self.linked(lines)}</code></pre>'
                f'<p><a href="../{self.pages[source]}">All of {source}</a></p></details>')

    def header(self, header):
        parts, section = [f'<h1>perfile/{header.name}</h1>', self.prose(header.comment)], ''
        for group in header.groups:
            if group.section != section:
                section = group.section
                parts.append(f'<h2 id="{slug(section)}">{html.escape(section)}</h2>')
            parts.append(self.group(group))
        self.write(f'api/{header.name[:-2]}.html', f'perfile/{header.name}', '\n'.join(parts))

    def example(self, source):
        path, name = self.pages[source], pathlib.Path(source).name
        text = (self.tree / source).read_text(encoding='utf-8')
        self.find(name, path, 'example', words_of(text))
        self.write(path, name, f'<h1>{source}</h1>\n<pre tabindex="0"><code>{self.linked(text)}</code></pre>')

    # ---- verbs and guides ----

    def find(self, name, to, kind, words=''):
        self.names.append((name, to, kind, words))

    def find_parts(self, title, path, kind, made):
        """A page and its headings, each with the words below it."""
        for anchor, heading, text in parts_of(made):
            if heading:
                self.find(f'{title}: {heading}', f'{path}#{anchor}', 'section', words_of(text))
            else:
                self.find(title, path, kind, words_of(text))

    def verb(self, path):
        made = subprocess.run(['mandoc', '-T', 'html', '-O', 'fragment', str(path)], capture_output=True, text=True, check=True).stdout
        made = re.sub(r'<(/?)h1\b', r'<\1h2', re.sub(r'<table class="(head|foot)">.*?</table>', '', made, flags=re.DOTALL))
        name, section = path.name.rsplit('.', 1)
        made = re.sub(r'<b>(perfile(?:-[a-z0-9-]+)?)</b>\(1\)', lambda m: f'<a href="{m[1]}.html">{m[1]}</a>(1)'
                      if (self.man / f'{m[1]}.1').exists() else m[0], made)
        made = made.replace('<pre>', '<pre tabindex="0">')
        self.find_parts(name.replace('-', ' ', 1), f'verbs/{name}.html', 'verb' if section == '1' else 'overview', made)
        self.write(f'verbs/{name}.html', name, f'<h1>{name.replace("-", " ", 1)}</h1>\n{made}')

    def guide(self, source, path, title):
        import markdown
        text = (self.tree / source).read_text(encoding='utf-8')
        made = markdown.markdown(text, extensions=['tables', 'fenced_code', 'toc'])
        made = re.sub(r'(href|src)="([^"#:]+)(#[^"]*)?"', lambda m: f'{m[1]}="{self.target(source, path, m[2])}{m[3] or ""}"', made)
        made = re.sub(r'<table>(.*?)</table>', r'<div class="wide" tabindex="0"><table>\1</table></div>', made, flags=re.DOTALL)
        made = made.replace('<th></th>', '<td></td>').replace('<pre>', '<pre tabindex="0">')
        self.find_parts(title, path, 'guide', made)
        self.write(path, title, made)

    def target(self, source, path, link):
        """Where a link of a document leads on the site: to a page of it, a picture that is copied, or a name in the sources."""
        named = os.path.normpath((pathlib.Path(source).parent / link).as_posix())
        to = self.pages.get(named)
        if to is None and (self.tree / named).is_file():
            to = f'files/{named}' + ('' if pathlib.Path(named).suffix in ('.png', '.html', '.txt') else '.txt')
            (self.folder / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.tree / named, self.folder / to)
        return os.path.relpath(to or 'index.html', pathlib.Path(path).parent.as_posix() or '.')

    # ---- all ----

    def index(self):
        def listed(pairs):
            return '<ul>' + '\n'.join(f'<li><a href="{to}">{html.escape(text)}</a>{about}</li>' for to, text, about in pairs) + '</ul>'
        about = {header.name: headers.summary(header.comment) for header in self.headers}

        def of(kind):
            return [(to, name, '') for name, to, one, _ in self.names if one == kind]
        self.write('index.html', f'perfile {self.version}', '\n'.join([
            '<h1>perfile</h1>', '<p>Reads, checks, repairs, writes, edits, records, symbolises, reports, compares and exports '
            'Linux <code>perf.data</code> files: a command and a C library.</p>',
            '<h2>Guides</h2>', listed(of('guide')),
            '<h2>The command</h2>', listed(sorted(of('verb'))).replace('<ul>', '<ul class="columns">', 1),
            '<h2>The library</h2>', listed([*of('overview'), *(
                (f'api/{header.name[:-2]}.html', f'perfile/{header.name}', ': ' + html.escape(about[header.name])) for header in self.headers)]),
            '<h2>Programs that use it</h2>', listed((self.pages[source], pathlib.Path(source).name, ': ' + html.escape(what))
                                                    for source, what in self.examples.items())]))

    def read_examples(self):
        """The programs of examples/ by their paths, and what the table in its README.md says of each."""
        table = (self.tree / 'examples/README.md').read_text(encoding='utf-8')
        about = dict(re.findall(r'^\| `(\w+\.cc?)` \| (.*?) \|$', table, re.M))
        paths = sorted(path for path in (self.tree / 'examples').iterdir()
                       if path.suffix in ('.c', '.cc') and '<perfile/' in path.read_text(encoding='utf-8'))
        return {f'examples/{path.name}': about[path.name].replace('`', '') for path in paths}

    def make(self):
        documents = {**FIRST, **{f'doc/{name}': title for name, title in GUIDES.items()}}
        documents = {source: title for source, title in documents.items() if (self.tree / source).exists()}
        self.pages = {source: 'guides/' + slug(title) + '.html' for source, title in documents.items()}
        self.examples = self.read_examples()
        self.pages.update({source: source.replace('.', '-') + '.html' for source in self.examples})
        self.pages.update(dict.fromkeys(('doc', 'examples', 'examples/README.md', 'man', 'include/perfile'), 'index.html'))
        self.pages.update({f'include/perfile/{header.name}': f'api/{header.name[:-2]}.html' for header in self.headers})
        shutil.rmtree(self.folder, ignore_errors=True)
        for source, title in documents.items():
            self.guide(source, self.pages[source], title)
        for path in [*sorted(self.man.glob('perfile*.1')), *self.man.glob('libperfile.3')]:
            self.verb(path)
        for header in self.headers:
            self.header(header)
        for source in self.examples:
            self.example(source)
        self.index()
        for name in 'style.css', 'search.js':
            shutil.copyfile(pathlib.Path(__file__).resolve().parent / name, self.folder / name)
        (self.folder / 'names.js').write_text(f'const names = {json.dumps(self.names)};\n', encoding='utf-8')


def main():
    missing = [] if shutil.which('mandoc') else ['mandoc']
    try:
        import markdown
    except ImportError:
        missing.append('python3-markdown')
    if missing:
        print(f'skipped: site: apt-get install {" ".join(missing)}')
        sys.exit(SKIP)
    site = Site(*sys.argv[1:5])
    site.make()
    print(f'{len(list(site.folder.rglob("*.html")))} pages, {len(site.names)} names: {site.folder / "index.html"}')


if __name__ == '__main__':
    main()
