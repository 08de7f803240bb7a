#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ci.py PERFILE TREE: the steps of doc/ci that compare recordings run, and fail when a function became slower.

The file is parsed as YAML where python3-yaml is installed, else its steps are found by their layout."""
import os, pathlib, re, shutil, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

NEEDED = {'Compare', 'Page', 'Record', 'Build'}
wrong = []


def expect(text, fact):
    if not fact:
        wrong.append(text)
        print(text)


def steps_of(path):
    """The commands of each step by its name."""
    text = path.read_text()
    try:
        import yaml
    except ImportError:
        print('not parsed: python3-yaml is not installed')
        named = re.findall(r'^      - name: (\w+)[^\n]*\n(?:        \w+:[^\n|]*\n)*        run: (?!\|)(.*)$', text, re.M)
        return dict(named)
    document = yaml.safe_load(text)
    job, = document['jobs'].values()
    expect('neither a name nor a trigger', document['name'] and True in document)  # YAML 1.1 reads "on" as true
    expect('a step does nothing', all('uses' in step or 'run' in step for step in job['steps']))
    names = {step['name'].split()[0]: step['run'] for step in job['steps'] if 'name' in step}
    expect(f'steps: {set(names)}', NEEDED <= set(names))
    return names


def run(command, folder):
    return subprocess.run(['bash', '-e', '-c', command], cwd=folder, capture_output=True, text=True)


def check_compare(steps, perfile, tree):
    """Five recordings a side: the same, then such in which only one function was sampled."""
    demo, other = tree / 'examples/demo.perf.data', tree / 'tests/data/two-events.perf.data'
    for after, status in (demo, 0), (other, 1):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / 'perfile').symlink_to(perfile)
            for number in range(1, 6):
                shutil.copy(demo, folder / f'before.{number}.data')
                shutil.copy(after, folder / f'after.{number}.data')
            done = run(steps['Compare'], folder)
            expect(f'Compare: {done.returncode}, not {status}: {done.stdout[-300:]}{done.stderr[-300:]}', done.returncode == status)
            expect('Compare prints nothing', (folder / 'diff.txt').stat().st_size > 0)
            done = run(steps['Page'], folder)
            expect(f'Page: {done.returncode}: {done.stderr}', '<html' in (folder / 'diff.html').read_text()[:500])


def main():
    perfile, tree = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()
    check_compare(steps_of(tree / 'doc/ci/github.yml'), perfile, tree)
    print(f'{len(wrong)} facts are wrong')
    return 1 if wrong else 0


if __name__ == '__main__':
    hermetic.settle()
    hermetic.find_packages()
    sys.exit(main())
