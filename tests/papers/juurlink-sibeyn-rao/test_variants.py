"""Half duplex, and grids without wraparound."""

from __future__ import annotations

from math import ceil, log2
from random import Random

import pytest
from hocket._core import InputError
from hocket._papers import gossip

from gossip_checks import (
    APPROACH_1,
    APPROACH_2,
    BOTH_PORTS,
    check,
    check_high_dim,
    check_line,
    circgos,
    random_circgos,
)

HALF = gossip.Ports.half_duplex
KINDS = [(True, HALF), (False, gossip.Ports.all), (False, HALF)]


@pytest.mark.parametrize("n", range(1, 65))
@pytest.mark.parametrize(("wraparound", "ports"), KINDS)
def test_every_short_line(n: int, wraparound: bool, ports: gossip.Ports) -> None:
    random = Random(n)
    check_line(n, APPROACH_1, wraparound, ports)
    check_line(n, APPROACH_2, wraparound, ports)
    for a in range(1 if wraparound or n == 1 else 2, n + 1):
        check_line(n, random_circgos(random, n, a, wraparound), wraparound, ports)


@pytest.mark.parametrize("n", [97, 128, 243, 256])
@pytest.mark.parametrize(("wraparound", "ports"), KINDS)
def test_longer_lines(n: int, wraparound: bool, ports: gossip.Ports) -> None:
    random = Random(n)
    check_line(n, APPROACH_1, wraparound, ports)
    check_line(n, APPROACH_2, wraparound, ports)
    for a in random.sample(range(2, n + 1), 8):
        check_line(n, random_circgos(random, n, a, wraparound), wraparound, ports)


def test_formulas_of_lines() -> None:
    for n in range(2, 65):
        # Linear array: everyone's item passes everyone.
        cost = gossip.ring_cost(n, APPROACH_1, wraparound=False)
        assert (cost.steps, cost.volume) == (n - 1, n - 1)
        # Concentration needs no wraparound.
        line, ring = (gossip.ring_cost(n, APPROACH_2, wraparound=w) for w in (False, True))
        assert (line.steps, line.volume) == (ring.steps, ring.volume)
        for wraparound in (True, False):
            cost = gossip.ring_cost(n, APPROACH_1, wraparound=wraparound, ports=HALF)
            assert cost.steps == cost.volume == (2 if n % 2 == 0 else 3) * (n - 1)
            cost = gossip.ring_cost(n, APPROACH_2, wraparound=wraparound, ports=HALF)
            log = ceil(log2(n))
            assert (cost.steps, cost.volume) == (2 * log, n - 1 + n * log)


def test_bridgeheads_of_an_array_stand_at_its_ends() -> None:
    """conc of gaps of 9, circ among 4 (two whole segments, one at the end), one round of factor 9."""
    cost = check_line(28, circgos(4, (9, 4)), wraparound=False)
    assert cost.steps == 2 + 3 + 4
    assert cost.volume == pytest.approx(4 + (9 + 9 + 5) + 4 * 28 / 1)
    with pytest.raises(InputError, match="a linear array of 28 cannot have 1 bridgeheads"):
        gossip.ring_cost(28, circgos(1, (28, 20)), wraparound=False)


@pytest.mark.parametrize(("factor", "chunks"), [(2, 1), (2, 4), (3, 1), (4, 2), (5, 3), (9, 4)])
def test_half_duplex_rounds(factor: int, chunks: int) -> None:
    """The Paragon's CircGos: bridgeheads a, growth per round, chunks of a round."""
    steps = chunks if factor == 2 else 2 * (chunks - 1) + (factor + 1) // 2
    n, a = 8 * factor, 8
    cost = check_line(n, circgos(a, (factor, steps)), True, HALF)
    # conc(factor), circ(8), then a stream of chunks.
    assert cost.steps == ceil(log2(factor)) + 14 + steps
    assert cost.volume == pytest.approx(factor - 1 + 14 * factor + steps * n / chunks)


def test_a_step_too_many_is_not_taken() -> None:
    """Half-duplex chunks come every second step: one step more brings no chunk more."""
    exact, longer = (gossip.ring_cost(40, circgos(8, (5, steps)), ports=HALF) for steps in (7, 8))
    assert (exact.steps, exact.volume) == (longer.steps, longer.volume)


SIDES = [[8, 8], [9, 9], [5, 7], [4, 6, 5], [3, 3, 3, 3], [16, 16], [1, 6], [2, 2, 2]]


@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_meshes(sides: list[int]) -> None:
    grid = gossip.Grid(sides, wraparound=False)
    random = Random(str(sides))
    d = len(sides)
    cost = check_high_dim(grid, [APPROACH_1] * d)
    if len(set(sides)) == 1:
        n = sides[0]
        assert cost.steps == d * (n - 1)
        assert cost.volume == pytest.approx((n**d - 1) / d)
    for coloured in (True, False):
        for _ in range(3):
            plans = [
                [random_circgos(random, n, random.randint(min(2, n), n), wraparound=False) for n in sides]
                for _ in sides
            ]
            check_high_dim(grid, plans, coloured)
        check_high_dim(grid, [APPROACH_2] * d, coloured)


@pytest.mark.parametrize("sides", SIDES, ids=str)
@pytest.mark.parametrize("wraparound", [True, False])
def test_half_duplex_grids(sides: list[int], wraparound: bool) -> None:
    grid = gossip.Grid(sides, wraparound)
    random = Random(str(sides))
    for first in (APPROACH_1, APPROACH_2):
        for last in (APPROACH_1, APPROACH_2):
            check_high_dim(grid, [first] * (len(sides) - 1) + [last], False, HALF)
    plans = [
        [random_circgos(random, n, random.randint(min(2, n), n), wraparound) for n in sides] for _ in sides
    ]
    check_high_dim(grid, plans, False, HALF)


@pytest.mark.parametrize("sides", [[2, 2], [4, 4], [4, 2], [6, 10], [8, 8], [12, 16], [32, 32]], ids=str)
@pytest.mark.parametrize("wraparound", [True, False])
def test_black_and_white(sides: list[int], wraparound: bool) -> None:
    grid = gossip.Grid(sides, wraparound)
    cost = gossip.black_white_cost(grid)
    result = check(grid, gossip.black_white_gossip(grid), cost, HALF)
    assert result.redundant == 0
    n = sides[0]
    if sides == [n, n] and n % 4 == 0:
        # Every processor receives and sends n² − 1 items, never both at once.
        assert (cost.steps, cost.volume) == (2 * n, 2 * (n * n - 1))
        plain = gossip.high_dim_cost(grid, [[APPROACH_1]] * 2, False, HALF)
        assert (plain.steps, plain.volume) == (4 * (n - 1), cost.volume)


def test_what_half_duplex_cannot_do() -> None:
    with pytest.raises(InputError, match="half duplex allows one"):
        gossip.high_dim_cost(gossip.Grid([4, 4]), [[APPROACH_1]] * 2, True, HALF)
    for sides in ([5, 4], [4, 0]):
        with pytest.raises(InputError, match="even sides"):
            gossip.black_white_cost(gossip.Grid(sides))
    with pytest.raises(InputError, match="two axes"):
        gossip.black_white_gossip(gossip.Grid([4, 4, 4]))


def test_all_ports_are_no_worse() -> None:
    for n in range(2, 40):
        for plan in (APPROACH_1, APPROACH_2):
            for wraparound in (True, False):
                full, half = (gossip.ring_cost(n, plan, wraparound=wraparound, ports=p) for p in BOTH_PORTS)
                assert full.steps <= half.steps and full.volume <= half.volume
