# SPDX-License-Identifier: MIT
"""Protocol buffers, as far as the tests of exports need them: messages become lists of (field, value).

A message of a schema, {field: (name, kind)}, becomes an object with lists for what is repeated. Kinds: 'int', 'signed',
'fixed', 'text', 'bytes', a schema; in a list when it is repeated. What the schema does not know is an error, and so is text
that is not UTF-8, or that ends early.
"""
import struct


class Broken(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Broken('a varint has no end')
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(field, wire type, value) one after the other."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from('<Q', data, at)[0], at + 8
        elif wire == 2:
            count, at = varint(data, at)
            value, at = data[at:at + count], at + count
            if at > len(data):
                raise Broken('a message has no end')
        else:
            raise Broken(f'wire type {wire}')
        yield tag >> 3, wire, value


def packed(data, kind):
    if kind == 'fixed':
        return list(struct.unpack(f'<{len(data) // 8}Q', data))
    numbers, at = [], 0
    while at < len(data):
        number, at = varint(data, at)
        numbers.append(signed(number) if kind == 'signed' else number)
    return numbers


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def scalar(kind, wire, value):
    expected = 2 if isinstance(kind, dict) else {'int': 0, 'signed': 0, 'fixed': 1}.get(kind, 2)
    if wire != expected:
        raise Broken(f'wire type {wire} instead of {expected}')
    if kind == 'text':
        return value.decode('utf-8')
    if isinstance(kind, dict):
        return Message(kind, value)
    return signed(value) if kind == 'signed' else value


class Message:
    def __init__(self, schema, data):
        for name, kind in schema.values():
            setattr(self, name, [] if isinstance(kind, list) else None if isinstance(kind, dict) else
                    '' if kind == 'text' else b'' if kind == 'bytes' else 0)
        for number, wire, value in fields(data):
            if number not in schema:
                raise Broken(f'unknown field {number}')
            name, kind = schema[number]
            if not isinstance(kind, list):
                setattr(self, name, scalar(kind, wire, value))
            elif wire == 2 and isinstance(kind[0], str) and kind[0] in ('int', 'signed', 'fixed'):
                getattr(self, name).extend(packed(value, kind[0]))
            else:
                getattr(self, name).append(scalar(kind[0], wire, value))
