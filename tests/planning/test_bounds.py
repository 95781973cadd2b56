"""Three bounds: of the routes, of any routes, of the ports."""

from __future__ import annotations

import builtins
from pathlib import Path
from random import Random
from typing import Any

import pytest

from forwarding_hosts import network_file, ring
from hocket import _core
from hocket.network import read_network
from hocket.planning import bounds
from hocket.planning.bounds import LINEAR_PROGRAM, PRICES, bounds_line, free_routes, true_bounds
from hocket.planning.plan import plan_demand, whole_phases
from strategies import RATE, NetworkPlan, chain, random_graph, star
from wired_switches import hung, random_regular


def all_to_all(network: _core.Network) -> _core.Demand:
    return _core.Demand(network.ranks, 1 << 16)


def uneven() -> _core.Network:
    """Two ways between two switches: a cable, and one by way of a third switch. Tables send all by the cable."""
    plan = hung(3, [(0, 1), (1, 2), (0, 2)], 0)
    for switch in (0, 0, 0, 0, 1, 1, 1, 1):
        plan.node(1, switch)
    hops = [(0, None, 0), (1, None, 1), (2, None, 3)]
    a, b = [x for x, _ in plan.links], [y for _, y in plan.links]
    return _core.Network.graph(plan.names, plan.ranks, a, b, plan.rates, [0.0] * len(a), hops)


def test_a_plan_has_the_bounds_of_its_schedule(tmp_path: Path) -> None:
    """Where ranks pass on parts of messages there are no phases of whole ones."""
    for place, direct in ((network_file(tmp_path / "ring.toml", ring(5)), False), ("star:5", True)):
        network = read_network(place)
        plan = plan_demand(network, all_to_all(network), bounds=True)
        alone = _core.true_bounds(network, plan.demand, plan.schedule.direct)
        assert plan.bounds.in_phases == alone.in_phases == plan.schedule.direct == direct
        assert plan.bounds.installed_routes == alone.installed_routes
        assert plan_demand(network, all_to_all(network)).bounds is None


def test_where_another_route_would_do_better() -> None:
    found = true_bounds(uneven(), all_to_all(uneven()), taken=16)
    assert found is not None
    assert (found["installed_routes"]["phases"], found["ports"]["phases"]) == (16, 7)
    assert found["free_routes"]["phases"] == pytest.approx(8, rel=2e-3)
    line = bounds_line(found)
    assert line.startswith("these routes 16 (ratio 1.000), any routes 8 (ratio 2.000, by ")
    assert line.endswith("ports 7 (ratio 2.286), balanced routes 8 (ratio 2.000, 'hocket network balance')")
    assert found["installed_routes"]["ratio"] == 1
    assert found["free_routes"]["ratio"] == pytest.approx(2, rel=2e-3)
    free = found["free_routes"]
    seconds = _core.priced_seconds(uneven(), all_to_all(uneven()), free["prices"])
    assert seconds == pytest.approx(free["seconds"])


def test_a_star_is_bound_by_its_ports() -> None:
    network = star(5).build()
    found = true_bounds(network, all_to_all(network))
    assert found is not None
    assert (found["installed_routes"]["phases"], found["ports"]["phases"]) == (4, 4)
    assert found["free_routes"]["phases"] == pytest.approx(4)
    assert found["free_routes"]["exact"]


@pytest.mark.parametrize("seed", range(40))
def test_no_bound_of_given_routes_is_lower_than_that_of_any(seed: int) -> None:
    """Nor is a plan below its bounds: links of any rates, slower and faster than those of the hosts."""
    rng = Random(seed)
    plan = random_graph(rng, rng.randint(3, 8))
    plan.rates = [RATE * rng.choice((0.25, 0.4, 1, 1, 1.5, 3)) for _ in plan.links]
    network = plan.build("graph")
    made = plan_demand(network, all_to_all(network))
    found = true_bounds(network, made.demand, made.schedule.direct)
    assert found is not None and "free_routes" in found
    assert found["installed_routes"]["seconds"] >= found["free_routes"]["seconds"] * (1 - 1e-9)
    assert found["installed_routes"]["phases"] >= found["free_routes"]["phases"] * (1 - 1e-9)
    taken = whole_phases(made)
    for bound in (found[name]["phases"] for name in ("installed_routes", "free_routes", "ports")):
        assert taken >= bound * (1 - 1e-9)


def test_a_slow_link_counts_by_its_time() -> None:
    """A cable a tenth as fast joins two pairs of hosts: its 4 messages each way take 40 of a host's."""
    plan = chain([2, 2])
    plan.rates[plan.links.index((0, 1))] = RATE / 10
    network = plan.build()
    found = true_bounds(network, all_to_all(network), taken=40.0)
    assert found is not None
    assert found["installed_routes"]["phases"] == pytest.approx(40) == found["free_routes"]["phases"]
    assert bounds_line(found).startswith(
        "these routes 40 (ratio 1.000), any routes 40 (ratio 1.000, by one path)"
    )


def test_routes_bind_no_ranks_that_pass_on() -> None:
    links = ring(6)
    a, b, _ = (list(each) for each in zip(*links, strict=True))
    made = plan_demand(
        _core.Network.graph(list("abcdef"), [1] * 6, a, b, [RATE] * 6, [0.0] * 6, [], [2] * 6, [1] * 6),
        _core.Demand(6, 1 << 20),
    )
    found = true_bounds(made.network, made.demand, made.schedule.direct, whole_phases(made))
    assert found is not None and not made.schedule.direct
    assert bounds_line(found).startswith("these routes 5, any routes 4.5 (ratio ")
    assert "ratio" not in found["installed_routes"] and found["free_routes"]["ratio"] < 1.03


def test_other_demands_have_no_such_bounds() -> None:
    network = star(5).build()
    assert true_bounds(network, _core.Demand(5, 1, "all-gather")) is None


def test_only_routes_are_known() -> None:
    network = read_network("examples/networks/two-clusters.xml")
    assert network.shape == _core.Shape.routed
    found = true_bounds(network, all_to_all(network))
    assert found is not None
    assert "free_routes" not in found
    assert "any routes" not in bounds_line(found)


def test_one_host() -> None:
    plan = NetworkPlan()
    plan.node(3, plan.node(0))
    network = plan.build("graph")
    found = true_bounds(network, all_to_all(network))
    assert found is not None
    assert (found["installed_routes"]["seconds"], found["ports"]["seconds"]) == (0, 0)


def test_the_linear_program_finds_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    network = random_regular(16, 4, 3, 5).build("graph")
    best = free_routes(network, all_to_all(network))
    assert best is not None and best.exact
    monkeypatch.setattr(bounds, "MOST_VARIABLES", 0)
    other = free_routes(network, all_to_all(network))
    assert other is not None and other.by == PRICES
    assert 0.9 * best.seconds <= other.seconds <= best.seconds * (1 + 1e-9)
    if not other.exact:
        assert best.by == LINEAR_PROGRAM


def test_without_scipy_the_cheap_bound_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_regular(16, 4, 3, 5).build("graph")
    known = builtins.__import__

    def lacking(name: str, *arguments: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return known(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", lacking)
    found = true_bounds(network, all_to_all(network))
    assert found is not None
    assert found["free_routes"]["by"] == PRICES
    assert "by prices" in bounds_line(found)


def test_a_program_at_its_limit_leaves_the_cheap_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    monkeypatch.setattr(bounds, "MOST_SECONDS", 1e-9)
    network = random_regular(40, 6, 3, 5).build("graph")
    found = free_routes(network, all_to_all(network))
    assert found is not None and found.by == PRICES
