#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the table of system calls from what a kernel says of itself:

    tools/syscalls.py UAPI TRACEFS src/analysis/events/syscalls/calls.def

UAPI is the folder of a new linux-libc-dev that has the headers of all architectures (/usr/lib/linux/uapi), and TRACEFS the
descriptions of tracepoints of a running x86-64 kernel (/sys/kernel/tracing/events/syscalls). Calls that such a kernel
has not got take their arguments from one that has the same; others have none. KINDS says what flags and the like mean."""

import os
import re
import sys

ARCHITECTURES = {
    'x86_64': ('x86', 'unistd_64.h'),
    'i386': ('x86', 'unistd_32.h'),
    'arm64': ('arm64', 'unistd_64.h'),
    'arm': ('arm', 'unistd-eabi.h'),
    'riscv64': ('riscv', 'unistd_64.h'),
    's390x': ('s390', 'unistd_64.h'),
    'ppc64': ('powerpc', 'unistd_64.h'),
}
# The names of tracepoints that are not those of the calls, and of calls that are the same but for the width of numbers.
SAME = {
    'stat': 'newstat', 'fstat': 'newfstat', 'lstat': 'newlstat', 'uname': 'newuname', 'umount2': 'umount',
    'sendfile': 'sendfile64', 'stat64': 'newstat', 'fstat64': 'newfstat', 'lstat64': 'newlstat',
    'fstatat64': 'newfstatat', 'mmap2': 'mmap', 'fcntl64': 'fcntl', 'truncate64': 'truncate',
    'ftruncate64': 'ftruncate', 'clock_gettime64': 'clock_gettime', 'clock_settime64': 'clock_settime',
    'clock_nanosleep_time64': 'clock_nanosleep', 'clock_getres_time64': 'clock_getres', 'futex_time64': 'futex',
    'ppoll_time64': 'ppoll', 'pselect6_time64': 'pselect6', 'recvmmsg_time64': 'recvmmsg',
    'semtimedop_time64': 'semtimedop', 'utimensat_time64': 'utimensat', 'timer_gettime64': 'timer_gettime',
    'timer_settime64': 'timer_settime', 'timerfd_gettime64': 'timerfd_gettime',
    'timerfd_settime64': 'timerfd_settime', 'mq_timedsend_time64': 'mq_timedsend',
    'mq_timedreceive_time64': 'mq_timedreceive', 'rt_sigtimedwait_time64': 'rt_sigtimedwait',
    'sched_rr_get_interval_time64': 'sched_rr_get_interval', '_newselect': 'select', 'waitpid': 'wait4',
    'sync_file_range2': 'sync_file_range', 'send': 'sendto', 'recv': 'recvfrom', 'ugetrlimit': 'getrlimit',
    '_llseek': 'lseek', 'madvise1': 'madvise', 'arm_fadvise64_64': 'fadvise64', 'fadvise64_64': 'fadvise64',
    'riscv_flush_icache': None, 'setuid32': 'setuid', 'setgid32': 'setgid', 'chown32': 'chown', 'fchown32': 'fchown',
    'lchown32': 'lchown', 'arm_sync_file_range': 'sync_file_range', 'io_pgetevents_time64': 'io_pgetevents',
    'clock_adjtime64': 'clock_adjtime',
}
PASSED = {
    'set_robust_list': ['head:ptr', 'len:u64'],
    '_llseek': ['fd:fd', 'offset_high:u64', 'offset_low:u64', 'result:ptr', 'whence:whence'],
    'mmap2': ['addr:hex', 'len:u64', 'prot:prot', 'flags:mmap', 'fd:fd', 'pgoff:hex'],
    'waitpid': ['pid:pid', 'stat_addr:ptr', 'options:wait'],
    'sigaction': ['sig:signal', 'act:ptr', 'oact:ptr'],
    'sigreturn': [], 'rt_sigreturn': [], 'restart_syscall': [],
    'fork': [], 'vfork': [],
    'nice': ['increment:i32'],
    'readdir': ['fd:fd', 'dirent:ptr', 'count:u32'],
    'socketcall': ['call:i32', 'args:ptr'],
    'ipc': ['call:u32', 'first:i32', 'second:u64', 'third:u64', 'ptr:ptr', 'fifth:i64'],
    'cacheflush': ['start:hex', 'end:hex', 'flags:hex'],
    'riscv_flush_icache': ['start:hex', 'end:hex', 'flags:hex'],
    'riscv_hwprobe': ['pairs:ptr', 'pair_count:u64', 'cpusetsize:u64', 'cpus:ptr', 'flags:hex'],
    'statfs64': ['pathname:text', 'sz:u64', 'buf:ptr'], 'fstatfs64': ['fd:fd', 'sz:u64', 'buf:ptr'],
    'init_module': ['umod:ptr', 'len:u64', 'uargs:text'], 'finit_module': ['fd:fd', 'uargs:text', 'flags:hex'],
    'delete_module': ['name_user:text', 'flags:open'],
    'set_thread_area': ['u_info:ptr'], 'get_thread_area': ['u_info:ptr'],
    'signal': ['sig:signal', 'handler:ptr'], 'sigprocmask': ['how:sigmask', 'nset:ptr', 'oset:ptr'],
    'sigpending': ['uset:ptr'], 'map_shadow_stack': ['addr:hex', 'size:u64', 'flags:hex'],
    'set_tls': ['tp:hex'], 'get_tls': [],
}
# CALL.ARGUMENT or ARGUMENT: what its value means.
KINDS = {
    'open.flags': 'open', 'openat.flags': 'open', 'pipe2.flags': 'open', 'dup3.flags': 'open',
    'epoll_create1.flags': 'open', 'eventfd2.flags': 'open', 'timerfd_create.flags': 'open',
    'signalfd4.flags': 'open', 'inotify_init1.flags': 'open', 'userfaultfd.flags': 'open',
    'mmap.prot': 'prot', 'mprotect.prot': 'prot', 'pkey_mprotect.prot': 'prot', 'mmap.flags': 'mmap',
    'mmap.fd': 'fd', 'mmap.off': 'hex', 'mremap.flags': 'mremap', 'madvise.behavior': 'madvise',
    'process_madvise.behavior': 'madvise', 'msync.flags': 'msync',
    'access.mode': 'access', 'faccessat.mode': 'access', 'faccessat2.mode': 'access', 'whence': 'whence',
    'faccessat2.flags': 'at', 'newfstatat.flag': 'at', 'statx.flags': 'at', 'unlinkat.flag': 'at',
    'linkat.flags': 'at', 'fchownat.flag': 'at', 'utimensat.flags': 'at', 'execveat.flags': 'at',
    'name_to_handle_at.flag': 'at', 'fchmodat2.flags': 'at',
    'sig': 'signal', 'rt_sigprocmask.how': 'sigmask', 'clockid': 'clock', 'which_clock': 'clock',
    'futex.op': 'futex', 'socket.family': 'family', 'socketpair.family': 'family', 'socket.type': 'socktype',
    'socketpair.type': 'socktype', 'sendto.flags': 'msg', 'recvfrom.flags': 'msg', 'sendmsg.flags': 'msg',
    'recvmsg.flags': 'msg', 'sendmmsg.flags': 'msg', 'recvmmsg.flags': 'msg', 'accept4.flags': 'socktype',
    'landlock_add_rule.rule_type': 'landlock_rule', 'landlock_add_rule.flags': 'u32',
    'shutdown.how': 'shutdown', 'fcntl.cmd': 'fcntl', 'ioctl.cmd': 'ioctl', 'ioctl.arg': 'hex', 'fcntl.arg': 'hex',
    'epoll_ctl.op': 'epoll', 'clone.clone_flags': 'clone', 'unshare.unshare_flags': 'clone',
    'setns.flags': 'clone', 'wait4.options': 'wait', 'waitid.options': 'wait', 'getrandom.flags': 'random',
    'resource': 'rlimit', 'prctl.option': 'prctl', 'arch_prctl.option': 'arch_prctl', 'flock.cmd': 'flock',
    'seccomp.op': 'seccomp', 'clock_nanosleep.flags': 'timer', 'timer_settime.flags': 'timer',
    'timerfd_settime.flags': 'timer', 'rename.flags': 'rename', 'renameat2.flags': 'rename',
    'getrusage.who': 'who', 'fallocate.mode': 'fallocate', 'memfd_create.flags': 'memfd',
    'mlockall.flags': 'mlockall', 'setpriority.which': 'priority', 'getpriority.which': 'priority',
    'membarrier.cmd': 'membarrier', 'splice.flags': 'splice', 'tee.flags': 'splice', 'vmsplice.flags': 'splice',
    'preadv2.flags': 'rwf', 'pwritev2.flags': 'rwf', 'bpf.cmd': 'bpf', 'mount.flags': 'mount',
    'umount.flags': 'umount', 'setitimer.which': 'itimer', 'getitimer.which': 'itimer',
    'poll.timeout_msecs': 'i32', 'umask.mask': 'mode', 'close_range.flags': 'close_range',
    'sched_setscheduler.policy': 'policy', 'mknod.dev': 'hex', 'mknodat.dev': 'hex', 'fd': 'fd', 'dfd': 'dirfd',
    'statx.mask': 'hex', 'perf_event_open.flags': 'hex', 'perf_event_open.group_fd': 'fd',
    'getxattr.size': 'u64', 'upid': 'pid', 'rseq.sig': 'u32', 'write.buf': 'ptr', 'pwrite64.buf': 'ptr',
}
HEX = {'addr', 'start', 'brk', 'vaddr', 'new_addr', 'old_addr', 'newsp', 'tls', 'shmaddr', 'pgoff', 'off', 'data',
       'arg', 'arg2', 'arg3', 'arg4', 'arg5', 'mask', 'flags', 'ctx_id', 'ctx', 'magic1', 'magic2'}
DIRFDS = {'dfd', 'olddfd', 'newdfd', 'from_dfd', 'to_dfd', 'dirfd'}
FDS = {'fd', 'oldfd', 'newfd', 'fildes', 'fildes1', 'fildes2', 'epfd', 'fd_in', 'fd_out', 'fdin', 'fdout', 'in_fd',
       'out_fd', 'ufd', 'mqdes', 'fs_fd', 'pidfd', 'ruleset_fd', 'fanotify_fd', 'group_fd', 'uffd', 'kernel_fd',
       'initrd_fd'}
TYPES = {'size_t': 'u64', 'pid_t': 'pid', 'umode_t': 'mode', 'loff_t': 'i64', 'long': 'i64', 'int': 'i32',
         'unsigned int': 'u32', 'u32': 'u32', '__u32': 'u32', 'unsigned': 'u32', 'uid_t': 'u32', 'gid_t': 'u32',
         'off_t': 'i64', 'clockid_t': 'clock', 'timer_t': 'i32', 'key_t': 'hex', 'mqd_t': 'fd', 'qid_t': 'u32',
         'key_serial_t': 'i32', 'rwf_t': 'rwf', 'unsigned long': 'u64', 'u64': 'u64', '__u64': 'u64', '__s32': 'i32'}
RETURNS = {
    'fd': 'open openat openat2 creat socket accept accept4 dup dup2 dup3 epoll_create epoll_create1 eventfd eventfd2 '
          'timerfd_create signalfd signalfd4 inotify_init inotify_init1 memfd_create memfd_secret pidfd_open '
          'pidfd_getfd perf_event_open userfaultfd fanotify_init open_by_handle_at fsopen fsmount fspick open_tree '
          'mq_open io_uring_setup landlock_create_ruleset',
    'hex': 'mmap mmap2 brk mremap shmat',
    'pid': 'clone clone3 fork vfork getpid gettid getppid set_tid_address wait4 waitpid waitid getpgid getpgrp getsid '
           'setsid',
    'timeout': 'poll ppoll ppoll_time64 select pselect6 pselect6_time64 _newselect epoll_wait epoll_pwait epoll_pwait2',
}


def numbers(path):
    found = {}
    for line in open(path):
        hit = re.match(r'#define __NR_(\w+)\s+\(?(?:__NR_SYSCALL_BASE \+ )?(\d+)\)?\s*$', line)
        if hit and hit[1] != 'syscalls':
            found[int(hit[2])] = hit[1]
    return found


def kind_of(call, name, type):
    known = KINDS.get(call + '.' + name)
    if known:
        return known
    if type.endswith('*'):
        return 'text' if type.replace('const ', '') == 'char *' and 'const' in type else 'ptr'
    if name in DIRFDS:
        return 'dirfd'
    if name in FDS:
        return 'fd'
    if name in KINDS:
        return KINDS[name]
    if name in HEX and ('long' in type or name in ('flags', 'mask')):
        return 'hex'
    return TYPES.get(type, 'hex')


def arguments(tracefs, call, as_call):
    path = os.path.join(tracefs, 'sys_enter_' + as_call, 'format')
    if call in PASSED:
        return PASSED[call]
    if not os.path.exists(path):
        return None
    fields = [field.split(';')[0] for field in open(path).read().split('field:')[1:]]
    pairs = [re.match(r'(.*?)\s*(\w+)$', field).groups() for field in fields if ' common_' not in field]
    return [f'{name}:{kind_of(as_call, name, type)}' for type, name in pairs
            if name != '__syscall_nr' and not re.match(r'__.*_val$', name)]


def call_line(tracefs, call, tables):
    listed = arguments(tracefs, call, SAME.get(call) or (call[:-2] if call.endswith('32') else call))
    supplied = [kind for kind, calls in RETURNS.items() if call in calls.split()]
    words = ['ARG({}, {})'.format(*argument.split(':')) for argument in listed or []]
    has = ', '.join(str({name: number for number, name in table.items()}.get(call, -1)) for table in tables.values())
    text = f'CALL({call}, {has}, {supplied[0].upper() if supplied else "NUMBER"},'
    for word in words or ['NONE' if listed == [] else 'UNKNOWN']:
        text += (' ' if len(text.split('\n')[-1]) + len(word) < 118 else '\n     ') + word
    return text + ')'


DOC = '''/* SPDX-License-Identifier: MIT */
/*
 * All system calls: CALL(name, its number on {machines}, RESULT, arguments), each
 * argument as ARG(name, kind), without commas between them. -1: the machine does not have the call. NONE: it has no
 * arguments; UNKNOWN: they are not known. Made by tools/syscalls.py.
 */
'''


def main():
    uapi, tracefs, path = sys.argv[1:]
    tables = {name: numbers(os.path.join(uapi, location, 'asm', file)) for name, (location, file) in ARCHITECTURES.items()}
    tables['arm'].update({0xf0001: 'breakpoint', 0xf0002: 'cacheflush', 0xf0003: 'usr26', 0xf0004: 'usr32',
                          0xf0005: 'set_tls', 0xf0006: 'get_tls'})
    calls = sorted({call for table in tables.values() for call in table.values()})
    with open(path, 'w') as out:
        out.write(DOC.format(machines=', '.join(tables)))
        out.writelines(call_line(tracefs, call, tables) + '\n' for call in calls)


main()
