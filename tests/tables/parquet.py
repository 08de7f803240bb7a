# SPDX-License-Identifier: MIT
"""Reads Parquet as its specification has it, as far as perfile writes it, and says what contradicts itself."""
import struct, subprocess

TYPES = {0: 'boolean', 1: 'int32', 2: 'int64', 5: 'double', 6: 'text'}
PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8


class Wrong(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Wrong(text)


# ---- Thrift's compact protocol

class Thrift:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            require(self.at <= len(self.data), 'a text ends behind the file')
            return bytes(self.data[self.at - size:self.at])
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        require(kind == 12, f'unknown Thrift type {kind}')
        return self.struct()

    def struct(self):
        members, last = {}, 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            require(last not in members, f'member {last} stands twice')
            members[last] = self.value(head & 15)
        return members


# ---- encodings

def bits(data, at, count, width):
    """Numbers of so many bits, and where they end."""
    size = (count * width + 7) // 8
    require(at + size <= len(data), 'packed numbers end behind their page')
    all, mask = int.from_bytes(data[at:at + size], 'little'), (1 << width) - 1
    if count * width > 4096:  # long numbers shift slowly
        numbers, step = [], 64
        for first in range(0, count, step):
            some = min(step, count - first)
            numbers += bits(data[at + first * width // 8:at + first * width // 8 + (some * width + 7) // 8], 0, some, width)[0]
        return numbers, at + size
    return [all >> width * i & mask for i in range(count)], at + size


def runs(data, at, end, count, width):
    numbers, thrift = [], Thrift(data, at)
    while len(numbers) < count:
        require(thrift.at < end, 'runs end too early')
        head = thrift.varint()
        if head & 1:
            some, thrift.at = bits(data, thrift.at, (head >> 1) * 8, width)
            numbers += some
        else:
            size = (width + 7) // 8
            number = int.from_bytes(data[thrift.at:thrift.at + size], 'little')
            require(number < 1 << width, 'a run has a number that is too large')
            numbers += [number] * (head >> 1)
            thrift.at += size
    require(len(numbers) - count < 8, 'runs are longer than they say')
    require(thrift.at == end, 'something stands behind the runs')
    return numbers[:count]


def signed(number):
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def deltas(data, at):
    thrift = Thrift(data, at)
    block, parts, count, value = thrift.varint(), thrift.varint(), thrift.varint(), thrift.zigzag()
    require(block % 128 == 0 and block // parts % 32 == 0, 'blocks of deltas have no size that is allowed')
    numbers = [value][:count]
    while len(numbers) < count:
        least, widths = thrift.zigzag(), [thrift.byte() for _ in range(parts)]
        for width in widths:
            if len(numbers) == count:
                break
            some, thrift.at = bits(data, thrift.at, block // parts, width)
            for number in some[:count - len(numbers)]:
                value = signed(value + least + number)
                numbers.append(value)
    require(thrift.at == len(data), 'something stands behind the deltas')
    return numbers


def plain(data, at, count, type):
    if type == 'boolean':
        return [bool(bit) for bit in bits(data, at, count, 1)[0]]
    if type == 'text':
        values = []
        for _ in range(count):
            size, = struct.unpack_from('<I', data, at)
            values.append(bytes(data[at + 4:at + 4 + size]))
            require(len(values[-1]) == size, 'a text ends behind its page')
            at += 4 + size
    else:
        form, size = {'int32': ('i', 4), 'int64': ('q', 8), 'double': ('d', 8)}[type]
        values, at = list(struct.unpack_from(f'<{count}{form}', data, at)), at + count * size
    require(at == len(data), 'something stands behind the values')
    return values


# ---- columns

class Column:
    def __init__(self, name, optional, is_list, element):
        self.name, self.optional, self.is_list = name, optional, is_list
        self.type = TYPES[element[1]]
        self.converted, self.logical = element.get(6), element.get(10)
        if self.type == 'text':
            require(self.converted == 0 and self.logical == {1: {}}, f'{name}: a byte array that is no text')
        self.is_time = self.logical == {8: {1: True, 2: {2: {}}}}
        require(self.is_time == (self.converted == 10), f'{name}: old and new readers see other types')
        self.most = optional + is_list


def schema(elements):
    """The columns of a table; lists have three levels."""
    root, elements = elements[0], iter(elements[1:])
    columns = []
    for element in elements:
        name, optional, is_list = element[4].decode(), element[3] == 1, 5 in element
        if is_list:
            require(element[6] == 3 and element[10] == {3: {}}, f'{name}: no list')
            middle, element = next(elements), next(elements)
            require((middle[3], middle[4], middle[5]) == (2, b'list', 1), f'{name}: its middle is no list')
            require((element[3], element[4]) == (0, b'element'), f'{name}: its items may be null')
        columns.append(Column(name, optional, is_list, element))
    require(len(columns) == root[5], 'the root has another number of columns')
    names = [column.name for column in columns]
    require(len(set(names)) == len(names), 'a name stands twice')
    return columns


class Page:
    def __init__(self, header, data, size):
        self.header, self.data, self.size, self.plain = header, data, size, None


def pages_of(data, chunk):
    meta = chunk[3]
    at = meta.get(11, meta[9])
    end, raw, pages = at + meta[7], 0, []
    require(11 not in meta or meta[11] < meta[9], 'the dictionary stands behind its column')
    while at < end:
        thrift = Thrift(data, at)
        header = thrift.struct()
        require((header[1] == 2) == (at < meta[9]), 'a dictionary is no first page')
        pages.append(Page(header, data[thrift.at:thrift.at + header[3]], header[2]))
        raw += thrift.at - at + header[2]
        at = thrift.at + header[3]
    require(at == end, 'pages are longer than their column')
    require(raw == meta[6], f'the column has {raw} bytes, not {meta[6]}')
    return pages


def unpack(pages, unzstd):
    sent = b''.join(struct.pack('<II', len(page.data), page.size) + page.data for page in pages)
    done = subprocess.run([unzstd], input=sent, capture_output=True)
    require(done.returncode == 0 and len(done.stdout) == sum(page.size for page in pages), 'a page cannot be decompressed')
    at = 0
    for page in pages:
        page.plain = done.stdout[at:at + page.size]
        at += page.size


def levels(data, at, count, most):
    """Levels, and where they end."""
    if not most:
        return [0] * count, at
    size, = struct.unpack_from('<I', data, at)
    numbers = runs(data, at + 4, at + 4 + size, count, most.bit_length())
    require(max(numbers, default=0) <= most, 'a level is too large')
    return numbers, at + 4 + size


def values_of(column, page, dictionary):
    """Repetition and definition levels and values of a data page."""
    count, encoding, *others = (page.header[5][i] for i in range(1, 5))
    require(others == [RLE, RLE], 'levels have an unknown encoding')
    repeated, at = levels(page.plain, 0, count, int(column.is_list))
    defined, at = levels(page.plain, at, count, column.most)
    supplied = sum(level == column.most for level in defined)
    if encoding == DICTIONARY:
        width = page.plain[at]
        numbers = runs(page.plain, at + 1, len(page.plain), supplied, width)
        values = [dictionary[number] for number in numbers]
    elif encoding == DELTA:
        values = deltas(page.plain, at)
    else:
        require(encoding == PLAIN, f'unknown encoding {encoding}')
        values = plain(page.plain, at, supplied, column.type)
    require(len(values) == supplied, 'a page has another number of values')
    return repeated, defined, values


def rows_of(column, repeated, defined, values):
    values, rows = iter(values), []
    for again, level in zip(repeated, defined):
        has = level == column.most
        if not column.is_list:
            rows.append(next(values) if has else None)
            continue
        if not again:
            rows.append(None if column.optional and level == 0 else [])
        require(has or not again, 'a list goes on with nothing')
        if has:
            rows[-1].append(next(values))
    return rows


def check_range(column, meta, values, supplied):
    statistics = meta[12]
    require(statistics[3] == meta[5] - supplied, f'{column.name}: {statistics[3]} nulls are said, {meta[5] - supplied} are there')
    if 5 not in statistics:
        require(not values or max(len(v) for v in values) > 128 if column.type == 'text' else not values or column.type == 'double',
                f'{column.name}: no range is said')
        return
    if column.type == 'text':
        least, most = statistics[6], statistics[5]
    else:
        least, most = (plain(statistics[i], 0, 1, column.type)[0] if column.type != 'boolean' else bool(statistics[i][0])
                       for i in (6, 5))
    require(min(values) == least and max(values) == most, f'{column.name}: the range is another one')


class Table:
    """columns, rows of each (by name), facts, and how many values each encoding has."""

    def __init__(self, data, unzstd):
        require(data[:4] == data[-4:] == b'PAR1', 'no Parquet')
        size, = struct.unpack_from('<I', data, len(data) - 8)
        thrift = Thrift(data, len(data) - 8 - size)
        footer = thrift.struct()
        require(thrift.at == len(data) - 8, 'something stands behind the footer')
        self.columns = schema(footer[2])
        self.facts = {pair[1].decode(): pair[2].decode() for pair in footer[5]}
        self.writer = footer[6].decode()
        require(len(footer[7]) == len(self.columns), 'not every column has an order')
        self.values = {column.name: [] for column in self.columns}
        self.encodings = set()
        self.groups = footer[4]
        end = 4
        for group in self.groups:
            end = self.read_group(data, group, end, unzstd)
        require(end == len(data) - 8 - size, 'something stands between the columns and the footer')
        self.rows = footer[3]
        require(all(len(values) == self.rows for values in self.values.values()), 'columns have other numbers of rows')

    def read_group(self, data, group, start, unzstd):
        require(group[5] == start, 'a row group begins elsewhere')
        require(len(group[1]) == len(self.columns), 'a row group has other columns')
        every = [pages_of(data, chunk) for chunk in group[1]]
        unpack([page for pages in every for page in pages], unzstd)
        at = start
        for column, chunk, pages in zip(self.columns, group[1], every):
            at = self.read_column(column, chunk[3], pages, at)
            require(len(self.values[column.name]) >= group[3], f'{column.name} has too few rows')
        require(sum(chunk[3][6] for chunk in group[1]) == group[2] and at - start == group[6], 'sizes are no sums')
        return at

    def read_column(self, column, meta, pages, start):
        path = [column.name.encode()] + [b'list', b'element'] * column.is_list
        require(TYPES[meta[1]] == column.type and meta[3] == path and meta[4] == 6, f'{column.name}: the chunk is of another column')
        require(meta.get(11, meta[9]) == start, f'{column.name}: something stands before it')
        dictionary, all, count, encodings = [], [], 0, {RLE} if column.most else set()
        for page in pages:
            if page.header[1] == 2:
                dictionary = plain(page.plain, 0, page.header[7][1], column.type)
                require(len(set(dictionary)) == len(dictionary), f'{column.name}: its dictionary has a value twice')
                encodings.add(page.header[7][2])
                continue
            repeated, defined, values = values_of(column, page, dictionary)
            self.values[column.name] += rows_of(column, repeated, defined, values)
            all += values
            count += len(defined)
            encodings.add(page.header[5][2])
        self.encodings |= encodings
        require(encodings == set(meta[2]), f'{column.name}: it has encodings {encodings}, not {meta[2]}')
        require(count == meta[5], f'{column.name}: it has {count} values, not {meta[5]}')
        check_range(column, meta, all, len(all))
        return start + meta[7]
