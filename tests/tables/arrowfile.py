# SPDX-License-Identifier: MIT
"""Reads Arrow IPC files as their specification has them, as far as perfile writes them, and says what contradicts itself."""
import struct


class Wrong(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Wrong(text)


class Flat:
    """A table of a FlatBuffer; what it points at must lie in the buffer and be aligned."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        require(at % 4 == 0 and 0 <= at < len(data), 'a table lies elsewhere')
        self.list = at - struct.unpack_from('<i', data, at)[0]
        require(0 <= self.list < len(data) and self.list % 2 == 0, 'the members of a table lie elsewhere')
        self.size, self.bytes = struct.unpack_from('<HH', data, self.list)
        require(at + self.bytes <= len(data), 'a table ends behind its buffer')

    def member(self, field):
        location = 4 + 2 * field
        step = struct.unpack_from('<H', self.data, self.list + location)[0] if location < self.size else 0
        require(step < self.bytes, 'a member lies outside of its table')
        return self.at + step if step else None

    def number(self, field, form, default=0):
        at = self.member(field)
        require(at is None or at % struct.calcsize(form) == 0, 'a number is not aligned')
        return default if at is None else struct.unpack_from('<' + form, self.data, at)[0]

    def point(self, at):
        require(at % 4 == 0, 'a pointer is not aligned')
        return at + struct.unpack_from('<I', self.data, at)[0]

    def table(self, field):
        at = self.member(field)
        return None if at is None else Flat(self.data, self.point(at))

    def text_at(self, at):
        size, = struct.unpack_from('<I', self.data, at)
        require(self.data[at + 4 + size] == 0, 'a text has no end')
        return bytes(self.data[at + 4:at + 4 + size]).decode()

    def text(self, field):
        at = self.member(field)
        return None if at is None else self.text_at(self.point(at))

    def vector(self, field):
        at = self.member(field)
        if at is None:
            return 0, 0
        at = self.point(at)
        return struct.unpack_from('<I', self.data, at)[0], at + 4

    def tables(self, field):
        count, at = self.vector(field)
        return [Flat(self.data, self.point(at + 4 * i)) for i in range(count)]

    def structs(self, field, form):
        count, at = self.vector(field)
        require(not count or at % 8 == 0, 'structs are not aligned')
        size = struct.calcsize(form)
        return [struct.unpack_from('<' + form, self.data, at + size * i) for i in range(count)]


def root(data):
    return Flat(data, struct.unpack_from('<I', data, 0)[0])


def pairs(table, field):
    return {pair.text(0): pair.text(1) for pair in table.tables(field)}


class Field:
    def __init__(self, table):
        self.name, self.nullable = table.text(0), bool(table.number(1, 'B'))
        self.kind, kind = table.number(2, 'B'), table.table(3)
        self.facts = pairs(table, 6)
        self.children = [Field(child) for child in table.tables(5)]
        encoding = table.table(4)
        self.dictionary = encoding.number(0, 'q') if encoding else None
        self.is_time, self.form = False, None
        if self.kind == 2:
            width, is_signed = kind.number(0, 'i'), kind.number(1, 'B')
            self.form = {32: 'iI', 64: 'qQ'}[width][not is_signed]
        elif self.kind == 3:
            require(kind.number(0, 'h') == 2, 'a float of another width')
            self.form = 'd'
        elif self.kind == 10:
            require((kind.number(0, 'h'), kind.text(1)) == (2, 'UTC'), 'a time in other units')
            self.form, self.is_time = 'q', True
        else:
            require(self.kind in (5, 6, 12), f'unknown type {self.kind}')


class Batch:
    def __init__(self, table, body):
        self.rows, self.body = table.number(0, 'q'), body
        self.nodes, self.buffers = iter(table.structs(1, 'qq')), iter(table.structs(2, 'qq'))
        require(table.table(3) is None, 'it is compressed')
        self.end = 0

    def buffer(self):
        at, size = next(self.buffers)
        require(at == self.end and at + size <= len(self.body), 'a buffer lies elsewhere')
        self.end = at + (size + 7 & ~7)
        return self.body[at:at + size]

    def numbers(self, form, count):
        data = self.buffer()
        require(len(data) == count * struct.calcsize(form), 'a buffer has another size')
        return list(struct.unpack(f'<{count}{form}', data))

    def bits(self, count):
        data = self.buffer()
        require(len(data) == (count + 7) // 8, 'bits have another size')
        return [bool(data[i // 8] >> i % 8 & 1) for i in range(count)]

    def column(self, field, dictionaries):
        count, nulls = next(self.nodes)
        valid = self.bits(count) if nulls else None
        require(nulls or not self.buffer(), f'{field.name}: bits that nobody needs')
        require(not nulls or valid.count(False) == nulls, f'{field.name}: another number of nulls')
        require(field.nullable or not nulls, f'{field.name} has nulls')
        if field.kind == 12:
            ends = self.numbers('i', count + 1)
            items = self.column(field.children[0], dictionaries)
            require(ends[0] == 0 and ends[-1] == len(items), f'{field.name}: items that are in no list')
            values = [items[ends[i]:ends[i + 1]] for i in range(count)]
        elif field.dictionary is not None:
            known = dictionaries.get(field.dictionary)
            codes = self.numbers('i', count)
            values = codes if known is None else [known[code] if valid is None or valid[i] else None for i, code in enumerate(codes)]
        elif field.kind == 5:
            ends = self.numbers('i', count + 1)
            text = self.buffer()
            require(ends[0] == 0 and ends[-1] == len(text), f'{field.name}: texts that nobody has')
            values = [bytes(text[ends[i]:ends[i + 1]]).decode() for i in range(count)]
        else:
            values = self.bits(count) if field.kind == 6 else self.numbers(field.form, count)
        return values if valid is None else [value if valid[i] else None for i, value in enumerate(values)]

    def finish(self):
        require(self.end == len(self.body), 'something stands behind the buffers')
        require(next(self.buffers, None) is None and next(self.nodes, None) is None, 'buffers that are of no column')


class Table:
    """fields, rows of each (by name), facts."""

    def __init__(self, data):
        require(data[:8] == b'ARROW1\0\0' and data[-6:] == b'ARROW1', 'no Arrow file')
        size, = struct.unpack_from('<i', data, len(data) - 10)
        start = len(data) - 10 - size
        footer = root(data[start:start + size])
        require(data[start - 8:start] == b'\xff' * 4 + bytes(4), 'the messages have no end')
        require(footer.number(0, 'h') == 4, 'another version')
        self.data, schema = data, footer.table(1)
        self.fields = [Field(field) for field in schema.tables(1)]
        self.facts = pairs(schema, 2)
        names = [field.name for field in self.fields]
        require(len(set(names)) == len(names), 'a name stands twice')
        kind, head, _, at = self.message(8)
        require(kind == 1 and [field.text(0) for field in head.tables(1)] == names, 'it begins with another schema')
        batches, dictionaries = footer.structs(3, 'qiiq'), footer.structs(2, 'qiiq')
        texts = {}
        for location in dictionaries:
            self.read_dictionary(location, texts)
        used = {field.dictionary if field.dictionary is not None else field.children[0].dictionary
                for field in self.fields if field.children or field.dictionary is not None} - {None}
        require(used == set(texts), 'dictionaries that nobody has, or that are missing')
        self.values = {name: [] for name in names}
        for location in batches:
            self.read_batch(location, texts)
        for location in batches + dictionaries:
            require(location[0] == at, 'something stands between the messages')
            at = location[0] + location[1] + location[3]
        require(at == start - 8, 'something stands behind the messages')

    def message(self, at):
        mark, size = struct.unpack_from('<II', self.data, at)
        require(mark == 0xffffffff and size % 8 == 0 and at % 8 == 0, 'no message begins there')
        message = root(self.data[at + 8:at + 8 + size])
        require(message.number(0, 'h') == 4, 'a message of another version')
        body = message.number(3, 'q')
        end = at + 8 + size + body
        return message.number(1, 'B'), message.table(2), self.data[at + 8 + size:end], end

    def placed(self, location, wanted):
        kind, head, body, end = self.message(location[0])
        require(kind == wanted and end == location[0] + location[1] + location[3] and location[2] == 0, 'a message lies elsewhere')
        return head, body

    def read_dictionary(self, location, texts):
        head, body = self.placed(location, 2)
        id, batch = head.number(0, 'q'), Batch(head.table(1), body)
        require(not head.number(2, 'B') and id not in texts, 'a dictionary comes twice')
        count, nulls = next(batch.nodes)
        require(not nulls and not batch.buffer(), 'a dictionary has nulls')
        ends = batch.numbers('i', count + 1)
        text = batch.buffer()
        texts[id] = [bytes(text[ends[i]:ends[i + 1]]).decode() for i in range(count)]
        require(len(set(texts[id])) == count, 'a dictionary has a text twice')
        batch.finish()

    def read_batch(self, location, texts):
        head, body = self.placed(location, 3)
        batch = Batch(head, body)
        for field in self.fields:
            values = batch.column(field, texts)
            require(len(values) == batch.rows, f'{field.name} has another number of rows')
            self.values[field.name] += values
        batch.finish()
