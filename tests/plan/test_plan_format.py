"""The binary plan: everything comes back, and nothing but an intact plan is read (docs/plan-format.md)."""

from __future__ import annotations

import struct
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import few_ranks, random_graph, random_tree, star, unequal
from wire import checksum

MAGIC = b"HOCKET\x1a\n"
SECTIONS = 4
HEADER, NETWORK, INDEX, ROWS = range(SECTIONS)
HEAD = 8 * (4 + 3 * SECTIONS)


def number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def split(data: bytes) -> list[bytes]:
    words = struct.unpack(f"<{HEAD // 8}Q", data[:HEAD])
    return [data[words[3 + 3 * i] :][: words[4 + 3 * i]] for i in range(SECTIONS)]


def rows_of(data: bytes) -> list[bytes]:
    sections = split(data)
    index = sections[INDEX][len(sections[INDEX]) % 24 :]
    entries = struct.iter_unpack("<3Q", index)
    return [sections[ROWS][offset:][:size] for offset, size, _ in entries]


def join(sections: list[bytes], rows: list[bytes] | None = None) -> bytes:
    """A plan with right checksums, whatever it says."""
    sections = list(sections)
    if rows is not None:
        index, offset = number(len(rows)), 0
        for row in rows:
            index += struct.pack("<3Q", offset, len(row), checksum(row))
            offset += len(row)
        sections[INDEX], sections[ROWS] = index, b"".join(rows)
    head = MAGIC + struct.pack("<QQ", 3, HEAD + sum(map(len, sections)))
    offset = HEAD
    for i, section in enumerate(sections):
        head += struct.pack("<3Q", offset, len(section), 0 if i == ROWS else checksum(section))
        offset += len(section)
    return head + struct.pack("<Q", checksum(head)) + b"".join(sections)


def make_plan(network: _core.Network, schedule: _core.Schedule, size: int, window: int = 1) -> _core.Plan:
    waits = _core.derive_waits(network, schedule, window)
    return _core.Plan(network, schedule, waits, _core.Demand(network.ranks, size), "tree", 12, 0.25, 0.5)


def planned(network: _core.Network, size: int = 100, window: int = 1) -> _core.Plan:
    demand = _core.Demand(network.ranks, size)
    return make_plan(network, _core.choose_scheduler(network, demand).make(network, demand), size, window)


def forwarding() -> _core.Plan:
    """Three hosts in a star; 0->1 goes in two pieces, one of them by way of 2."""
    rows = [
        (0, 0, 2, 0, 1, 0, 40),
        (0, 1, 0, 1, 0, 0, 100),
        (0, 2, 1, 2, 1, 0, 100),
        (1, 0, 1, 0, 1, 40, 60),
        (1, 1, 2, 1, 2, 0, 100),
        (1, 2, 0, 2, 0, 0, 100),
        (2, 0, 2, 0, 2, 0, 100),
        (2, 2, 1, 0, 1, 0, 40),
    ]
    return make_plan(star(3).build(), _core.Schedule.from_rows(3, 100, rows), 100)


def gathering() -> _core.Plan:
    """An all-gather of unequal parts: bundles, a split, a rank that has nothing to give."""
    everyone = _core.EVERYONE
    rows = [
        (0, 0, 1, 0, everyone, 0, 100),
        (0, 2, 0, 2, everyone, 0, 40),
        (1, 1, 2, 0, everyone, 0, 60),
        (2, 0, 2, 0, everyone, 60, 40),
        (3, 0, 1, 2, everyone, 0, 40),
    ]
    network = star(3).build()
    schedule = _core.Schedule.from_rows(3, 100, rows)
    demand = _core.Demand(3, 100, "all-gather", [100, 0, 40])
    waits = _core.derive_waits(network, schedule)
    return _core.Plan(network, schedule, waits, demand, "by hand", 2, 1.0, 1.0)


def forwarded() -> _core.Network:
    """Three switches in a ring, one host each; messages go one way round, but from the first to the third."""
    names, ranks = ["s0", "s1", "s2", "a", "b", "c"], [0, 0, 0, 1, 1, 1]
    hops = [(0, None, 0), (1, None, 2), (2, None, 4), (0, 5, 5)]
    links = [0, 1, 2, 0, 1, 2], [1, 2, 0, 3, 4, 5]
    return _core.build_graph(names, ranks, *links, [1e9] * 6, [1e-6] * 6, hops)


def small() -> bytes:
    return bytes(planned(star(3).build()).encode())


