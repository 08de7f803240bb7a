#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers that send too much: debuginfod.py PERFILE ASSEMBLE

A report is made with each of several hostile debuginfod servers on this machine: it is made in time, says why there are no
symbols, and leaves nothing of what came on the disk.
"""
import ctypes
import gzip
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import hermetic

RECORDING = f'''attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 name="cpu-clock"
record COMM pid=7 tid=7 comm="prog" | pid=7 tid=7 time=10
record MMAP2 misc=0x4002 pid=7 tid=7 addr=0x400000 len=0x1000 pgoff=0 build_id_size=20 build_id=hex:{'ab' * 20} prot=5 filename="/no/such" | pid=7 tid=7 time=12
sample misc=2 ip=0x400010 pid=7 tid=7 time=20 period=1
'''
LIMIT, MOST, PIECE = 1 << 20, 512 << 20, bytes(1 << 16)


class Server(http.server.BaseHTTPRequestHandler):
    """What is sent never ends by itself, but for what is packed."""
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.send_response(200)
        for name, value in self.server.fields.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            if self.server.body:
                self.wfile.write(self.server.body)
                return
            for _ in range(MOST // len(PIECE)):
                self.wfile.write(b'%x\r\n%b\r\n' % (len(PIECE), PIECE) if self.server.chunked else PIECE)
                self.server.sent += len(PIECE)
        except OSError:
            pass # the client has hung up

    def log_message(self, *_):
        pass


def serve(fields, body=None):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
    server.fields, server.body, server.sent = fields, body, 0
    server.chunked = 'Transfer-Encoding' in fields
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def largest(folder):
    return max((path.stat().st_size for path in folder.rglob('*') if path.is_file()), default=0)


def main():
    hermetic.settle()
    perfile, assemble = sys.argv[1:]
    try:
        ctypes.CDLL('libdebuginfod.so.1')
    except OSError:
        print('skipped: there is no libdebuginfod')
        sys.exit(77)
    if not hermetic.has_loopback():
        print('skipped: servers of debuginfod: there is no network, not even of this machine')
        sys.exit(77)
    packed = gzip.compress(gzip.compress(bytes(64 << 20)))
    servers = {'without a size': serve({'Connection': 'close'}),
               'in pieces': serve({'Transfer-Encoding': 'chunked'}),
               'as announced': serve({'Content-Length': str(1 << 40)}),
               'packed': serve({'Content-Encoding': 'gzip, gzip', 'Content-Length': str(len(packed))}, packed)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recording = folder / 'perf.data'
        recording.write_bytes(subprocess.check_output([assemble], input=RECORDING.encode()))
        for kind, server in servers.items():
            cache = folder / kind
            # the command ends while a thread of libdebuginfod may still be closing the connection: what it has is not a leak
            environment = {**os.environ, **hermetic.NO_LEAKS, 'HOME': name, 'DEBUGINFOD_CACHE_PATH': str(cache),
                           'no_proxy': '*', 'DEBUGINFOD_URLS': f'http://127.0.0.1:{server.server_port}'}
            command = [perfile, 'report', '--debuginfod-max-size', str(LIMIT), '--format', 'csv', recording]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False)
            wanted = 'what debuginfod sent for '
            if done.returncode or wanted not in done.stderr:
                sys.exit(f'{kind}: exit status {done.returncode}, said {done.stderr!r} instead of {wanted!r}')
            if largest(cache) > LIMIT or server.sent >= MOST:
                sys.exit(f'{kind}: {server.sent} bytes were taken, {largest(cache)} lie in the cache')
    print('servers that send too much do not get far')


if __name__ == '__main__':
    main()
