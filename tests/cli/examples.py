#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py PERFILE SOURCE: runs every example of the help and of the man pages, and every command that a hint prints.

The examples of cli/examples.def run as they are, in a folder with recordings under the names that they use. Other programs are
replaced by ones that only read, and commands that record this machine by a check of their options: NEVER_RUN names them.
"""
import fnmatch, json, os, pathlib, re, shlex, shutil, subprocess, sys, tarfile, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

# verbs that need counters, rights or a terminal, or look at the kernel that runs: only their options are checked
NEVER_RUN = {'record': 'needs counters', 'stat': 'needs counters', 'top': 'needs counters', 'list': 'lists the events of this machine',
             'kallsyms': 'reads the running kernel', 'probe': 'needs tracefs and rights',
             'page': 'needs what ./dev wasm makes'}
DEMO = 'examples/demo.perf.data'
# perf.data: by what the example asks for, else by the verb
BY_WORD = {'sched:sched_switch': 'sched-tiny2', 'wakers': 'sched-tiny2', '--off-cpu': 'offcpu-cs', '--page ': 'kmem-page',
           'block_latency': 'block', 'run.data': 'stat', 'calls': 'intel-pt'}
BY_VERB = {'sched': 'sched-tiny2', 'offcpu': 'offcpu-cs', 'lock': 'lock', 'kmem': 'kmem-slab', 'kwork': 'kwork', 'trace': 'trace-raw',
           'mem': 'mem-made', 'c2c': 'mem-made'}
# what the recordings have instead of what the examples name
REPLACED = {'/srv/': 'srv/', '/usr/bin/make': './program', '/tmp/cache': 'cache', '--per instructions': '--per page-faults',
            '4711': '@PID@', '1234': '@PID@'}
NAMES = '''perf.data app.perf.data board.data server.data before.data after.data old.data new.data b1.data b2.data a1.data a2.data
    new.1.data new.2.data a.data b.data web.data db.data both.data monday-1.data monday-2.data one.data run.data
    cmp.before.1 cmp.before.2 cmp.after.1 cmp.after.2 incoming/x.data'''.split()
READERS = '''flamegraph.pl stackcollapse-perf.pl jq less duckdb callgrind_annotate rsync make kill browser riscv64-linux-gnu-objdump
    xdg-open'''.split()
# for perfile and perf: each run is logged with its status, and what would record only has its options checked
WRAPPER = '''#!/bin/bash
name=${0##*/} verb=$1
real() { (exec -a "$name" "$REAL" "$@"); status=$?; echo "$status $name $*" >>"$LOG"; }
check() { real "$@" >"$LOG.help"; [[ " $* " == *' -o - '* ]] && cat "$STREAM"; exit $status; }
case " $1 $2 $3 " in
' stat report '*) real "$@" ;;
' kallsyms --kallsyms '*) real "$@" ;;
' trace -e %file '*|' trace -s -p '*) shift; check "$verb" --help "$@" ;; # of a command, or of what runs
' NEVER '*) shift; check "$verb" --help "$@" ;;
' '*' record '*)
    words=()
    for word; do [[ $word == -- ]] && break; words+=("$word"); done
    real "${words[@]}" --help >"$LOG.help"
    ;;
*) real "$@" ;;
esac
exit $status
'''.replace("' NEVER '*)", ' | '.join(f"' {verb} '*" for verb in NEVER_RUN) + ')')
MAN_COMMAND = re.compile(r'^\t*(?:- +)?(?:for .*do )?(perfile [a-z].*?)(?:;? *done)?$', re.MULTILINE)
LITERALS = re.compile(r'(?:"(?:[^"\\]|\\.)*"|PF_RECORD_\w+)(?:\s*(?:"(?:[^"\\]|\\.)*"|PF_RECORD_\w+))*')
failures = []


def fail(*words):
    failures.append(words)
    print('---', *words)


class Box:
    """A folder in which examples run."""

    def __init__(self, folder, perfile, source):
        self.folder, self.source, self.real = folder, source, perfile
        self.bin, self.log = folder / 'bin', folder / 'log'
        self.bin.mkdir()
        for name in READERS:
            self.program(name, '#!/bin/sh\ncat >/dev/null </dev/stdin\n' if name not in ('make', 'kill') else '#!/bin/sh\n')
        self.program('ssh', '#!/bin/sh\nshift\nexec "$@"\n')
        for name in 'perfile', 'perf':
            self.program(name, WRAPPER)
        self.pid = ''
        self.environment = hermetic.environment(
            PATH=f'{self.bin}:/usr/bin:/bin', HOME=str(folder / 'home'), BROWSER='browser', REAL=str(perfile), LOG=str(self.log),
            STREAM=str(source / 'tests/data/pipe-6.1.perf.data'))

    def program(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def prepare(self, work, command, verb):
        """What the examples find."""
        for name in 'home/src/app', 'home/.debug', 'incoming', 'damaged', 'srv/board', 'srv/target', 'system.slice':
            (work / name).mkdir(parents=True)
        found = next((BY_WORD[word] for word in BY_WORD if word in command), BY_VERB.get(verb))
        recording = self.source / (f'tests/data/{found}.perf.data' if found else DEMO)
        words = ['perf.data', 'before.data', *re.split(r"[\s';]+", command)]
        for name in NAMES:
            if any(fnmatch.fnmatch(name, word) for word in words):
                shutil.copy(recording, work / name)
        for name in 'kallsyms.txt', 'kallsyms.copy', 'srv/target/kallsyms':
            shutil.copy(self.source / 'tests/data/lock.kallsyms', work / name)
        for name in 'vmlinux-6.12', 'server', 'program':
            os.symlink(self.real, work / name)
        with tarfile.open(work / 'perf.data.tar.gz', 'w:gz'):
            pass
        if ' public.data -o -' in command:
            self.run(work, 'convert', '--mode', 'pipe', 'perf.data', '-o', 'public.data')
        if 'profiles' in command:
            self.run(work, 'export', '--format', 'parquet', '--partition', 'host,date', '-o', 'srv/profiles', 'perf.data')
            os.symlink('srv/profiles', work / 'profiles')
        if 'baseline' in command:
            self.run(work, 'diff', '--against', 'baseline', '--update', 'before.data')
        if '--seekable' in command:  # which needs more than a MiB
            self.run(work, 'merge', '-o', 'large.data', *['perf.data'] * 60)
            os.replace(work / 'large.data', work / 'perf.data')

    def run(self, work, *words):
        done = subprocess.run([self.real, *words], cwd=work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode > 1:
            fail('preparing', *words, done.stderr)

    def example(self, command, verb):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            work = pathlib.Path(name)
            self.prepare(work, command, verb)
            self.log.write_text('')
            here = command
            for named, there in REPLACED.items():
                here = here.replace(named, there.replace('@PID@', self.pid))
            done = subprocess.run(['bash', '-c', f'enable -n kill\n{here}\nwait'], cwd=work, env={**self.environment, 'HOME': str(work / 'home')},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            runs = [line.split(' ', 1) for line in self.log.read_text().splitlines() if re.match(r'\d+ perf', line)]
            bad = [run for run in runs if int(run[0]) > 1]
            if bad or done.returncode > 126 or not runs and 'perfile' in command:
                fail(f'example of {verb or "perfile"}: {command!r}:', bad or done.returncode, done.stderr)


def option_names(verbs, *names):
    return {option[key] for name in names for option in verbs[name]['options'] for key in ('name', 'short') if key in option}


def check_words(where, command, verbs, general):
    """The verb exists and has these options."""
    words = command.split()
    while words and words[0].startswith('-'):
        words = words[1:]
    if not words or not re.fullmatch('[a-z][a-z0-9-]*', words[0]):
        return 0
    if words[0] not in verbs:
        fail(where, f'no verb {words[0]}: {command}')
        return 1
    options = {re.sub('[=,.].*', '', word) for word in words[1:] if re.match('--?[a-zA-Z]', word)}
    known = general | {'--candidates'} | option_names(verbs, words[0], *(['record'] if 'record' in words else []))
    unknown = {option for option in options if option not in known and not (option[1] != '-' and option[:2] in known)}
    if unknown:
        fail(where, f'{words[0]} has no {", ".join(sorted(unknown))}: {command}')
    return 1


def check_pages(source, verbs, general):
    """The commands of the man pages that are not made from the table of examples."""
    seen = 0
    for path in source.glob('man/*.scd'):
        for command in MAN_COMMAND.findall(path.read_text().replace('\\\n', ' ')):
            command = re.sub(r'\*|\\|\+\+$', '', command)
            for part in re.split(r'[|&;]+', command):
                if part.strip().startswith('perfile '):
                    seen += check_words(path.name, part.strip()[8:], verbs, general)
    return seen


def texts_of(source):
    """The strings of the sources, those that follow one another joined, with the commands of advice.h."""
    advice = dict(re.findall(r'#define (PF_RECORD_\w+) ("perfile .*")', (source / 'src/analysis/events/advice.h').read_text()))
    for path in [*source.glob('cli/**/*.[chd]*'), *source.glob('src/**/*.[ch]')]:
        for literal in LITERALS.findall(path.read_text()):
            text = re.sub(r'PF_RECORD_\w+', lambda name: advice.get(name[0], ''), literal)
            yield path, ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def check_hints(source, verbs, general):
    """Commands of perfile that messages name."""
    seen = 0
    for path, text in texts_of(source):
        if path.name == 'examples.def':
            continue
        for command in re.findall(r"perfile ((?:[a-z%.-][^;`\"()\\:']*))", text):
            verb = command.split()[0]
            if verb in verbs:
                seen += check_words(path.relative_to(source), re.split(r', |\. ', command)[0], verbs, general)
    return seen


def follow(box, recording, done, made):
    """Runs what a verb recommends for a recording."""
    for command in re.findall('record with:? (?:perfile )?((?:--|[a-z]+ ).*?)(?:, or .*|;.*)?$', done.stderr, re.MULTILINE):
        words = command.partition(' -- ')[0].split()
        if words[0].startswith('--'):
            words.insert(0, 'record')
        elif f'perfile {command}' not in done.stderr:
            continue  # prose
        parsed = subprocess.run([box.real, *words, '--help'], env=box.environment, capture_output=True, text=True)
        if parsed.returncode or not parsed.stdout.startswith('Usage: perfile record'):
            fail(f'{recording.name}: {command}:', parsed.returncode, parsed.stderr)
        made.add(command)
    for command in re.findall(r'(?:for its events try: |; try: |; next: )(perfile .*)', done.stderr):
        for part in re.split(r', (?=perfile )', command):
            words = [*shlex.split(part.split(' (')[0])[1:]]
            shown = subprocess.run([box.real, *words, *([] if words[-1] == str(recording) else [recording])],
                                   env={**box.environment, 'PERFILE_ADVICE': 'yes'}, capture_output=True, text=True, cwd=box.folder)
            if shown.returncode > 1 or 'record with: ' in shown.stderr:
                fail(f'{recording.name}: {part}:', shown.returncode, shown.stderr)
            made.add(part)


def check_advice(box, views):
    """What the verbs recommend is right for the recording: each view of one without its events, and reports of all."""
    made = set()
    environment = {**box.environment, 'PERFILE_ADVICE': 'yes'}
    demo = box.source / DEMO
    for view in views:
        follow(box, demo, subprocess.run([box.real, 'table', view, demo], env=environment, capture_output=True, text=True), made)
    for recording in sorted((box.source / 'tests/data').glob('*.perf.data')):
        follow(box, recording, subprocess.run([box.real, 'report', recording], env=environment, capture_output=True, text=True), made)
    return made


def main():
    hermetic.settle()
    perfile, source = (pathlib.Path(path).absolute() for path in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix='perfile-examples-') as name:
        box = Box(pathlib.Path(name), hermetic.runnable(perfile), source)
        described = json.loads(subprocess.check_output([box.real, 'help', '--json'], text=True))
        maps = subprocess.check_output([box.real, 'table', 'samples', '--format', 'csv', '--columns', 'pid', source / DEMO], text=True)
        box.pid = maps.split()[1]
        verbs = {verb['name']: verb for verb in described['verbs']}
        general = {'--candidates', '--help', '--version', '--no-pager', '--color', '-q', '-v'}
        examples = [(example['command'], verb) for verb, about in [('', described), *verbs.items()] for example in about['examples']]
        for verb in verbs:
            if not any(of == verb for _, of in examples):
                fail(f'no example of {verb}')
        for verb in ['', *verbs]:
            for line in subprocess.check_output([box.real, 'help', *verb.split()], text=True).splitlines():
                if len(line) > 80:
                    fail(f'help {verb}: wider than 80 columns: {line}')
        for command, verb in examples:
            box.example(command, verb)
        pages = check_pages(source, verbs, general)
        hints = check_hints(source, verbs, general)
        made = check_advice(box, [view['name'] for view in described['views']])
    for what, count, least in ('examples', len(examples), 150), ('commands of pages', pages, 20), ('hints', hints, 60), ('advice', len(made), 15):
        if count < least:
            fail(f'only {count} {what}')
    print(f'{len(examples)} examples, {pages} commands of pages, {hints} hints in sources, {len(made)} hints followed; {len(failures)} failed')
    sys.exit(len(failures) > 0)


if __name__ == '__main__':
    main()
