#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""letters.py PERFILE: a letter means what it means in perf's verb of the same name, or is refused with what to do instead."""
import json, pathlib, re, subprocess, sys, tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

PERFILE = hermetic.runnable(sys.argv[1])
# Of perf 7.2, by verb and view: what the letters are short for.
PERF = {
    'annotate': 'C=cpu d=dsos D=dump-raw-trace f=force i=input k=vmlinux l=print-line M=disassembler-style m=modules n=show-nr-samples P=full-paths q=quiet s=symbol v=verbose',
    'buildid-cache': 'a=add f=force k=kcore l=list M=missing p=purge P=purge-all r=remove u=update v=verbose',
    'buildid-list': 'f=force H=with-hits i=input k=kernel m=kernel-maps v=verbose',
    'c2c report': 'c=coalesce d=display f=force g=call-graph i=input k=vmlinux M=disassembler-style N=node-info v=verbose',
    'data convert': 'f=force i=input v=verbose',
    'diff': 'b=baseline-only C=comms c=compute d=dsos D=dump-raw-trace f=force F=formula m=modules o=order p=period q=quiet s=sort S=symbols t=field-separator v=verbose',
    'evlist': 'f=force F=freq g=group i=input v=verbose',
    'inject': 'b=build-ids B=mmap2-buildids f=force i=input j=jit k=vmlinux o=output s=sched-stat v=verbose',
    'kallsyms': 'v=verbose',
    'kmem': 'f=force i=input l=line s=sort v=verbose',
    'kwork report': 'C=cpu D=dump-raw-trace f=force i=input k=kwork n=name s=sort S=with-summary v=verbose',
    'kwork latency': 'C=cpu D=dump-raw-trace f=force i=input k=kwork n=name s=sort v=verbose',
    'kwork timehist': 'C=cpu D=dump-raw-trace f=force g=call-graph i=input k=vmlinux n=name v=verbose',
    'kwork top': 'C=cpu D=dump-raw-trace f=force i=input k=kwork n=name s=sort v=verbose',
    'list': 'd=desc j=json o=output v=long-desc',
    'lock report': 'c=combine-locks D=dump-raw-trace E=entries F=field f=force i=input k=key q=quiet t=threads v=verbose',
    'lock contention': 'a=all-cpus b=use-bpf C=cpu D=dump-raw-trace E=entries F=field f=force G=cgroup-filter i=input J=inject-delay k=key l=lock-addr L=lock-filter M=map-nr-entries o=lock-owner p=pid q=quiet S=callstack-filter t=threads v=verbose x=field-separator Y=type-filter',
    'mem report': 'C=cpu D=dump-raw-samples f=force i=input p=phys-data s=sort t=type T=type-profile U=hide-unresolved v=verbose x=field-separator',
    'probe': 'a=add d=del D=definition f=force F=funcs k=vmlinux L=line l=list m=module n=dry-run q=quiet s=source v=verbose V=vars x=exec',
    'record': 'a=all-cpus b=branch-any B=no-buildid c=count C=cpu d=data D=delay e=event F=freq g=call-graph G=cgroup I=intr-regs i=no-inherit j=branch-filter k=clockid m=mmap-pages N=no-buildid-cache n=no-samples o=output P=period p=pid q=quiet R=raw-samples r=realtime S=snapshot s=stat t=tid T=timestamp u=uid v=verbose W=weight z=compression-level',
    'report': 'b=branch-stack c=comms C=cpu d=dsos D=dump-raw-trace F=fields f=force g=call-graph G=inverted H=hierarchy i=input I=show-info k=vmlinux M=disassembler-style m=modules n=show-nr-samples p=parent q=quiet s=sort S=symbols t=field-separator T=threads U=hide-unresolved v=verbose w=column-widths x=exclude-other',
    'sched latency': 'C=CPU D=dump-raw-trace f=force i=input p=pids s=sort v=verbose',
    'sched map': 'D=dump-raw-trace f=force i=input v=verbose',
    'sched timehist': 'C=cpu D=dump-raw-trace f=force g=call-graph I=idle-hist i=input k=vmlinux M=migrations n=next p=pid P=pre-migrations s=summary S=with-summary t=tid V=cpu-visual v=verbose w=wakeups',
    'script': 'a=all-cpus c=comms C=cpu d=debug-mode D=dump-raw-trace F=fields f=force g=gen-script G=hide-call-graph i=input I=show-info k=vmlinux L=Latency l=list s=script S=symbols v=verbose',
    'stat': 'a=all-cpus A=no-aggr B=big-num C=cpu D=delay d=detailed e=event G=cgroup I=interval-print i=no-inherit j=json-output M=metrics n=null o=output p=pid r=repeat S=sync t=tid T=transaction v=verbose x=field-separator',
    'stat record': 'a=all-cpus A=no-aggr B=big-num C=cpu D=delay d=detailed e=event G=cgroup I=interval-print i=no-inherit j=json-output M=metrics n=null o=output p=pid r=repeat S=sync t=tid T=transaction v=verbose x=field-separator',
    'stat report': 'A=no-aggr i=input',
    'top': 'a=all-cpus b=branch-any c=count C=cpu d=delay D=dump-symtab E=entries e=event f=count-filter F=freq g=call-graph G=cgroup H=hierarchy i=no-inherit j=branch-filter K=hide_kernel_symbols k=vmlinux M=disassembler-style m=mmap-pages n=show-nr-samples p=pid r=realtime s=sort t=tid U=hide_user_symbols u=uid v=verbose w=column-widths z=zero',
    'trace': 'a=all-cpus C=cpu D=delay e=event f=force F=pf G=cgroup i=input m=mmap-pages o=output p=pid s=summary S=with-summary t=tid T=time u=uid v=verbose',
    'mem record': 'K=all-kernel U=all-user',
    'c2c record': 'k=all-kernel u=all-user',
}
# Other names that mean the same.
SAME = {
    ('list', 'v'): 'verbose',  # long descriptions are printed anyway
    ('record', 'g'): 'stack-frames',
    ('sched latency', 'C'): 'cpu',
    ('sched latency', 's'): 'summary',  # of latency it has a value, the columns to sort by: cases/sched.case
    ('sched timehist', 'p'): 'pids',  # of timehist it has a value, the processes: cases/sched.case
    ('stat report', 'i'): 'no-inherit',  # of report nothing is inherited, and the file is an operand
    ('top', 'E'): 'top',
    ('top', 'g'): 'stack-frames',
    ('trace', 'T'): 'time-of-day',
    ('trace', 'e'): 'expr',
}
# Its values are not those of perf's option, and others are refused.
REFUSED_VALUES = {('kwork timehist', 'k'): 'vmlinux'}


