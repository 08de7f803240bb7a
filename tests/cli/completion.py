#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion.py PERFILE SOURCE: what bash, zsh and fish complete, asked of the shells that are installed."""
import hashlib
import os
import pathlib
import pty
import pwd
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / 'examples/workload.perf.data'
ID = hashlib.blake2b(EXAMPLE.read_bytes(), digest_size=16).hexdigest()  # in a dataset
HOST = 'test'
# (what is typed, some of what must be offered, what must not be)
QUESTIONS = [
    ('perfile re', {'report'}, {'script'}),
    ('perfile --no-pager che', {'check'}, {'report'}),
    ('perfile --color always inf', {'info'}, set()),
    ('perfile --no-p', {'--no-pager'}, set()),
    ('perfile --color a', {'auto', 'always'}, {'never', 'report'}),
    ('perfile report --form', {'--format'}, {'--fields'}),
    ('perfile report --format ', {'text', 'json', 'csv'}, {'svg'}),
    ('perfile --no-pager flame --format ', {'svg', 'folded', 'html'}, {'csv'}),
    ('perfile report --sort ', {'comm', 'dso', 'symbol'}, {'auto'}),
    ('perfile report --sort comm,ds', {'comm,dso'}, {'comm,symbol'}),
    ('perfile report -s +cp', {'+cpu'}, {'cpu'}),
    ('perfile script -F comm,ti', {'comm,tid', 'comm,time'}, {'comm,ip'}),
    ('perfile help che', {'check'}, {'--json'}),
    ('perfile completion z', {'zsh'}, {'bash'}),
    ('perfile info recor', {'recording.data'}, set()),
    ('perfile info -i recor', {'recording.data'}, set()),
    # views before options, which come after a dash only
    ('perfile sched ', {'latency', 'timehist', 'record'}, {'--columns', '--help', 'recording.data'}),
    ('perfile kmem recor', {'record', 'recording.data'}, set()),
    ('perfile sched --col', {'--columns', '--color'}, {'latency'}),
    ('perfile ', {'report', 'record'}, {'--version'}),
    ('perfile sched latency recor', {'recording.data'}, {'record'}),
    # what only this machine or the recording knows
    ('perfile report -i recording.data --comms ', {'workload'}, {'recording.data'}),
    ('perfile report -i recording.data --symbols ', {'count_words', 'main'}, {'--symbols'}),
    ('perfile report -i recording.data -S count_words,ma', {'count_words,main', 'count_words,make_text'}, {'count_words,merge'}),
    ('perfile report -i recording.data -d wor', {'workload'}, set()),
    ('perfile script -i recording.data -e cpu', {'cpu-clock'}, set()),
    ('perfile script -i missing.data -e cpu', set(), {'cpu-clock'}),
    ('perfile annotate count_', {'count_words'}, set()),
    ('perfile record -e page-f', {'page-faults'}, set()),
    ('perfile record -e cpu-clock,page-f', {'cpu-clock,page-faults'}, set()),
    ('perfile record -p ', {str(os.getppid())}, set()),
    ('perfile top -u roo', {'root'}, set()),
    ('perfile stat -M page_', {'page_faults_per_second'}, {'insn_per_cycle'}),
    ('perfile dataset sta', {'stats'}, {'profiles'}),
    ('perfile dataset stats prof', {'profiles'}, {'stats'}),
    ('perfile dataset remove profiles --host ', {HOST}, {'profiles', '2026-01-30'}),
    ('perfile dataset remove profiles --before 20', {'2026-01-30'}, {HOST}),
    ('perfile dataset remove profiles --recording ', {ID}, {HOST}),
    ('perfile dataset remove nothing --host ', set(), {HOST}),
    ('perfile stat --metrics insn', {'insn_per_cycle'}, set()),
]
BASH = '''
compopt() { :; }
. ./perfile.bash
for COMP_LINE; do
    COMP_POINT=${#COMP_LINE}
    _perfile perfile "${COMP_LINE##*[ =:]}"
    printf '%s ' "${COMPREPLY[@]}"
    echo
done
'''
FISH = 'source perfile.fish\nfor line in $argv\n    complete -C$line | string replace -r "\\t.*" "" | string join " "\n    or echo\nend\n'


