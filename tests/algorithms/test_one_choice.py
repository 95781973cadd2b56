"""Whoever asks, a demand on a network gets the same schedule."""

from __future__ import annotations

from math import prod
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import hocket
from hocket import _core
from hocket.cli import cli
from hocket.launch.environment import plan_for_run
from hocket.network import read_network
from hocket.planning.plan import plan_collective
from strategies import few_ranks, random_graph, random_tree, sampled, unequal

Taken = tuple[str, int, bytes]  # algorithm, phases, rows
PATTERNS = ("all-to-all", "all-gather")


def taken(algorithm: str, schedule: _core.Schedule) -> Taken:
    return algorithm, schedule.phases, schedule.csv(0, schedule.phases)


def by_plan(network: _core.Network, pattern: str, window: int | None = None) -> Taken:
    planned = plan_collective(pattern, network, _core.limits.reference_bytes, window=window)
    return taken(planned.algorithm, planned.schedule)


def by_run(network: _core.Network, pattern: str, window: int | None = None) -> Taken:
    plan = plan_for_run(network, pattern, window)
    return taken(plan.algorithm, plan.schedule)


def by_python(network: _core.Network, pattern: str) -> Taken:
    plan = hocket.plan(hocket.Network._of_core(network, "drawn"), pattern, bytes=_core.limits.reference_bytes)
    return taken(plan.algorithm, plan._plan.schedule)


def check(network: _core.Network) -> None:
    for pattern in PATTERNS:
        wanted = by_plan(network, pattern)
        assert by_run(network, pattern) == wanted
        assert by_python(network, pattern) == wanted
        assert by_plan(network, pattern, window=3) == by_run(network, pattern, window=3)


@sampled(50)
@given(st.integers(0, 2**32 - 1), st.integers(2, 14), st.sampled_from(PATTERNS), st.sampled_from([1, 2, 3]))
def test_waits_are_those_of_the_schedule_that_is_chosen(
    seed: int, hosts: int, pattern: str, window: int
) -> None:
    """Predictions have derived some already."""
    network = random_tree(Random(seed), hosts, ranks=few_ranks, switch_link=unequal).build()
    planned = plan_collective(pattern, network, _core.limits.reference_bytes, window=window)
    derived = _core.Waits.derive(network, planned.schedule, window)
    assert planned.waits.window == derived.window == window
    transfers = range(len(planned.schedule))
    assert [planned.waits.of(i) for i in transfers] == [derived.of(i) for i in transfers]


@sampled(50)
@given(st.integers(0, 2**32 - 1), st.integers(2, 14))
def test_on_trees_with_switch_links_of_any_width(seed: int, hosts: int) -> None:
    check(random_tree(Random(seed), hosts, ranks=few_ranks, switch_link=unequal).build())


@sampled(25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 10))
def test_on_graphs(seed: int, hosts: int) -> None:
    check(random_graph(Random(seed), hosts).build("graph"))


@sampled(15)
@given(
    st.sampled_from(["torus", "mesh"]),
    st.lists(st.integers(2, 5), min_size=1, max_size=3).filter(lambda sides: prod(sides) <= 50),
)
def test_on_grids(kind: str, sides: list[int]) -> None:
    check(read_network(f"{kind}:{'x'.join(map(str, sides))}"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["torus", "mesh"])
@pytest.mark.parametrize("sides", ["4x4x4", "5x4x3", "5x5x3", "5x4x4", "5x5x5"])
def test_on_larger_grids(kind: str, sides: str) -> None:
    check(read_network(f"{kind}:{sides}"))


@sampled(50)
@given(st.integers(0, 2**32 - 1), st.integers(3, 14))
def test_the_fastest_counts_where_links_are_unequal(seed: int, hosts: int) -> None:
    network = random_tree(Random(seed), hosts, switch_link=unequal).build()
    demand = _core.Demand(network.ranks, _core.limits.reference_bytes)
    planned = _core.plan_exchange(network, demand)
    assert seconds(network, demand, planned.algorithm) <= max(
        min(seconds(network, demand, name) for name in ("tree", "packing")), 1.02 * planned.bound_seconds
    )


def seconds(network: _core.Network, demand: _core.Demand, algorithm: str) -> float:
    return float(_core.plan(network, demand, algorithm=algorithm).predicted_seconds)


def schedule_of(made: _core.Schedule) -> list[bytes]:
    return sorted(made.csv(0, made.phases).splitlines())


@pytest.mark.parametrize("network", ["chain:3,2,3", "torus:3x3", "fat-tree:k=4"])
@pytest.mark.parametrize("name", ["broadcast", "reduce", "gather", "scatter"])
def test_the_shown_plan_of_a_root_is_the_run_one(name: str, network: str, tmp_path: Path) -> None:
    """Ranks plan for what a message costs them (limits::run_alpha): so do the command and the library."""
    core = read_network(network)
    demand = next(one for one in _core.Collective.all() if one.name == name).demand(
        core.ranks, _core.limits.reference_bytes, 1
    )
    run = schedule_of(_core.plan_exchange(core, demand, alpha=5e-5).schedule)
    assert schedule_of(plan_collective(name, core, _core.limits.reference_bytes, root=1).schedule) == run
    file = tmp_path / "plan"
    asked = ["plan", name, "--network", network, "--root", "1", "-o", str(file)]
    assert CliRunner().invoke(cli, asked).exit_code == 0
    assert schedule_of(_core.Plan.decode(file.read_bytes()).schedule) == run