def perfile(*arguments):
    return subprocess.run([PERFILE, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def own_letters():
    verbs = json.loads(perfile('help', '--json').stdout)['verbs']
    return {verb['name']: {option['short'][1]: option['name'][2:] for option in verb['options'] if 'short' in option}
            for verb in verbs}


def is_refused_with_advice(verb, letter):
    """Or accepted for compatibility: then it is the next option that is refused."""
    done = perfile(verb, f'-{letter}', '1', '--nosuch')
    advice = re.search(rf'unknown option -{letter}(; instead: |: )\w*.', done.stderr)
    return done.returncode == 2 and (advice or 'unknown option --nosuch' in done.stderr)


def check(view, letters, own):
    for letter, name in (pair.split('=') for pair in letters.split()):
        verb = view.split()[0]
        if (view, letter) in REFUSED_VALUES:
            done = perfile(*view.split(), f'-{letter}', REFUSED_VALUES[view, letter])
            assert done.returncode == 2 and 'invalid value' in done.stderr, (view, letter, done)
        elif view in ('mem record', 'c2c record'):
            done = perfile(*view.split(), '--help', '--all')
            assert re.search(rf'-{letter}, --{name}\b', done.stdout), (view, letter, done)
        elif letter in own[verb]:
            assert own[verb][letter] == SAME.get((view, letter), name), (view, letter, name, own[verb][letter])
        else:
            assert is_refused_with_advice(verb, letter), (view, letter, name)


def main():
    hermetic.settle()
    own = own_letters()
    for view, letters in PERF.items():
        check(view, letters, own)
    print(f'{sum(len(letters.split()) for letters in PERF.values())} letters of {len(PERF)} verbs and views')


main()
