"""The verifier rejects every kind of broken reduction, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core
from strategies import star

BYTES = 10
EVERYONE = _core.EVERYONE
Row = tuple[int, int, int, int, int, int, int]


def part(phase: int, src: int, dst: int, block: int, offset: int = 0, length: int = BYTES) -> Row:
    return (phase, src, dst, block, EVERYONE, offset, length)


def ring(ranks: int = 4) -> list[Row]:
    """A reduce-scatter: what goes to rank b begins behind it and comes round."""
    return [
        part(step, src, (src + 1) % ranks, (src - 1 - step) % ranks)
        for step in range(ranks - 1)
        for src in range(ranks)
    ]


def ring_back(ranks: int = 4) -> list[Row]:
    """The all-gather behind it."""
    return [
        part(ranks - 1 + step, src, (src - 1) % ranks, (src + step) % ranks)
        for step in range(ranks - 1)
        for src in range(ranks)
    ]


def verify(
    rows: Iterable[Row], pattern: str = "reduce-scatter", parts: list[int] | None = None
) -> _core.Certificate:
    network = star(4).build()
    schedule = _core.Schedule.from_rows(4, BYTES, sorted(rows))
    ports = _core.PortModel.all_port  # what is added is looked at, not what is free
    return _core.verify(network, _core.Demand(4, BYTES, pattern, parts or []), schedule, ports)


def kinds(certificate: _core.Certificate) -> set[str]:
    assert not certificate.complete
    return set(certificate.counts) - {"channel overfull"}


def text(certificate: _core.Certificate, kind: str) -> str:
    return next(str(text) for found, _, text in certificate.findings if found == kind)


def test_rings_are_right() -> None:
    assert verify(ring()).ok
    assert verify(ring() + ring_back(), "all-reduce").ok


def test_a_part_that_is_left_out() -> None:
    rows = [row for row in ring() if row != part(0, 2, 3, 1)]
    certificate = verify(rows)
    assert kinds(certificate) == {"never delivered"}
    assert (
        text(certificate, "never delivered") == "parts of the sum for bytes 0..10 of the block of 1 at rank 1"
    )


def test_a_part_that_is_added_twice() -> None:
    certificate = verify([*ring(), part(1, 2, 1, 1)])
    assert kinds(certificate) == {"delivered twice"}
    assert text(certificate, "delivered twice") == (
        "a part of the sum for bytes 0..10 of the block of 1, 0->1 is there already"
    )


def test_a_part_that_goes_on_before_it_is_there() -> None:
    """Both in one phase: what goes on lacks what only comes."""
    rows = [part(1, 2, 3, 1) if row == part(0, 2, 3, 1) else row for row in ring()]
    assert kinds(verify(rows)) == {"never delivered"}


def test_a_sum_that_is_told_before_it_is_complete() -> None:
    rows = [part(3, 3, 2, 1) if row == part(5, 3, 2, 1) else row for row in ring() + ring_back()]
    certificate = verify(rows, "all-reduce")
    assert "sent before it is held" in kinds(certificate)
    assert text(certificate, "sent before it is held").startswith(
        "the sum for bytes 0..10 of the block of 1, 3->2"
    )


def test_a_sum_that_comes_twice() -> None:
    certificate = verify([*ring(), *ring_back(), part(5, 0, 3, 0)], "all-reduce")
    assert kinds(certificate) == {"delivered twice"}


def test_some_bytes_are_left_out() -> None:
    rows = [part(0, 2, 3, 1, 0, 7) if row == part(0, 2, 3, 1) else row for row in ring()]
    certificate = verify(rows)
    assert kinds(certificate) == {"never delivered"}
    assert "bytes 7..10 of the block of 1" in text(certificate, "never delivered")


def test_what_is_no_part_of_a_block() -> None:
    assert "beyond the end of the message" in kinds(verify([*ring(), part(0, 0, 1, 3, 5, 6)]))
    assert "not demanded" in kinds(verify([*ring(), (0, 0, 1, 3, 2, 0, 10)]))
    assert "not demanded" in kinds(verify([*ring(), (0, 0, 1, 9, EVERYONE, 0, 10)]))


def test_blocks_of_no_bytes_need_nothing() -> None:
    """A reduce: only the root has a block."""
    rows = [row for row in ring() if row[3] == 2]
    assert verify(rows, parts=[0, 0, 10, 0]).ok
    assert kinds(verify(rows, parts=[1, 0, 10, 0])) == {"never delivered"}


def sums_are_right(rows: list[Row], pattern: str, ranks: int = 4) -> bool:
    """Carry out the rows. Return true if each rank's part is in each byte of each block as often as it should
    be."""
    parts = np.zeros((ranks, ranks, BYTES, ranks), int)  # at a rank, of a block, byte, of a rank
    for rank in range(ranks):
        parts[rank, :, :, rank] = 1
    phases = 1 + max((row[0] for row in rows), default=0)
    combining = phases // 2 if pattern == "all-reduce" else phases
    for phase, together in groupby(sorted(rows), itemgetter(0)):
        before = parts.copy()
        for _, src, dst, block, _, offset, length in together:
            where = (block, slice(offset, offset + length))
            if phase < combining:
                parts[(dst, *where)] += before[(src, *where)]
            else:
                parts[(dst, *where)] = before[(src, *where)]
    if pattern == "all-reduce":
        return bool((parts == 1).all())
    return all((parts[rank, rank] == 1).all() for rank in range(ranks))


def test_rings_come_out_right() -> None:
    assert sums_are_right(ring(), "reduce-scatter")
    assert sums_are_right(ring() + ring_back(), "all-reduce")


@given(st.data(), st.sampled_from(["reduce-scatter", "all-reduce"]), st.integers(1, 3))
def test_whatever_makes_a_wrong_sum_is_rejected(data: st.DataObject, pattern: str, changes: int) -> None:
    """Rows are left out, doubled, moved to another phase, rank or block, or shortened."""
    rows = ring() + (ring_back() if pattern == "all-reduce" else [])
    last = max(row[0] for row in rows)
    for _ in range(changes):
        at = data.draw(st.integers(0, len(rows) - 1))
        phase, src, dst, block, _, offset, length = rows[at]
        kind = data.draw(st.sampled_from(["out", "twice", "phase", "rank", "block", "length"]))
        if kind == "phase":
            rows[at] = part(data.draw(st.integers(0, last)), src, dst, block, offset, length)
        elif kind == "rank":
            rows[at] = part(phase, src, (src + data.draw(st.integers(1, 3))) % 4, block, offset, length)
        elif kind == "block":
            rows[at] = part(phase, src, dst, (block + data.draw(st.integers(1, 3))) % 4, offset, length)
        elif kind == "length":
            rows[at] = part(phase, src, dst, block, offset, data.draw(st.integers(1, length)))
        elif kind == "twice":
            rows.append(part(data.draw(st.integers(0, last)), src, dst, block, offset, length))
        elif len(rows) > 1:
            del rows[at]
    if not sums_are_right(rows, pattern):
        assert not verify(rows, pattern).complete
