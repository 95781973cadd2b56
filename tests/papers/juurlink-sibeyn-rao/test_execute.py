"""The executor finds every broken rule, and counts what steps cost."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from hocket._core import InputError
from hocket._papers import gossip

from gossip_checks import random_circgos

Row = tuple[int, int, int, int, list[tuple[int, int, int]]]

RING = gossip.Grid([3])
COMPLETE: list[Row] = [
    (0, node, 0, way, [(node, 0, 1)])  # everyone sends its item both ways
    for node in range(3)
    for way in (1, -1)
]


def run(
    rows: list[Row],
    grid: gossip.Grid = RING,
    units: int = 1,
    ports: gossip.Ports = gossip.Ports.all,
) -> gossip.Execution:
    return gossip.execute(grid, gossip.Steps.from_rows(units, sorted(rows)), ports)


def broken(result: gossip.Execution) -> set[str]:
    return {
        name for name in ("link_disjoint", "ports_respected", "held", "complete") if not getattr(result, name)
    }


def test_complete_steps_are_accepted() -> None:
    result = run(COMPLETE)
    assert broken(result) == set()
    assert result.problem == ""
    assert (result.steps, result.strict_volume, result.shared_volume, result.redundant) == (1, 1, 1, 0)
    assert result.strict_time(16) == 17


def test_missing_message() -> None:
    for left_out in range(len(COMPLETE)):
        result = run(COMPLETE[:left_out] + COMPLETE[left_out + 1 :])
        assert broken(result) == {"complete"}
        assert "never has all of item" in result.problem


def test_missing_units() -> None:
    rows = [(step, node, axis, way, [(node, 0, 9)]) for step, node, axis, way, _ in COMPLETE[1:]]
    assert broken(run([*rows, (0, 0, 0, 1, [(0, 0, 8)])], units=9)) == {"complete"}
    assert broken(run([*rows, (0, 0, 0, 1, [(0, 0, 4), (0, 5, 9)])], units=9)) == {"complete"}
    assert broken(run([*rows, (0, 0, 0, 1, [(0, 0, 4), (0, 4, 9)])], units=9)) == set()


def test_what_arrives_can_be_sent_only_in_the_next_step() -> None:
    line = gossip.Grid([3], wraparound=False)
    rows: list[Row] = [
        (0, 0, 0, 1, [(0, 0, 1)]),
        (0, 2, 0, -1, [(2, 0, 1)]),
        (1, 1, 0, 1, [(0, 0, 1), (1, 0, 1)]),
        (1, 1, 0, -1, [(1, 0, 1), (2, 0, 1)]),
    ]
    assert broken(run(rows, line)) == set()
    early = [(0, *row[1:]) for row in rows]
    result = run(early, line)  # type: ignore[arg-type]
    assert not result.held
    assert result.problem == "step 0, processor 1: it sends what it does not hold"


def test_part_of_an_item_is_not_all_of_it() -> None:
    rows: list[Row] = [(0, 0, 0, 1, [(0, 0, 1)]), (1, 1, 0, 1, [(0, 0, 2)])]
    result = run(rows, units=2)
    assert not result.held
    assert "step 1, processor 1" in result.problem


def test_shared_link() -> None:
    ring = gossip.Grid([4])
    result = run([(0, 0, 0, 2, [(0, 0, 1)]), (0, 1, 0, 2, [(1, 0, 1)])], ring)
    assert broken(result) == {"link_disjoint", "complete"}
    assert result.problem == "step 0, processor 1: a channel out of it is shared"
    assert (result.strict_volume, result.shared_volume) == (1, 2)
    # Opposite ways share nothing.
    assert run([(0, 0, 0, 2, [(0, 0, 1)]), (0, 2, 0, -2, [(2, 0, 1)])], ring).link_disjoint
    # Nor do rows and columns.
    torus = gossip.Grid([4, 4])
    assert run([(0, 0, 0, 2, [(0, 0, 1)]), (0, 0, 1, 2, [(0, 0, 1)])], torus).link_disjoint


def test_ports() -> None:
    ring = gossip.Grid([5])
    twice_out = run([(0, 0, 0, 1, [(0, 0, 1)]), (0, 0, 0, 2, [(0, 0, 1)])], ring)
    assert not twice_out.ports_respected
    twice_in = run([(0, 0, 0, 2, [(0, 0, 1)]), (0, 1, 0, 1, [(1, 0, 1)])], ring)
    assert not twice_in.ports_respected
    # A longer way past a receiver is a matter of links, not of ports.
    past = run([(0, 0, 0, 2, [(0, 0, 1)]), (0, 1, 0, 2, [(1, 0, 1)])], ring)
    assert past.ports_respected and not past.link_disjoint


def test_half_duplex_allows_one_message_in_or_out() -> None:
    assert broken(run(COMPLETE, ports=gossip.Ports.half_duplex)) == {"ports_respected"}
    ring = gossip.Grid([4])
    pair: list[Row] = [(0, 0, 0, 1, [(0, 0, 1)]), (0, 2, 0, 1, [(2, 0, 1)])]
    assert run(pair, ring, ports=gossip.Ports.half_duplex).ports_respected
    for other in (
        (0, 1, 0, 1, [(1, 0, 1)]),  # receives and sends
        (0, 0, 0, -1, [(0, 0, 1)]),  # sends twice
        (0, 2, 0, -1, [(2, 0, 1)]),  # one receives twice
    ):
        assert not run([pair[0], other], ring, ports=gossip.Ports.half_duplex).ports_respected


def test_loads_and_redundant_units() -> None:
    ring = gossip.Grid([6])
    rows: list[Row] = [
        (0, 0, 0, 3, [(0, 0, 4)]),
        (0, 1, 0, 3, [(1, 0, 1)]),
        (0, 2, 0, 3, [(2, 0, 2)]),
        (1, 0, 0, -3, [(0, 1, 3)]),
    ]
    result = run(rows, ring, units=4)
    assert result.strict_volume == 1 + 0.5
    assert result.shared_volume == 7 / 4 + 0.5
    assert result.redundant == 2


def test_an_empty_step_costs_a_alpha() -> None:
    rows = [*COMPLETE[:-1], (2, *COMPLETE[-1][1:])]
    result = run(rows)
    assert result.complete
    assert (result.steps, result.strict_volume) == (3, 2)


def test_items_of_many_cuts() -> None:
    """More pieces than a machine word has bits; the last arrives out of order and twice."""
    units = 300
    line = gossip.Grid([2], wraparound=False)
    rows: list[Row] = [(0, 1, 0, -1, [(1, 0, units)])]
    rows += [(step, 0, 0, 1, [(0, (step * 7) % units, (step * 7) % units + 1)]) for step in range(units)]
    result = run(rows, line, units)
    assert broken(result) == set() and result.redundant == 0
    assert broken(run(rows[:-1], line, units)) == {"complete"}
    assert run([*rows, (units, 0, 0, 1, [(0, 50, 200)])], line, units).redundant == 150


@pytest.mark.parametrize(
    ("row", "wraparound", "reason"),
    [
        ((0, 9, 0, 1, [(0, 0, 1)]), True, "no processor 9"),
        ((0, 0, 2, 1, [(0, 0, 1)]), True, "no axis 2"),
        ((0, 0, 0, 0, [(0, 0, 1)]), True, "cannot send 0 places"),
        ((0, 0, 0, 3, [(0, 0, 1)]), True, "cannot send 3 places"),
        ((0, 0, 0, -1, [(0, 0, 1)]), False, "cannot send -1 places"),
        ((0, 8, 1, 1, [(8, 0, 1)]), False, "cannot send 1 places along axis 1"),
        ((0, 0, 0, 1, [(9, 0, 1)]), True, "no units 0..1 of item 9"),
        ((0, 0, 0, 1, [(0, 0, 2)]), True, "no units 0..2 of item 0"),
        ((0, 0, 0, 1, [(0, 1, 1)]), True, "no units 1..1 of item 0"),
    ],
)
def test_out_of_the_grid(row: Row, wraparound: bool, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        run([row], gossip.Grid([3, 3], wraparound))


def test_grids_that_cannot_be() -> None:
    for sides in ([], [0], [3, 0], [70000], [2**31, 2**31, 4]):
        with pytest.raises(InputError, match="grid"):
            run([], gossip.Grid(sides))


class Reference:
    """Second implementation of the rules, unit by unit."""

    def __init__(self, sides: list[int], wraparound: bool, units: int, half_duplex: bool) -> None:
        self.sides, self.wraparound, self.units, self.half_duplex = sides, wraparound, units, half_duplex
        self.nodes = list(product(*map(range, sides)))
        self.held = [{(node, unit) for unit in range(units)} for node in range(len(self.nodes))]
        self.flags = dict.fromkeys(("link_disjoint", "ports_respected", "held"), True)
        self.strict = self.shared = self.redundant = 0

    def step(self, rows: list[Row]) -> None:
        loads: Counter[object] = Counter()
        uses: Counter[object] = Counter()
        ports: Counter[object] = Counter()
        largest, arriving = 0, []
        for _, src, axis, displacement, parcels in rows:
            content = [(origin, unit) for origin, begin, end in parcels for unit in range(begin, end)]
            largest = max(largest, len(content))
            at, way = list(self.nodes[src]), 1 if displacement > 0 else -1
            for _ in range(abs(displacement)):
                loads[*at, axis, way] += len(content)
                uses[*at, axis, way] += 1
                at[axis] = (at[axis] + way) % self.sides[axis]
            dst = self.nodes.index(tuple(at))
            ports.update(
                [src, dst] if self.half_duplex else [("out", src, axis, way), ("in", dst, axis, way)]
            )
            if set(content) <= self.held[src]:
                arriving.append((dst, content))
            else:
                self.flags["held"] = False
        for dst, content in arriving:
            for unit in content:
                self.redundant += unit in self.held[dst]
                self.held[dst].add(unit)
        self.flags["link_disjoint"] &= max(uses.values(), default=0) <= 1
        self.flags["ports_respected"] &= max(ports.values(), default=0) <= 1
        self.strict += largest
        self.shared += max(loads.values(), default=0)

    def complete(self) -> bool:
        return all(len(held) == len(self.nodes) * self.units for held in self.held)


def compare(grid: gossip.Grid, steps: gossip.Steps, ports: gossip.Ports) -> gossip.Execution:
    result = gossip.execute(grid, steps, ports)
    half_duplex = ports == gossip.Ports.half_duplex
    reference = Reference(grid.sides, grid.wraparound, steps.units, half_duplex)
    rows = steps.rows()
    for step in range(len(steps)):
        reference.step([row for row in rows if row[0] == step])
    assert {flag: getattr(result, flag) for flag in reference.flags} == reference.flags
    assert result.complete == reference.complete()
    assert result.redundant == reference.redundant
    assert result.strict_volume == pytest.approx(reference.strict / steps.units)
    assert result.shared_volume == pytest.approx(reference.shared / steps.units)
    return result


@pytest.mark.parametrize("seed", range(60))
def test_random_messages_as_the_reference_has_them(seed: int) -> None:
    random = Random(seed)
    sides = random.choice([[2], [5], [3, 3], [2, 4], [2, 2, 3]])
    grid = gossip.Grid(sides, random.random() < 0.7)
    units = random.choice([1, 2, 7, 80])
    rows: list[Row] = []
    for step in range(random.randint(0, 6)):
        for _ in range(random.randint(0, 5)):
            src = random.randrange(grid.nodes)
            axis = random.randrange(len(sides))
            at = list(product(*map(range, sides)))[src][axis]
            low, high = (1 - sides[axis], sides[axis] - 1) if grid.wraparound else (-at, sides[axis] - 1 - at)
            displacement = random.choice([d for d in range(low, high + 1) if d != 0])
            parcels = []
            # Distinct origins, mostly what the sender surely holds.
            origins = (
                random.sample(range(grid.nodes), random.randint(1, 2)) if random.random() < 0.3 else [src]
            )
            for origin in origins:
                begin, end = sorted(random.sample(range(units + 1), 2))
                parcels.append((origin, begin, end))
            rows.append((step, src, axis, displacement, parcels))
    steps = gossip.Steps.from_rows(units, rows)
    for ports in (gossip.Ports.all, gossip.Ports.half_duplex):
        compare(grid, steps, ports)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_schedules_as_the_reference_has_them(seed: int) -> None:
    """One message of a correct schedule is lost, late, or cut short: the executor must see it."""
    random = Random(seed)
    n = random.randint(3, 12)
    grid = gossip.Grid([n])
    plan = random_circgos(random, n, random.randint(1, n), wraparound=True)
    steps = gossip.high_dim_gossip(grid, [[plan]])
    assert broken(compare(grid, steps, gossip.Ports.all)) == set()
    rows = steps.rows()
    hit = random.randrange(len(rows))
    step, src, axis, displacement, parcels = rows[hit]
    damage = seed % 3
    if damage == 0:
        del rows[hit]
    elif damage == 1:
        rows[hit] = (len(steps), src, axis, displacement, parcels)
    else:
        rows[hit] = (step, src, axis, displacement, parcels[1:])
    result = compare(grid, gossip.Steps.from_rows(steps.units, sorted(rows)), gossip.Ports.all)
    # Lost units are missed, unless they would have come a second time.
    assert broken(result) or damage == 1 or compare(grid, steps, gossip.Ports.all).redundant > 0
