# SPDX-License-Identifier: MIT
"""Where the programs of the examples use a function of the library."""
import pathlib, re

FEW = 24  # lines: a function that is longer is shown in part


class Uses:
    def __init__(self, folder):
        self.programs = {path.name: path.read_text(encoding='utf-8').split('\n') for path in sorted(pathlib.Path(folder).glob('*.c'))}

    def of(self, names):
        """(path, lines) of the first use of one of the functions, or None."""
        for name in names:
            for path, lines in self.programs.items():
                for at, line in enumerate(lines):
                    if re.search(rf'\b{name}\(', line) and line.startswith(' ') and not line.lstrip().startswith(('*', '/*')):
                        return f'examples/{path}', '\n'.join(self.around(lines, at))
        return None

    def around(self, lines, at):
        """The function that has the line, or a part of it."""
        first, last = at, at
        while first > 0 and not lines[first].startswith('{'):
            first -= 1
        first -= 1
        while last + 1 < len(lines) and lines[last] != '}':
            last += 1
        if last - first < FEW:
            return lines[first:last + 1]
        return [line[4:] if line.startswith('    ') else line for line in lines[max(first, at - 4):min(last, at + 5)]]
