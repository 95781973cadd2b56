"""Plan files with right checksums that say what cannot be (docs/formats.md)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import pytest

from hocket import _core
from plan_file import (
    DEMAND,
    HEADER,
    INDEX,
    NETWORK,
    PROGRAMS,
    checksum,
    header_bytes,
    header_of,
    join,
    number,
    programs_of,
    split,
)
from plans import exchanging, forwarded, forwarding, gathering, make_plan, planned, refused, small
from strategies import star


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        (b"", "the pattern in the header is irregular, the file has no traffic matrix"),
        (bytes([0, 0, 0]), "the file ends too early"),
        (bytes([9, 0, 0, 0]), "a number is out of range"),
        (bytes([1, 1, 0xAC, 2, 0, 0, 0, 0]), "bytes after the end of the demand"),
        (bytes([1, 0, 5, 0, 0, 0]), "a message of a rank to itself"),
        (bytes([1, 4, 5, 0, 0, 0]), "a message to a rank that does not exist"),
        (bytes([0, 2, 0, 5, 3, 5, 0, 0]), "a message to a rank that does not exist"),
        (bytes([1, 1, 0, 0, 0, 0]), "a message without bytes"),
        (bytes([1, 1, 5, 0, 0, 0]), "the largest message is not what the header says"),
        (b"\x01\x01" + b"\xff" * 9 + b"\x01\0\0\0", "2^63 - 1 bytes in all"),
        (b"\x01\x01" + b"\xff" * 10 + b"\0\0\0", "a number is too long"),
    ],
    ids=range(11),
)
def test_matrices_that_cannot_be(section: bytes, complaint: str) -> None:
    sections = split(exchanging().encode())
    sections[DEMAND] = section
    assert complaint in refused(join(sections))


def test_a_matrix_in_another_plan() -> None:
    sections = split(small())
    sections[DEMAND] = bytes(3)
    assert refused(join(sections)) == "the pattern in the header is all-to-all, the file has a traffic matrix"


def test_idle_phases_are_not_planned() -> None:
    network = star(2).build()
    schedule = _core.Schedule.from_rows(2, 1, [(0, 0, 1, 0, 1, 0, 1), (5, 1, 0, 1, 0, 0, 1)])
    with pytest.raises(_core.InputError, match="idle phases"):
        make_plan(network, schedule, 1).encode()


def test_waits_and_ranks_that_do_not_fit_are_not_planned() -> None:
    schedule = _core.Schedule.from_rows(2, 1, [(0, 0, 1, 0, 1, 0, 1)])
    for lists, complaint in [([[], []], "another number of transfers"), ([[7]], "does not exist")]:
        with pytest.raises(_core.InputError, match=complaint):
            schedule.programs(_core.Waits.from_lists(lists))
    stray = _core.Schedule.from_rows(2, 1, [(0, 9, 1, 9, 1, 0, 1)])
    with pytest.raises(_core.InputError, match="names a rank"):
        stray.programs(_core.Waits.from_lists([[]]))


# Row of rank 0 of the star of three: two sends, two receives; each send or receive is
# (phase step, other rank, count of tokens or releases, …).


def receives_of(row: bytes) -> bytes:
    """The second half of a program of two sends whose numbers are all below 128."""
    at = 1
    for _ in range(row[0]):
        at += 3 + row[at + 2]
    return row[at:]


def forged(change: dict[int, bytes]) -> str:
    data = small()
    rows = programs_of(data)
    for rank, row in change.items():
        rows[rank] = row
    return refused(join(split(data), rows))


def test_rows_that_contradict_each_other() -> None:
    empty = number(0) + number(0)
    assert forged({0: empty}) == "the programs do not hold as many transfers as the header says"
    rows = programs_of(small())
    swapped = {0: rows[1], 1: rows[0]}
    assert forged(swapped)
    sends_twice = number(2) + bytes([0, 1, 0]) * 2 + number(0)
    assert forged({0: sends_twice}) == "a send is listed twice"
    no_tokens = number(2) + bytes([0, 1, 0, 1, 2, 0]) + receives_of(rows[0])
    assert forged({0: no_tokens}) == "a token that nobody waits for"
    no_receives = rows[0][: len(rows[0]) - len(receives_of(rows[0]))] + number(0)
    assert forged({0: no_receives}) in (
        "sends and receives do not match",
        "a send waits for a token that nobody releases",
    )


def test_rows_in_the_same_place_are_refused() -> None:
    """Or a small file could claim any number of programs of any length."""
    data = small()
    sections = split(data)
    sections[INDEX] = (
        number(3) + struct.pack("<3Q", 0, len(sections[PROGRAMS]), checksum(sections[PROGRAMS])) * 3
    )
    refused(join(sections))


def test_absurd_counts_are_refused_at_once() -> None:
    data = small()
    sections = split(data)
    name = sections[HEADER][: 1 + sections[HEADER][0]]
    for ranks, phases, transfers in [
        (2**22, 1, 1),
        (3, 2**63, 2**63),
        (3, 2**40, 6),
        (0, 0, 0),
        (2**40, 1, 1),
    ]:
        head = name + b"".join(map(number, [0, ranks, 1, phases, transfers, 1, 1, 0, 0])) + bytes(16)
        refused(join([head, *sections[1:]]))
        with pytest.raises(_core.PlanProblem):
            _core.decode_program(join([head, *sections[1:]]), 2**22)


def test_names_that_are_not_utf8() -> None:
    data = small()
    sections = split(data)
    for bad in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"):
        head = number(len(bad)) + bad + sections[HEADER][1 + sections[HEADER][0] :]
        assert refused(join([head, *sections[1:]])) == "a name is not UTF-8"


def test_a_grid_that_is_none() -> None:
    """Sides that do not belong to the nodes: refused when the network is built."""
    network = _core.Network.grid("torus", [3], 1e9, 0)
    data = bytes(planned(network).encode())
    sections = split(data)
    # one side: 3, a row of no ties; no forwarding entries, channels or routes
    at = sections[NETWORK].rindex(bytes([1, 3, 1, 0, 0, 0, 0]))
    sections[NETWORK] = sections[NETWORK][:at] + bytes([1, 4, 1, 0, 0, 0, 0])
    with pytest.raises(_core.InputError, match="not those of a grid"):
        _core.Plan.decode(join(sections))


def test_forwarding_tables_that_lead_nowhere() -> None:
    """A plan whose tables send messages round: refused when the network is built."""
    data = bytes(planned(forwarded()).encode())
    sections = split(data)
    entries = bytes([4, 0, 0, 0, 1, 0, 2, 2, 0, 4, 0, 6, 5])
    assert sections[NETWORK].endswith(entries + bytes(2))
    for altered, complaint in (
        ([4, 0, 0, 0, 1, 0, 2, 2, 0, 4, 0, 6, 9], "does not leave it"),
        ([4, 0, 0, 0, 1, 0, 2, 2, 0, 4, 0, 0, 5], "two entries"),
        ([4, 0, 0, 0, 1, 0, 2, 2, 0, 3, 0, 6, 5], "run in a circle"),
        ([3, 0, 0, 0, 1, 0, 2, 0, 6, 5], "do not say where"),
        ([4, 0, 0, 0, 1, 0, 2, 2, 0, 4, 99, 6, 5], "unknown node"),
    ):
        sections[NETWORK] = sections[NETWORK][: -len(entries) - 2] + bytes(altered) + bytes(2)
        with pytest.raises(_core.RouteProblem, match=complaint):
            _core.Plan.decode(join(sections))
        sections = split(data)


def altered_header(plan: _core.Plan, **fields: object) -> bytes:
    """The plan with other fields in its header, signed again."""
    data = bytes(plan.encode())
    return join([header_bytes({**header_of(data), **fields}), *split(data)[1:]])


def test_the_header_is_read_and_written_as_documented() -> None:
    for plan in (planned(star(3).build()), forwarding(), gathering(), exchanging()):
        assert altered_header(plan) == plan.encode()


DISAGREEING = [
    (planned, {"bytes": 0}, "0 bytes, the programs have messages"),
    (planned, {"pattern": 1}, "the pattern in the header is all-gather"),
    (planned, {"pattern": 2}, "the pattern in the header is irregular, the file has no traffic matrix"),
    (planned, {"ranks": 2}, "2 ranks, the network has 3"),
    (planned, {"ranks": 4}, "4 ranks, the network has 3"),
    (planned, {"contributions": [1, 2, 3]}, "contributions, but the pattern has no blocks"),
    (planned, {"phases": 1}, "a phase is out of range"),
    (planned, {"phases": 3}, "3 phases, the programs have fewer"),
    (planned, {"phases": 13}, "more phases or transfers than the file can hold"),
    (planned, {"transfers": 5}, "as many transfers as the header says"),
    (planned, {"transfers": 7}, "as many transfers as the header says"),
    (planned, {"direct": 0}, ""),
    (planned, {"window": 0}, "a window of 0 in the header"),
    (planned, {"window": 1025}, "a window of 1025 in the header"),
    (planned, {"waits_derived": 2}, "2 waits before reduction, the programs have 3"),
    (planned, {"bound_seconds": math.nan}, "a time in the header"),
    (planned, {"bound_seconds": -1.0}, "a time in the header"),
    (planned, {"predicted_seconds": math.inf}, "a time in the header"),
    (forwarding, {"bytes": 0}, "beyond the 0 that the header gives"),
    (forwarding, {"bytes": 99}, "beyond the 99 that the header gives"),
    (forwarding, {"bytes": 101}, "101 bytes, the largest message of the programs has 100"),
    (
        forwarding,
        {"pattern": 1},
        "the pattern in the header is all-gather, the programs have messages of another",
    ),
    (forwarding, {"direct": 1}, ""),
    (gathering, {"bytes": 99}, "not those of the largest contribution"),
    (gathering, {"pattern": 0, "contributions": []}, "the programs have messages of another"),
    (gathering, {"contributions": [100, 0]}, "contributions for another number of ranks"),
    (gathering, {"contributions": [100, 0, 39]}, "beyond the 39 that the header gives a message of rank 2"),
    (gathering, {"contributions": [90, 100, 40]}, "beyond the 90 that the header gives a message of rank 0"),
    (
        gathering,
        {"contributions": [200, 0, 40], "bytes": 200},
        "200 bytes, the largest message of the programs",
    ),
    (exchanging, {"bytes": 301}, "the largest message is not what the header says"),
    (exchanging, {"pattern": 0}, "the pattern in the header is all-to-all, the file has a traffic matrix"),
]


@pytest.mark.parametrize(("make", "fields", "complaint"), DISAGREEING, ids=range(len(DISAGREEING)))
def test_a_header_that_its_rows_contradict(
    make: Callable[..., _core.Plan], fields: dict[str, object], complaint: str
) -> None:
    plan = make(star(3).build()) if make is planned else make()
    assert complaint in refused(altered_header(plan, **fields))


def test_a_rank_refuses_a_header_that_its_row_contradicts() -> None:
    """Ranks read their own program only: what that program can tell is told there, too."""
    for plan, fields in (
        (planned(star(3).build()), {"bytes": 0}),
        (planned(star(3).build()), {"pattern": 1}),
        (planned(star(3).build()), {"ranks": 2}),
        (forwarding(), {"bytes": 39}),
        (gathering(), {"contributions": [59, 0, 40], "bytes": 59}),
        (gathering(), {"pattern": 0, "contributions": []}),
        (exchanging(), {"pattern": 0}),
    ):
        with pytest.raises(_core.PlanProblem):
            _core.decode_program(altered_header(plan, **fields), 0)


def test_messages_that_go_whole_have_one_size() -> None:
    """An irregular plan without pieces: every message of its matrix is as large as the header says."""
    network = star(3).build()
    rows = [(0, 0, 1, 0, 1, 0, 5), (1, 1, 2, 1, 2, 0, 5)]
    schedule = _core.Schedule.from_rows(3, 5, rows)
    waits = _core.Waits.derive(network, schedule)
    for sizes, fits in (([5, 5], True), ([5, 4], False)):
        demand = _core.Demand.irregular(3, [0, 1], [1, 2], sizes)
        data = _core.Plan(network, schedule, waits, demand, "by hand", 2, 0.0, 0.0).encode()
        if fits:
            assert _core.Plan.decode(data).demand.list() == demand.list()
        else:
            assert "messages go whole" in refused(data)
