"""Common parts of the tests of gossip: plans in short form, and the check that steps are right."""

from __future__ import annotations

from random import Random

import pytest
from hocket._papers import gossip

APPROACH_1 = gossip.RingPlan(gossip.RingPlan.Kind.approach1)
APPROACH_2 = gossip.RingPlan(gossip.RingPlan.Kind.approach2)
BOTH_PORTS = (gossip.Ports.all, gossip.Ports.half_duplex)


def rounds(*pairs: tuple[int, int]) -> list[gossip.Round]:
    return [gossip.Round(factor, steps) for factor, steps in pairs]


def circgos(a: int, *pairs: tuple[int, int]) -> gossip.RingPlan:
    return gossip.RingPlan(gossip.RingPlan.Kind.circgos, a, rounds(*pairs))


def filling(random: Random, gap: int, most: int = 6) -> list[tuple[int, int]]:
    """Random rounds that leave no gap of this length open."""
    pairs = []
    while gap > 1:
        factor = random.randint(2, most)
        pairs.append((factor, (factor + 1) // 2 + random.randint(0, 3)))
        gap = -(-gap // min(factor, gap))
    return pairs


def random_circgos(random: Random, n: int, a: int, wraparound: bool) -> gossip.RingPlan:
    gap = -(-n // a) if wraparound else -(-(n - 1) // (a - 1)) if n > 1 else 1
    return circgos(a, *filling(random, gap))


def check(
    grid: gossip.Grid,
    steps: gossip.Steps,
    cost: gossip.Cost,
    ports: gossip.Ports = gossip.Ports.all,
) -> gossip.Execution:
    """Check that all nodes end with everything, no rule is broken, and the formula counts the same."""
    result = gossip.execute(grid, steps, ports)
    assert result.problem == ""
    assert result.complete and result.held and result.link_disjoint and result.ports_respected
    assert result.steps == cost.steps
    assert result.strict_volume == pytest.approx(cost.volume, rel=1e-9)
    # Without shared links, the largest load is the largest message.
    assert result.shared_volume == result.strict_volume
    return result


def check_high_dim(
    grid: gossip.Grid,
    phases: list[gossip.RingPlan] | list[list[gossip.RingPlan]],
    coloured: bool = True,
    ports: gossip.Ports = gossip.Ports.all,
) -> gossip.Cost:
    plans = [phase if isinstance(phase, list) else [phase] for phase in phases]
    cost = gossip.high_dim_cost(grid, plans, coloured, ports)
    check(grid, gossip.high_dim_gossip(grid, plans, coloured, ports), cost, ports)
    return cost


def check_line(
    n: int,
    plan: gossip.RingPlan,
    wraparound: bool = True,
    ports: gossip.Ports = gossip.Ports.all,
) -> gossip.Cost:
    cost = check_high_dim(gossip.Grid([n], wraparound), [plan], True, ports)
    own = gossip.ring_cost(n, plan, 1.0, wraparound, ports)
    assert (own.steps, own.volume) == (cost.steps, cost.volume)
    return cost


def check_cubgos(
    sides: list[int], spacing: int, *pairs: tuple[int, int], coloured: bool = True
) -> gossip.Cost:
    grid = gossip.Grid(sides)
    cost = gossip.cubgos_cost(grid, spacing, rounds(*pairs), coloured)
    check(grid, gossip.cubgos(grid, spacing, rounds(*pairs), coloured), cost)
    return cost
