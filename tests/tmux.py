# SPDX-License-Identifier: MIT
"""A terminal that is not ours: a window of tmux, whose screen can be read and whose keys can be pressed."""
import atexit
import functools
import itertools
import os
import shutil
import subprocess
import tempfile

import hermetic


def quoted(word):
    return "'" + str(word).replace("'", r"'\''") + "'"


@functools.cache
def socket_folder(folder):
    """The folder, or a shorter one where the path of a socket in it would be longer than the 107 bytes that it may have."""
    if len(os.fsencode(folder)) < 90:
        return str(folder)
    other = tempfile.mkdtemp(prefix='perfile-', dir='/tmp')
    atexit.register(shutil.rmtree, other, ignore_errors=True)
    return other


class Window:
    """The only one of a server of its own. A client in control mode stays and is asked: to start one takes longer than to answer.

    Each window has a socket of its own: a server that was asked to end still answers at its socket for a moment.
    """

    count = itertools.count()

    def __init__(self, folder, columns, rows, command, **environment):
        words = ['tmux', '-S', os.path.join(socket_folder(folder), f'socket-{next(self.count)}'), '-f', '/dev/null']
        settings = hermetic.environment(TERM='screen-256color', HOME=str(folder), SHELL='/bin/sh', **hermetic.NO_LEAKS, **environment)
        subprocess.run([*words, 'new-session', '-d', '-x', str(columns), '-y', str(rows), command], env=settings, check=True)
        # what happens in the window comes in pieces that end anywhere, also within a character: only answers are all
        self.client = subprocess.Popen([*words, '-C', 'attach'], env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       encoding='utf-8', errors='replace')
        self.answer()

    def answer(self):
        """What the last command printed. Lines before it say what happens in the window."""
        begin, lines = '', []
        while not begin.startswith('%begin '):
            begin = self.line()
        mark = begin.split()[1:]
        while True:
            line = self.line()
            if line.startswith(('%end ', '%error ')) and line.split()[1:] == mark:
                if line.startswith('%error '):
                    raise RuntimeError(''.join(lines))
                return ''.join(lines)
            lines.append(line)

    def line(self):
        line = self.client.stdout.readline()
        if not line:
            raise RuntimeError(f'tmux ended with {self.client.wait()}')
        return line

    def tmux(self, *words):
        self.client.stdin.write(' '.join(map(quoted, words)) + '\n')
        self.client.stdin.flush()
        return self.answer()

    def close(self):
        """Ends the server, and what runs in the window."""
        self.client.stdin.write('kill-server\n')
        self.client.communicate(timeout=60)