def ask_bash(folder, environment):
    out = subprocess.run(['bash', '-c', BASH, 'bash', *(q[0] for q in QUESTIONS)], cwd=folder, env=environment,
                         stdout=subprocess.PIPE, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    return [set(line.split()) for line in out.split('\n')]


def ask_fish(folder, environment):
    answers = []
    for typed, _, _ in QUESTIONS:
        done = subprocess.run(['fish', '-c', FISH, typed], cwd=folder, env=environment, capture_output=True, text=True,
                              check=True, stdin=subprocess.DEVNULL)
        assert not done.stderr, done.stderr
        answers.append(set(done.stdout.split()))
    return answers


def read_until(control, pattern):
    seen, end = '', time.monotonic() + hermetic.PATIENCE_SECONDS
    while time.monotonic() < end and not re.search(pattern, seen):
        if select.select([control], [], [], 0.1)[0]:
            seen += os.read(control, 65536).decode('utf-8', 'replace')
    return seen


def ask_zsh(folder, environment):
    """zsh completes only for a person at a terminal: ^X asks, and every word that compadd takes in is printed."""
    (folder / '.zshrc').write_text('''
PROMPT='READY> '
autoload -Uz compinit
compinit -u -D
source ./perfile.zsh
compadd() {
    local -a found
    builtin compadd -O found "$@"
    (( $#found )) && print -rl -- ${IPREFIX}${^found} >>answers
    builtin compadd "$@"
}
ask() {
    zle list-choices
    print END >>answers
    BUFFER=''
    zle -I
}
zle -C list-choices list-choices _main_complete
zle -N ask
bindkey '^X' ask
''')
    pid, control = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe('zsh', ['zsh', '-i'], {**environment, 'ZDOTDIR': str(folder), 'TERM': 'dumb', 'COLUMNS': '200'})
    answers = []
    read_until(control, 'READY> ')
    for typed, _, _ in QUESTIONS:
        (folder / 'answers').write_text('')
        os.write(control, b'\x15' + typed.encode() + b'\x18')
        end = time.monotonic() + hermetic.PATIENCE_SECONDS
        while time.monotonic() < end and 'END' not in (folder / 'answers').read_text():
            read = select.select([control], [], [], 0.02)[0] and os.read(control, 65536)
        answers.append(set((folder / 'answers').read_text().split()) - {'END'})
    os.close(control)
    os.waitpid(pid, 0)
    return answers


def leave_out_what_is_not_here(perfile):
    """Events that cannot be opened are not offered, which are all of them in many containers; those may have no list of users, too."""
    listed = subprocess.run([perfile, 'list', 'page-faults'], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    if 'not available' in listed or 'page-faults' not in listed:
        print('skipped: completion of events: none can be opened here')
        QUESTIONS[:] = [question for question in QUESTIONS if ' record -e ' not in question[0]]
    if not any(user.pw_name == 'root' for user in pwd.getpwall()):
        print('skipped: completion of users: there is no list of them')
        QUESTIONS[:] = [question for question in QUESTIONS if ' -u ' not in question[0]]


def main():
    hermetic.settle()
    perfile, source = hermetic.runnable(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    leave_out_what_is_not_here(perfile)
    failed, asked = 0, []
    with tempfile.TemporaryDirectory(prefix='perfile-completion-') as name:
        folder = pathlib.Path(name)
        environment = hermetic.environment(PATH=f'{folder}/bin:/usr/bin:/bin', HOME=name)
        (folder / 'bin').mkdir()
        os.symlink(perfile, folder / 'bin/perfile')
        examples = source / 'examples'
        for path in 'recording.data', 'perf.data':  # with the symbols of its program inside
            subprocess.run([perfile, '-q', 'bundle', '--symfs', examples / 'symfs', '-o', folder / path,
                            examples / 'workload.perf.data'], check=False)
        shutil.copyfile(EXAMPLE, folder / 'day.data')
        os.utime(folder / 'day.data', (1769767200, 1769767200))  # 2026-01-30
        subprocess.run([perfile, '-q', 'export', '--format', 'parquet', '--partition', 'host,date', '-o', 'profiles', 'day.data'], cwd=folder, check=True)
        for shell, ask in {'bash': ask_bash, 'zsh': ask_zsh, 'fish': ask_fish}.items():
            if not shutil.which(shell, path=environment['PATH']):
                print(f'{shell} is not installed')
                continue
            code = subprocess.check_output([perfile, 'completion', shell])
            (folder / f'perfile.{shell}').write_bytes(code)
            asked.append(shell)
            for _ in range(10):  # on a busy machine, what a recording has is not found within the time that there is
                wrong = [(typed, answer, wanted - answer) for (typed, wanted, unwanted), answer in zip(QUESTIONS, ask(folder, environment))
                         if wanted - answer or unwanted & answer]
                if not wrong:
                    break
            failed += len(wrong)
            for typed, answer, missing in wrong:
                print(f'--- {shell}: {typed!r} gives {sorted(answer)[:20]}, not {sorted(missing)}')
    print(f'{len(QUESTIONS)} questions to {", ".join(asked)}, {failed} wrong answers')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
