#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion.py PERFILE: what bash, zsh and fish complete, asked of the shells that are installed."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

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
]
BASH = '''
compopt() { :; }
. ./perfile.bash
for line; do
    read -ra COMP_WORDS <<<"$line"
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _perfile perfile "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
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
        out = subprocess.run(['fish', '-c', FISH, typed], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
                             check=True, stdin=subprocess.DEVNULL).stdout
        answers.append(set(out.split()))
    return answers


def read_until(control, pattern):
    seen, end = '', time.monotonic() + 20
    while time.monotonic() < end and not re.search(pattern, seen):
        if select.select([control], [], [], 0.1)[0]:
            seen += os.read(control, 65536).decode('utf-8', 'replace')
    return seen


def ask_zsh(folder, environment):
    """zsh completes only for somebody who types: ^X asks, and every word that compadd takes in is printed."""
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
        end = time.monotonic() + 20
        while time.monotonic() < end and 'END' not in (folder / 'answers').read_text():
            read = select.select([control], [], [], 0.02)[0] and os.read(control, 65536)
        answers.append(set((folder / 'answers').read_text().split()) - {'END'})
    os.close(control)
    os.waitpid(pid, 0)
    return answers


def main():
    hermetic.settle()
    perfile = pathlib.Path(sys.argv[1]).resolve()
    wrapper = os.environ.get('MESON_EXE_WRAPPER', '').split()
    failed, asked = 0, []
    with tempfile.TemporaryDirectory(prefix='perfile-completion-') as name:
        folder = pathlib.Path(name)
        environment = hermetic.environment(PATH='/usr/bin:/bin', HOME=name)
        (folder / 'recording.data').write_text('')
        for shell, ask in {'bash': ask_bash, 'zsh': ask_zsh, 'fish': ask_fish}.items():
            if not shutil.which(shell, path=environment['PATH']):
                print(f'{shell} is not installed')
                continue
            code = subprocess.check_output([*wrapper, perfile, 'completion', shell])
            (folder / f'perfile.{shell}').write_bytes(code)
            asked.append(shell)
            for (typed, wanted, unwanted), answer in zip(QUESTIONS, ask(folder, environment)):
                if wanted - answer or unwanted & answer:
                    failed += 1
                    print(f'--- {shell}: {typed!r} gives {sorted(answer)[:20]}, not {sorted(wanted - answer)}')
    print(f'{len(QUESTIONS)} questions to {", ".join(asked)}, {failed} wrong answers')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
