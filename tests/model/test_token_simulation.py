"""All-to-alls in closed form, simulated phase by phase, against simulations of whole schedules and plain references."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings

from hocket import _core
from hocket.network import read_network
from peak_memory import growth
from strategies import LATENCY, NetworkPlan, fat_tree, random_tree, tree_plans

BYTES = 5e4  # 0.4 ms
SOURCES = [
    "star:7", "tree:2x5", "tree:2x3x2", "tree:3*2", "fat-tree:k=4", "fat-tree:3x2x2", "torus:4x4", "torus:4x8",
    "mesh:4x4", "hypercube:3",
]  # fmt: skip


def form_of(network: _core.Network, algorithm: str = "") -> _core.ClosedForm:
    return _core.ClosedForm(network, _core.Demand(network.ranks, 1), algorithm)


def check_whole(network: _core.Network, algorithm: str = "") -> None:
    """Times are those of the whole schedule and its waits."""
    demand = _core.Demand(network.ranks, int(BYTES))
    planned = _core.plan_exchange(network, demand, 1, algorithm)
    for alpha in (0.0, 3e-5):
        parameters = _core.ModelParameters(alpha=alpha)
        whole = _core.simulate(network, planned.schedule, planned.waits, "token", parameters)
        seconds, kind = form_of(network, algorithm).predict(demand, alpha)
        assert kind == "simulated"
        assert seconds == pytest.approx(whole.seconds, rel=1e-9)


@pytest.mark.parametrize("source", SOURCES)
def test_times_are_those_of_the_whole_schedule(source: str) -> None:
    check_whole(read_network(source))


@settings(max_examples=60)
@given(tree_plans(2, 20))
def test_times_of_random_trees(plan: NetworkPlan) -> None:
    check_whole(plan.build())


@pytest.mark.parametrize(("down", "hosts"), [([4, 3], 7), ([2, 2, 2], 6), ([3, 3, 2], 13)])
def test_times_of_parts_of_fat_trees(down: list[int], hosts: int) -> None:
    plan = fat_tree(down, [1, *down[:-1]], Random(2))
    chosen = Random(hosts).sample(plan.hosts, hosts)
    network = plan.build("graph").restricted_to([int(node in chosen) for node in range(len(plan.names))])
    check_whole(network, "nested-shifts")


def test_what_is_refused() -> None:
    with pytest.raises(_core.InputError, match="no closed form"):
        form_of(read_network("dragonfly:3x2x2"))
    plan = random_tree(Random(1), 9)
    plan.rates[0] *= 2
    with pytest.raises(_core.InputError, match="differ in rate"):
        form_of(plan.build())


@pytest.mark.parametrize("source", ["star:560", "torus:24x24", "fat-tree:k=14"])
def test_predictions_of_rows_and_plans_are_the_same_simulation(source: str) -> None:
    network = read_network(source)
    demand = _core.Demand(network.ranks, 1 << 20)
    planned = _core.plan(network, demand, 1)
    of_form = _core.ClosedForm(network, demand).predict(demand)
    assert of_form == (planned.predicted_seconds, planned.prediction)
    assert planned.prediction == "simulated"
    if source == "star:560":
        whole = _core.simulate(network, planned.schedule, planned.waits, "token")
        assert planned.predicted_seconds == pytest.approx(whole.seconds, rel=1e-9)
        # Messages of a window share channels there, which is not simulated phase by phase.
        assert _core.plan(network, demand, 2).prediction == "by phases"


def test_beyond_a_limit_predictions_are_estimates() -> None:
    for ranks, kind in ((2_048, "simulated"), (2_049, "by phases")):
        network = read_network(f"star:{ranks}")
        demand = _core.Demand(ranks, 1 << 20)
        seconds, known = _core.ClosedForm(network, demand).predict(demand)
        # A phase ends with its last byte; the token that follows goes the same two channels back.
        phases, latency = ranks - 1, 2 * network.latency(0)
        estimate = phases * demand.bytes / network.host_rate + (2 * phases - 1) * latency
        assert known == kind
        assert seconds == pytest.approx(estimate, rel=1e-3)
        if kind == "by phases":
            assert seconds == pytest.approx(estimate, rel=1e-12)


def test_latencies_are_those_of_the_network() -> None:
    """Two ranks of a star: one message each way, two channels."""
    network = read_network("star:2")
    seconds, _ = form_of(network).predict(_core.Demand(2, int(BYTES)))
    assert seconds == pytest.approx(BYTES / network.host_rate + 2 * LATENCY, rel=0.1)


def test_memory_of_a_simulation() -> None:
    """Memory for 2,000 hosts, 4 million messages: of ranks and channels only."""
    prepare = (
        "from hocket import _core\n"
        "from hocket.network import read_network\n"
        "network = read_network('star:2000')\n"
        "demand = _core.Demand(network.ranks, 64)\n"
        "form = _core.ClosedForm(network, demand)\n"
    )
    assert growth(prepare, "form.predict(demand)\n") < 2_000  # KiB
