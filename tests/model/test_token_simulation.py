"""All-to-alls in closed form, simulated phase by phase, against simulations of whole schedules and plain references."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from peak_memory import growth
from strategies import LATENCY, NetworkPlan, fat_tree, random_tree, tree_plans

BYTES = 5e4  # 0.4 ms
SOURCES = [
    "star:7", "tree:2x5", "tree:2x3x2", "tree:3*2", "fat-tree:k=4", "fat-tree:3x2x2", "torus:4x4", "torus:4x8",
    "mesh:4x4", "hypercube:3",
]  # fmt: skip
SMALL = ["star:7", "tree:2x3x2", "tree:3*2", "fat-tree:2x2x2", "torus:4x4"]


def form_of(network: _core.Network, algorithm: str = "") -> _core.ClosedForm:
    return _core.ClosedForm(network, _core.Demand(network.ranks, 1), algorithm)


def simulated(
    network: _core.Network, window: int = 1, algorithm: str = "", **model: Any
) -> _core.FormSimulation:
    simulation = _core.FormSimulation(form_of(network, algorithm), BYTES, window, **model)
    simulation.advance()
    return simulation


def check_whole(network: _core.Network, algorithm: str = "") -> None:
    """With window 1 times are those of the whole schedule and its waits, for every rank."""
    demand = _core.Demand(network.ranks, int(BYTES))
    planned = _core.plan_exchange(network, demand, 1, algorithm)
    for alpha, token in ((0.0, 0.0), (3e-5, 2e-6)):
        parameters = _core.ModelParameters(alpha=alpha, token=token)
        whole = _core.simulate(network, planned.schedule, planned.waits, "token", parameters)
        streamed = simulated(network, 1, algorithm, alpha=alpha, token=token)
        assert streamed.seconds() == pytest.approx(whole.seconds, rel=1e-9)
        ends = np.zeros(network.ranks)
        np.maximum.at(ends, [row[1] for row in planned.schedule.rows()], whole.end)
        assert streamed.ends() == pytest.approx(ends, rel=1e-9)
        assert streamed.messages == network.ranks * (network.ranks - 1)


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


def reference(
    plan_route: dict[tuple[int, int], list[int]],
    phases: list[list[tuple[int, int]]],
    window: int,
    away: _core.Away,
    latency: float,
    transmission: float,
) -> float:
    """The model as docs and headers have it, with everything kept."""
    users: dict[int, list[tuple[int, int, float]]] = defaultdict(list)  # per channel: src, dst, end
    own: dict[int, list[float]] = defaultdict(list)
    posted: dict[int, float] = defaultdict(float)
    for messages in phases:
        for src, dst in messages:
            route = plan_route[src, dst]
            ready = max([posted[src], *own[src][: max(len(own[src]) - window + 1, 0)]])
            for channel in route:
                if len(users[channel]) >= window:
                    user, receiver, end = users[channel][-window]
                    released = end if user == src else away.after(receiver, end)
                    ready = max(ready, released + (0 if src in (user, receiver) else latency))
            posted[src] = away.after(src, ready)
            end = posted[src]
            if route:
                busy = max(users[channel][-1][2] if users[channel] else 0.0 for channel in route)
                end = max(end + latency, busy) + transmission
            own[src].append(end)
            for channel in route:
                users[channel].append((src, dst, end))
    return max(end for ends in own.values() for end in ends)


def phases_of(network: _core.Network) -> list[list[tuple[int, int]]]:
    rows = form_of(network)
    phases: list[list[tuple[int, int]]] = [[] for _ in range(rows.phases)]
    for src in range(network.ranks):
        for dst in range(network.ranks):
            if src != dst:
                phases[rows.phase(src, dst)].append((src, dst))
    return phases


@pytest.mark.parametrize("source", SMALL)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), window=st.sampled_from([1, 2, 3, 4, 8]))
def test_times_with_windows_and_ranks_that_are_away(source: str, seed: int, window: int) -> None:
    random = Random(seed)
    network = read_network(source)
    n, latency = network.ranks, 0.1
    routes = {(a, b): network.route(a, b) for a in range(n) for b in range(n) if a != b}
    phases = phases_of(network)
    absences = [(random.randrange(n), random.uniform(0, len(phases)), random.uniform(0, 9)) for _ in range(3)]
    runs = [
        _core.Away(n),
        _core.Away(n, absences),
        _core.Away(n, delay=2.0, part=0.1, seed=seed),
        _core.Away(n, absences, delay=0.5, part=0.3, seed=seed),
    ]
    simulation = _core.FormSimulation(form_of(network), network.host_rate, window, latency=latency, runs=runs)
    simulation.advance()
    for run, away in enumerate(runs):
        # Ranks of one host pass tokens without latency, which the reference does not know.
        if "*" not in source:
            expected = reference(routes, phases, window, away, latency, 1.0)
            assert simulation.seconds(run) == pytest.approx(expected, rel=1e-9)
        alone = _core.FormSimulation(
            form_of(network), network.host_rate, window, latency=latency, runs=[away]
        )
        while alone.phases < len(phases):
            alone.advance(random.randrange(1, 5))
        assert alone.seconds() == simulation.seconds(run)


@settings(max_examples=40)
@given(tree_plans(3, 16), st.integers(0, 2**32), st.sampled_from([1, 2, 4, 8]))
def test_delays_make_the_whole_later_by_no_more_than_their_sum(
    plan: NetworkPlan, seed: int, window: int
) -> None:
    """A path through the waits visits an absence once. One delay may push messages into others, though."""
    random = Random(seed)
    network = plan.build()
    whole = simulated(network, window).seconds()
    delays = [
        (random.randrange(network.ranks), random.uniform(0, whole), random.uniform(0, whole / 2))
        for _ in range(4)
    ]
    runs = [_core.Away(network.ranks, delays[:count]) for count in range(5)]
    simulation = simulated(network, window, runs=runs)
    assert simulation.seconds(0) == whole
    for count in range(1, 5):
        most = sum(seconds for _, _, seconds in delays[:count])
        assert whole <= simulation.seconds(count) <= (whole + most) * (1 + 1e-12)


def one_switch(ranks: int, window: int, latency: float, token: float, away: _core.Away) -> float:
    """One switch, for all ranks at once: in phase p rank u sends to u + 1 + p."""
    last: deque[np.ndarray] = deque(maxlen=window)
    posted = np.zeros(ranks)
    act = np.vectorize(away.after)
    rank = np.arange(ranks)
    for phase in range(ranks - 1):
        ready = posted
        if phase >= window:
            told = act((rank + 1 + phase) % ranks, np.roll(last[0], -window)) + token
            ready = np.maximum.reduce([ready, last[0], told])
        posted = act(rank, ready)
        begin = posted + latency
        if phase > 0:
            begin = np.maximum(begin, np.maximum(last[-1], np.roll(last[-1], -1)))
        last.append(begin + 1)
    return float(max(end.max() for end in last))


@pytest.mark.parametrize("window", [1, 2, 4, 8])
def test_one_switch_by_formula(window: int) -> None:
    network = read_network("star:60")
    runs = [
        _core.Away(60),
        _core.Away(60, [(3, 20.0, 5.0), (40, 31.0, 0.7)]),
        _core.Away(60, delay=1.5, part=0.05, seed=9),
    ]
    simulation = _core.FormSimulation(
        form_of(network), network.host_rate, window, token=0.05, latency=0.1, runs=runs
    )
    simulation.advance()
    for run, away in enumerate(runs):
        assert simulation.seconds(run) == pytest.approx(one_switch(60, window, 0.1, 0.15, away), rel=1e-12)


MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mixed(x: int) -> int:
    x &= MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def unit(x: int) -> float:
    return (x >> 11) * 2.0**-53


def calls_of(rank: int, seed: int, delay: float, part: float, until: float) -> list[float]:
    """When noise calls the rank away."""
    mean = -math.log1p(-part)
    calls = []
    key_of_rank = mixed(mixed(seed + GOLDEN) + rank * GOLDEN)
    for slot in range(int(until / delay) + 2):
        key = mixed(key_of_rank + slot * GOLDEN)
        likely = so_far = 1 - part
        count = 0
        while unit(key) >= so_far and likely > 0:
            count += 1
            calls.append((slot + unit(mixed(key + count * GOLDEN))) * delay)
            likely *= mean / count
            so_far += likely
    return sorted(calls)


@settings(max_examples=30)
@given(st.integers(0, 2**63), st.floats(0.1, 10), st.floats(0.01, 0.8), st.integers(0, 9))
def test_noise_is_a_poisson_process_with_delays_that_run_together(
    seed: int, delay: float, part: float, rank: int
) -> None:
    away = _core.Away(10, delay=delay, part=part, seed=seed)
    until = 40 * delay
    calls = calls_of(rank, seed, delay, part, 10 * until)
    random = Random(seed)
    for _ in range(30):
        time = random.uniform(0, until)
        expected, back = time, 0.0
        for call in calls:
            if call <= expected < call + delay:
                expected = call + delay
        assert away.after(rank, time) == pytest.approx(expected, rel=1e-12)
        assert away.after(rank, away.after(rank, time)) == away.after(rank, time)
    gone = 0.0
    for call in calls:
        gone += max(0.0, min(call + delay, until) - min(max(call, back), until))
        back = max(back, call + delay)
    assert away.noise_seconds(rank, until) == pytest.approx(gone, rel=1e-9, abs=1e-9)


def test_noise_takes_the_part_of_the_time_that_it_is_asked_to() -> None:
    for delay, part in ((4.0, 0.05), (0.5, 0.3)):
        away = _core.Away(200, delay=delay, part=part, seed=1)
        gone = [away.noise_seconds(rank, 2_000) for rank in range(200)]
        assert np.mean(gone) == pytest.approx(part * 2_000, rel=0.05)
    assert _core.Away(2, delay=1.0, part=0.1, seed=1).noise_seconds(0, 500) != _core.Away(
        2, delay=1.0, part=0.1, seed=2
    ).noise_seconds(0, 500)


def test_what_is_refused() -> None:
    network = read_network("star:4")
    rows = form_of(network)
    for bad in (
        {"window": 0},
        {"window": 5000},
        {"latency": -1.0},
        {"alpha": math.nan},
        {"token": math.inf},
    ):
        with pytest.raises(_core.InputError, match=r"window|0 or more"):
            _core.FormSimulation(rows, BYTES, **bad)
    for absence in ((4, 0.0, 1.0), (0, -1.0, 1.0), (0, 0.0, math.inf), (0, math.nan, 1.0)):
        with pytest.raises(_core.InputError, match=r"no rank 4|0 or more"):
            _core.Away(4, [absence])
    for delay, part in ((0.0, 0.1), (1.0, 1.0), (1.0, -0.1), (math.nan, 0.1)):
        with pytest.raises(_core.InputError, match=r"delays of noise|part of the time"):
            _core.Away(4, delay=delay, part=part)
    simulation = _core.FormSimulation(rows, BYTES)
    for asked in (lambda: simulation.seconds(1), lambda: simulation.ends(1), lambda: simulation.posted(4)):
        with pytest.raises(_core.InputError, match="there is no"):
            asked()
    with pytest.raises(_core.InputError, match="another number of ranks"):
        _core.FormSimulation(rows, BYTES, runs=[_core.Away(3, [(0, 0.0, 1.0)])])
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
    planned = _core.plan_exchange(network, demand, 1)
    of_plan = planned.predict(network, demand, 0.0, _core.MOST_SIMULATION_STEPS)
    of_form = _core.ClosedForm(network, demand).predict(demand)
    assert (of_form.seconds, of_form.kind) == (of_plan.seconds, of_plan.kind)
    assert of_form.kind == "simulated"
    if source == "star:560":
        whole = _core.simulate(network, planned.schedule, planned.waits, "token")
        assert of_form.seconds == pytest.approx(whole.seconds, rel=1e-9)
    wider = _core.plan_exchange(network, demand, 2) if source == "star:560" else None
    if wider is not None:  # messages of a window share channels there, which is not simulated phase by phase
        assert wider.predict(network, demand, 0.0, _core.MOST_SIMULATION_STEPS).kind == "by phases"


def test_beyond_a_limit_predictions_are_estimates() -> None:
    for ranks, kind in ((2_048, "simulated"), (2_049, "by phases")):
        network = read_network(f"star:{ranks}")
        demand = _core.Demand(ranks, 1 << 20)
        prediction = _core.ClosedForm(network, demand).predict(demand)
        estimate = _core.seconds_by_phases(network, ranks - 1, (ranks - 1) * demand.bytes)
        assert prediction.kind == kind
        assert prediction.seconds == pytest.approx(estimate, rel=1e-3)
        if kind == "by phases":
            assert prediction.seconds == estimate


def test_latencies_are_those_of_the_network() -> None:
    """Two ranks of a star: one message each way, two channels."""
    network = read_network("star:2")
    assert simulated(network).seconds() == pytest.approx(BYTES / network.host_rate + 2 * LATENCY, rel=0.1)


def test_memory_of_a_simulation() -> None:
    """Memory for 10,000 hosts, 10^8 messages: of ranks and channels only."""
    prepare = (
        "from hocket import _core\n"
        "from hocket.network import read_network\n"
        "network = read_network('star:10000')\n"
        "form = _core.ClosedForm(network, _core.Demand(network.ranks, 64))\n"
    )
    work = "simulation = _core.FormSimulation(form, 1e6, 2)\nsimulation.advance(20)\n"
    assert growth(prepare, work) < 8_000  # KiB
