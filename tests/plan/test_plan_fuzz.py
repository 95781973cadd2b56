"""Altered and random plan files: only InputError may come of them."""

from __future__ import annotations

import math

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hocket import _core
from plan_file import (
    AFTER,
    BEFORE,
    DEMAND,
    HEADER,
    MAGIC,
    NETWORK,
    SECTIONS,
    TIMES,
    header_bytes,
    header_of,
    join,
    programs_of,
    split,
)
from plans import exchanging, forwarded, forwarding, gathering, planned, small


def use(data: bytes) -> None:
    """Reads a plan and all that one can do with it; only InputError may come of it."""
    for rank in (0, 1, 2**32 - 1):
        try:
            program = _core.decode_program(data, rank)
        except _core.PlanProblem:
            continue
        assert isinstance(program.sends, list)
        assert isinstance(program.receives, list)
    try:
        plan = _core.Plan.decode(data)
    except _core.InputError:
        return
    assert isinstance(plan.algorithm, str)
    try:
        network = plan.network
        certificate = _core.verify(network, plan.demand, plan.schedule)
        _core.verify_waits(network, plan.schedule, plan.waits, certificate)
        _core.Waits.derive(network, plan.schedule)
        _core.lower_bounds(network, plan.demand)
    except _core.InputError:
        return
    assert all(0 <= seconds < math.inf for seconds in (plan.bound_seconds, plan.predicted_seconds))
    assert len(plan.waits) <= plan.waits.derived
    demand = plan.demand
    reach = 0
    for _, src, dst, origin, target, offset, length in plan.schedule.rows():
        assert (target == _core.EVERYONE) == (demand.pattern == "all-gather")
        whole = demand.contributions[origin] if demand.contributions else demand.bytes
        assert offset + length <= whole
        reach = max(reach, offset + length)
        assert src < network.ranks > dst
    assert not len(plan.schedule) or reach == demand.bytes


@settings(max_examples=300)
@given(st.binary(max_size=400), st.booleans())
@example(b"", True)
def test_random_bytes(data: bytes, with_magic: bool) -> None:
    use(MAGIC + data if with_magic else data)


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=60), min_size=SECTIONS, max_size=SECTIONS))
def test_random_sections_with_right_checksums(sections: list[bytes]) -> None:
    use(join(sections))


SAMPLES = [
    small(),
    bytes(forwarding().encode()),
    bytes(exchanging().encode()),
    bytes(gathering().encode()),
    bytes(planned(_core.Network.grid("torus", [3], 1e9, 0)).encode()),
    bytes(planned(_core.Network.grid("torus", [4], 1e9, 0)).encode()),
    bytes(planned(forwarded()).encode()),
    bytes(
        planned(
            _core.Network.routed(["a", "b"], [1, 1], ["c"], [1e9], [0], [(0, 1, [0]), (1, 0, [0])])
        ).encode()
    ),
]
EDITS = st.lists(
    st.tuples(
        st.integers(0, 2**16),
        st.sampled_from(["set", "insert", "delete"]),
        st.sampled_from([0, 1, 2, 3, 5, 0x7F, 0x80, 0xFF]),
    ),
    min_size=1,
    max_size=4,
)


VALUES = st.one_of(st.integers(0, 12), st.sampled_from([99, 100, 101, 2**31, 2**32, 2**63, 2**64 - 1]))


@settings(max_examples=500)
@given(
    st.sampled_from(SAMPLES),
    st.dictionaries(st.sampled_from(BEFORE + AFTER), VALUES, max_size=3),
    st.one_of(st.none(), st.lists(VALUES, max_size=4)),
    st.dictionaries(st.sampled_from(TIMES), st.floats(), max_size=1),
)
def test_altered_headers_with_right_checksums(
    data: bytes, numbers: dict[str, int], contributions: list[int] | None, times: dict[str, float]
) -> None:
    fields = {**header_of(data), **numbers, **times}
    if contributions is not None:
        fields["contributions"] = contributions
    use(join([header_bytes(fields), *split(data)[1:]]))


@settings(max_examples=500)
@given(st.sampled_from(SAMPLES), EDITS)
def test_altered_plans_with_right_checksums(data: bytes, edits: list[tuple[int, str, int]]) -> None:
    """Checksums cannot notice these: rows, header and network are changed, then signed again."""
    sections, rows = split(data), programs_of(data)
    parts = [sections[HEADER], sections[NETWORK], sections[DEMAND], *rows]
    for at, what, value in edits:
        which = at % len(parts)
        part = bytearray(parts[which])
        place = at // len(parts) % (len(part) + 1)
        if what == "insert":
            part.insert(place, value)
        elif place < len(part):
            if what == "set":
                part[place] = value
            else:
                del part[place]
        parts[which] = bytes(part)
    sections[HEADER], sections[NETWORK], sections[DEMAND] = parts[:3]
    use(join(sections, parts[3:]))
