"""The binary plan: nothing but an intact file is read, and a rank reads only its own program (docs/formats.md)."""

from __future__ import annotations

import struct

import pytest

from hocket import _core
from plan_file import (
    DEMAND,
    MAGIC,
    PROGRAMS,
    VERSION,
    join,
    programs_of,
    split,
)
from plans import exchanging, forwarding, planned, refused, small
from strategies import star


def test_the_documented_layout_is_the_real_one() -> None:
    for data in (small(), bytes(forwarding().encode()), bytes(exchanging().encode())):
        assert data.startswith(MAGIC)
        assert join(split(data)) == data
        assert join(split(data), programs_of(data)) == data


def test_a_rank_does_not_read_the_matrix() -> None:
    data = bytearray(exchanging().encode())
    at = struct.unpack_from("<Q", data, 24 * (1 + DEMAND))[0]
    data[at] ^= 1
    assert len(_core.decode_program(bytes(data), 0).sends) == 3
    assert refused(bytes(data)) == "a section is damaged (checksum)"


@pytest.mark.parametrize(
    "data",
    [small(), bytes(forwarding().encode()), bytes(exchanging().encode())],
    ids=["direct", "pieces", "irregular"],
)
def test_every_altered_byte_is_noticed(data: bytes) -> None:
    for at in range(len(data)):
        for flip in (1, 0x80, 0xFF):
            altered = bytearray(data)
            altered[at] ^= flip
            refused(bytes(altered))


def test_every_value_of_every_byte_is_noticed() -> None:
    """All 255 wrong values at each place."""
    network = star(2).build()
    data = bytes(planned(network).encode())
    for at in range(len(data)):
        for value in range(256):
            if value != data[at]:
                with pytest.raises(_core.PlanProblem):
                    _core.Plan.decode(data[:at] + bytes([value]) + data[at + 1 :])


def test_every_truncation_is_noticed() -> None:
    data = small()
    for size in range(len(data)):
        refused(data[:size])
    assert refused(data + b"\0") == "the file was truncated or extended"
    assert refused(b"") == refused(b"\x7fELF") == "this is not a plan file"


def test_a_plan_of_another_version() -> None:
    data = bytearray(small())
    for other in (0, 1, 2, VERSION - 1, VERSION + 1):
        data[8] = other
        assert refused(bytes(data)) == f"plan version {other}, this Hocket reads version {VERSION}"


def test_a_rank_that_the_plan_does_not_have() -> None:
    for rank in (3, 2**32 - 1):
        with pytest.raises(_core.PlanProblem, match="no such rank"):
            _core.decode_program(small(), rank)


def test_a_row_is_read_without_the_others() -> None:
    """Damage in the program of rank 1 is seen by rank 1 only."""
    data = bytearray(small())
    sections = split(bytes(data))
    start = len(data) - len(sections[PROGRAMS]) + len(programs_of(bytes(data))[0])
    data[start] ^= 1
    _core.decode_program(bytes(data), 0)
    _core.decode_program(bytes(data), 2)
    with pytest.raises(_core.PlanProblem, match="the program of rank 1 is damaged"):
        _core.decode_program(bytes(data), 1)
