"""An independent reader and writer of plan files, as docs/formats.md has them."""

from __future__ import annotations

import struct

MAGIC = b"HOCKET\x1a\n"
VERSION = 4
SECTIONS = 5
HEADER, NETWORK, DEMAND, INDEX, PROGRAMS = range(SECTIONS)
HEAD = 8 * (4 + 3 * SECTIONS)
MASK = 2**64 - 1


def checksum(data: bytes) -> int:
    """Checksum as defined in docs/formats.md."""
    value = 0xCBF29CE484222325 ^ len(data)
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i : i + 8], "little")
        value = (value ^ word) * 0x100000001B3 & MASK
        value ^= value >> 29
    return value


def number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def split(data: bytes) -> list[bytes]:
    words = struct.unpack(f"<{HEAD // 8}Q", data[:HEAD])
    return [data[words[3 + 3 * i] :][: words[4 + 3 * i]] for i in range(SECTIONS)]


def programs_of(data: bytes) -> list[bytes]:
    sections = split(data)
    index = sections[INDEX][len(sections[INDEX]) % 24 :]
    entries = struct.iter_unpack("<3Q", index)
    return [sections[PROGRAMS][offset:][:size] for offset, size, _ in entries]


def join(sections: list[bytes], rows: list[bytes] | None = None) -> bytes:
    """A plan with right checksums, whatever it says."""
    sections = list(sections)
    if rows is not None:
        index, offset = number(len(rows)), 0
        for row in rows:
            index += struct.pack("<3Q", offset, len(row), checksum(row))
            offset += len(row)
        sections[INDEX], sections[PROGRAMS] = index, b"".join(rows)
    head = MAGIC + struct.pack("<QQ", VERSION, HEAD + sum(map(len, sections)))
    offset = HEAD
    for i, section in enumerate(sections):
        head += struct.pack("<3Q", offset, len(section), 0 if i == PROGRAMS else checksum(section))
        offset += len(section)
    return head + struct.pack("<Q", checksum(head)) + b"".join(sections)


def read_number(data: bytes, at: int) -> tuple[int, int]:
    """A number and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def matrix_of(section: bytes, ranks: int) -> list[tuple[int, int, int]]:
    """(sender, receiver, bytes) of the demand section of an irregular plan."""
    messages, at = [], 0
    for src in range(ranks):
        count, at = read_number(section, at)
        dst = 0
        for _ in range(count):
            skipped, at = read_number(section, at)
            size, at = read_number(section, at)
            messages.append((src, dst + skipped, size))
            dst += skipped + 1
    assert at == len(section)
    return messages


# The fields of a header behind the algorithm's name, in order; contributions are a list.
BEFORE, AFTER = (
    ("pattern", "ranks", "bytes"),
    ("phases", "transfers", "direct", "window", "waits_derived", "bound_phases"),
)
TIMES = ("bound_seconds", "predicted_seconds")


def header_of(data: bytes) -> dict[str, object]:
    """The fields of a plan's header by name."""
    section = split(data)[HEADER]
    size, at = read_number(section, 0)
    fields: dict[str, object] = {"algorithm": section[at : at + size]}
    at += size
    for name in BEFORE:
        fields[name], at = read_number(section, at)
    count, at = read_number(section, at)
    contributions = []
    for _ in range(count):
        value, at = read_number(section, at)
        contributions.append(value)
    fields["contributions"] = contributions
    for name in AFTER:
        fields[name], at = read_number(section, at)
    return fields | dict(zip(TIMES, struct.unpack("<2d", section[at:]), strict=True))


def header_bytes(fields: dict[str, object]) -> bytes:
    """The header section that says so."""
    name, parts = fields["algorithm"], fields["contributions"]
    assert isinstance(name, bytes)
    assert isinstance(parts, list)
    numbers = [fields[key] for key in BEFORE] + [len(parts), *parts] + [fields[key] for key in AFTER]
    text = b"".join(number(value) for value in numbers if isinstance(value, int))
    return number(len(name)) + name + text + struct.pack("<2d", *(fields[key] for key in TIMES))
