# SPDX-License-Identifier: MIT
"""What programs write to a terminal that a test has made for them."""
import os
import re
import select
import time


def pieces(control, seconds):
    """What comes, piece by piece, until the program closes the terminal; TimeoutError after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([control], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(control, 65536)
        except OSError:
            return
        if not piece:
            return
        yield piece
    raise TimeoutError(f'the program still ran after {seconds} seconds')


def without_bar(text):
    """The bytes of a terminal without the bar of progress, which slow machines show."""
    return re.sub(rb'(?:\r[^\r\n\x1b]*)+\x1b\[K', b'', text)