def by_phase(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """A plan keeps the order within a phase by sender only."""
    return sorted(rows, key=lambda row: (row[0], row[1]))


def waits_by_row(plan: _core.Plan) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    rows = plan.schedule.rows()
    return {row: {rows[wait] for wait in plan.waits.of(i)} for i, row in enumerate(rows)}


def check_round_trip(plan: _core.Plan, network: _core.Network) -> None:
    data = plan.encode()
    again = _core.Plan.decode(data)
    assert again.schedule.rows() == by_phase(plan.schedule.rows())
    assert waits_by_row(again) == waits_by_row(plan)
    assert (again.waits.window, again.waits.derived) == (plan.waits.window, plan.waits.derived)
    for field in (
        "scheduler",
        "phases",
        "transfers",
        "window",
        "bound_phases",
        "bound_seconds",
        "predicted_seconds",
    ):
        assert getattr(again.header, field) == getattr(plan.header, field)
    assert (again.header.demand.ranks, again.header.demand.bytes) == (network.ranks, plan.header.demand.bytes)
    rebuilt = again.build_network()
    for field in ("shape", "names", "ranks_per_node", "links", "sides", "ties", "next_hops", "host_rate"):
        assert getattr(rebuilt, field) == getattr(network, field)
    assert all(rebuilt.rate(c) == network.rate(c) for c in range(network.channels))
    assert _core.Plan.decode(again.encode()).encode() == again.encode()
    programs = _core.rank_programs(plan.schedule, plan.waits)
    for rank, program in enumerate(programs):
        alone = _core.decode_program(data, rank)
        assert alone.sends == program.sends
        assert alone.receives == program.receives


@pytest.mark.parametrize("seed", range(25))
def test_round_trip_of_random_schedules(seed: int) -> None:
    rng = Random(seed)
    plan = random_tree(rng, rng.randint(1, 20), ranks=few_ranks, trunk=unequal if seed % 2 else lambda _: 1.0)
    network = plan.build()
    check_round_trip(planned(network, rng.choice([0, 1, 127, 128, 65536, 2**40]), 1 + seed % 3), network)


@pytest.mark.parametrize("name", ["ring", "linear", "pairwise"])
def test_round_trip_of_baselines(name: str) -> None:
    network = star(8).build()
    schedule = _core.find_scheduler(name).make(network, _core.Demand(8, 10))
    check_round_trip(make_plan(network, schedule, 10), network)


def test_round_trip_of_an_all_gather() -> None:
    plan = gathering()
    check_round_trip(plan, star(3).build())
    again = _core.Plan.decode(plan.encode()).header.demand
    assert (again.pattern, again.contributions) == ("all-gather", [100, 0, 40])
    certificate = _core.verify(star(3).build(), again, plan.schedule)
    assert certificate.ok, certificate.findings


def test_round_trip_of_other_networks() -> None:
    networks = [
        _core.build_grid("torus", [3, 2], 1e9, 1e-6),
        _core.build_grid("mesh", [2, 3], 1e9, 1e-6),
        _core.build_grid("hypercube", [3], 1e9, 1e-6),
        _core.build_grid("torus", [4, 6], 1e9, 1e-6, ties=["+--+", "++++++"]),
        random_graph(Random(1), 7).build("graph"),
        forwarded(),
        _core.build_routed(["ä", "b"], [1, 1], ["x", "y"], [1e9, 2e9], [0, 1], [(0, 1, [0]), (1, 0, [1, 0])]),
    ]
    for network in networks:
        check_round_trip(planned(network), network)


def test_round_trip_of_pieces() -> None:
    check_round_trip(forwarding(), star(3).build())


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_round_trip_of_random_pieces(seed: int) -> None:
    """Any transfers at all, as long as no two in a phase are the same."""
    rng = Random(seed)
    ranks = rng.randint(2, 5)
    rows = set()
    for _ in range(rng.randint(1, 20)):
        src, dst = rng.sample(range(ranks), 2)
        offset = rng.randrange(90)
        rows.add(
            (0, src, dst, rng.randrange(ranks), rng.randrange(ranks), offset, rng.randrange(100 - offset))
        )
    ordered = by_phase([(i // 3, *row[1:]) for i, row in enumerate(sorted(rows))])
    network = star(ranks).build()
    check_round_trip(make_plan(network, _core.Schedule.from_rows(ranks, 100, ordered), 100), network)


def test_the_documented_layout_is_the_real_one() -> None:
    for data in (small(), bytes(forwarding().encode())):
        assert data.startswith(MAGIC)
        assert join(split(data)) == data
        assert join(split(data), rows_of(data)) == data


def refused(data: bytes) -> str:
    with pytest.raises(_core.PlanProblem) as caught:
        _core.Plan.decode(data)
    return str(caught.value)


@pytest.mark.parametrize("data", [small(), bytes(forwarding().encode())], ids=["direct", "pieces"])
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
    data[8] = 4
    assert refused(bytes(data)) == "plan version 4, this Hocket reads version 3"


def test_a_rank_that_the_plan_does_not_have() -> None:
    for rank in (3, 2**32 - 1):
        with pytest.raises(_core.PlanProblem, match="no such rank"):
            _core.decode_program(small(), rank)


def test_a_row_is_read_without_the_others() -> None:
    """Damage in the row of rank 1 is seen by rank 1 only."""
    data = bytearray(small())
    sections = split(bytes(data))
    start = len(data) - len(sections[ROWS]) + len(rows_of(bytes(data))[0])
    data[start] ^= 1
    _core.decode_program(bytes(data), 0)
    _core.decode_program(bytes(data), 2)
    with pytest.raises(_core.PlanProblem, match="the row of rank 1 is damaged"):
        _core.decode_program(bytes(data), 1)


def test_idle_phases_are_not_planned() -> None:
    network = star(2).build()
    schedule = _core.Schedule.from_rows(2, 1, [(0, 0, 1, 0, 1, 0, 1), (5, 1, 0, 1, 0, 0, 1)])
    with pytest.raises(_core.InputError, match="idle phases"):
        make_plan(network, schedule, 1).encode()


def test_waits_and_ranks_that_do_not_fit_are_not_planned() -> None:
    schedule = _core.Schedule.from_rows(2, 1, [(0, 0, 1, 0, 1, 0, 1)])
    for lists, complaint in [([[], []], "another number of transfers"), ([[7]], "does not exist")]:
        with pytest.raises(_core.InputError, match=complaint):
            _core.rank_programs(schedule, _core.Waits.from_lists(lists))
    stray = _core.Schedule.from_rows(2, 1, [(0, 9, 1, 9, 1, 0, 1)])
    with pytest.raises(_core.InputError, match="names a rank"):
        _core.rank_programs(stray, _core.Waits.from_lists([[]]))


# Row of rank 0 of the star of three: two sends, two receives; each send or receive is
# (phase step, other rank, count of tokens or releases, …).


def receives_of(row: bytes) -> bytes:
    """The second half of a row of two sends whose numbers are all below 128."""
    at = 1
    for _ in range(row[0]):
        at += 3 + row[at + 2]
    return row[at:]


def forged(change: dict[int, bytes]) -> str:
    data = small()
    rows = rows_of(data)
    for rank, row in change.items():
        rows[rank] = row
    return refused(join(split(data), rows))


def test_rows_that_contradict_each_other() -> None:
    empty = number(0) + number(0)
    assert forged({0: empty}) == "the rows do not hold as many transfers as the header says"
    rows = rows_of(small())
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
    """Or a small file could claim any number of rows of any length."""
    data = small()
    sections = split(data)
    sections[INDEX] = number(3) + struct.pack("<3Q", 0, len(sections[ROWS]), checksum(sections[ROWS])) * 3
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
    network = _core.build_grid("torus", [3], 1e9, 0)
    data = bytes(planned(network).encode())
    sections = split(data)
    # one side: 3, a row of no ties; no forwarding entries, channels or routes
    at = sections[NETWORK].rindex(bytes([1, 3, 1, 0, 0, 0, 0]))
    sections[NETWORK] = sections[NETWORK][:at] + bytes([1, 4, 1, 0, 0, 0, 0])
    with pytest.raises(_core.InputError, match="not those of a grid"):
        _core.Plan.decode(join(sections)).build_network()


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
            _core.Plan.decode(join(sections)).build_network()
        sections = split(data)


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
    except _core.PlanProblem:
        return
    assert isinstance(plan.header.scheduler, str)
    try:
        network = plan.build_network()
        certificate = _core.verify(network, plan.header.demand, plan.schedule)
        _core.verify_waits(network, plan.schedule, plan.waits, certificate)
        _core.derive_waits(network, plan.schedule)
        _core.lower_bounds(network, plan.header.demand)
    except _core.InputError:
        return
    assert len(plan.schedule) == plan.header.transfers


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
    bytes(planned(_core.build_grid("torus", [3], 1e9, 0)).encode()),
    bytes(planned(_core.build_grid("torus", [4], 1e9, 0)).encode()),
    bytes(planned(forwarded()).encode()),
    bytes(
        planned(
            _core.build_routed(["a", "b"], [1, 1], ["c"], [1e9], [0], [(0, 1, [0]), (1, 0, [0])])
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


@settings(max_examples=1500)
@given(st.sampled_from(SAMPLES), EDITS)
def test_altered_plans_with_right_checksums(data: bytes, edits: list[tuple[int, str, int]]) -> None:
    """What no checksum can notice: rows, header and network are changed, then signed again."""
    sections, rows = split(data), rows_of(data)
    parts = [sections[HEADER], sections[NETWORK], *rows]
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
    sections[HEADER], sections[NETWORK] = parts[:2]
    use(join(sections, parts[2:]))
