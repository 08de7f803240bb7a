# SPDX-License-Identifier: MIT
"""The command for tests that run it hundreds of times: loaded once, and forked for each run. It takes much longer to load it than
to run it with a small recording. See served.c, which PERFILE_SERVED names; without it the command is started for each run."""
import atexit, os, pty, select, signal, subprocess, threading

import hermetic

SECONDS = 60  # by default
PIECE = 1 << 16
MARK = b'\0end of a run\0'
servers = {}  # of each thread, program, environment and so on


class Server:
    """One command that is loaded and waits. Its outputs are two pipes, only the second one, or one terminal."""

    def __init__(self, program, environment=None, folder=None, seconds=SECONDS, kind='pipes'):
        asked, self.requests = os.pipe()
        answers, heard = os.pipe()
        control, self.terminal = pty.openpty() if kind == 'terminal' else (None, None)
        out, err = {'pipes': [subprocess.PIPE] * 2, 'silent': [subprocess.DEVNULL, subprocess.PIPE], 'terminal': [self.terminal] * 2}[kind]
        # a path that is preloaded must have no spaces
        shim = os.open(os.environ['PERFILE_SERVED'], os.O_RDONLY)
        added = {**hermetic.preloaded(f'/proc/self/fd/{shim}'), 'SERVED': f'{asked},{heard},{int(seconds)}'}
        self.process = subprocess.Popen([program], pass_fds=[asked, heard, shim], env={**(environment or os.environ), **added}, cwd=folder,
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=err, bufsize=0)
        for descriptor in asked, heard, shim:
            os.close(descriptor)
        self.answers = open(answers, 'rb', buffering=0)
        files = [open(control, 'rb', buffering=0)] if control else [self.process.stdout, self.process.stderr]
        self.outputs = [file for file in files if file]
        for file in self.outputs:
            os.set_blocking(file.fileno(), False)

    def run(self, words):
        """Exit status as of subprocess (a run that takes too long: -SIGALRM), the peak of its memory in bytes, and its outputs."""
        text = b''.join(os.fsencode(word) + b'\0' for word in words)
        request = b'%d\n%b' % (len(text), text)
        while request:
            request = request[os.write(self.requests, request):]
        got, answer = {file: bytearray() for file in self.outputs}, b''
        while not answer.endswith(b'\n'):
            for file in select.select([*self.outputs, self.answers], [], [])[0]:
                if file is self.answers:
                    answer += file.read(64)
                    if not answer:
                        raise RuntimeError(f'the served command ended with {self.process.wait()}')
                else:
                    got[file] += file.read(PIECE) or b''
        for file in self.outputs:
            got[file] = self.rest(file, got[file])
        status, peak = map(int, answer.split())
        return status, peak << 10, *map(bytes, got.values())

    def rest(self, file, got):
        """What is there of a run that is over. A terminal hands it on later than a pipe, but in order."""
        if self.terminal:
            os.write(self.terminal, MARK)
            while not got.endswith(MARK):
                select.select([file], [], [])
                got += file.read(PIECE) or b''
            return got[:-len(MARK)]
        while piece := file.read(PIECE):
            got += piece
        return got

    def close(self):
        os.close(self.requests)
        for file in [*self.outputs, self.answers]:
            file.close()
        return self.process.wait()


def server_of(program, **how):
    """None where there is none."""
    if not os.environ.get('PERFILE_SERVED'):
        return None
    environment = how.get('environment') or os.environ
    key = threading.get_ident(), str(program), tuple(sorted(environment.items())), *sorted((name, str(value)) for name, value in how.items()
                                                                                         if name != 'environment')
    if key not in servers:
        servers[key] = Server(program, **how)
    return servers[key]


def run(command, env=None, cwd=None, timeout=SECONDS, text=False, check=False):
    """As subprocess.run() with capture_output and without an input."""
    server = server_of(command[0], environment=env, folder=cwd, seconds=timeout)
    if not server:
        return subprocess.run(command, env=env, cwd=cwd, timeout=timeout, text=text, check=check, stdin=subprocess.DEVNULL,
                              capture_output=True)
    status, _, *outputs = server.run(command[1:])
    if status == -signal.SIGALRM:
        raise subprocess.TimeoutExpired(command, timeout, *outputs)
    done = subprocess.CompletedProcess(command, status, *((output.decode() for output in outputs) if text else outputs))
    if check:
        done.check_returncode()
    return done


@atexit.register
def close():
    while servers:
        servers.popitem()[1].close()
