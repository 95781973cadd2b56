"""The simulator against closed forms: each case can be worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network

RATE = 125e6  # bytes/s: 1 Gbit/s
BYTES = 125_000  # 1 ms at that rate
MS = 1e-3
FIGURE_1 = "tree:((3),3,(2))"


def network(form: str, latency: str = "0", rate: str = "1Gbit") -> _core.Network:
    return read_network(f"{form}@{rate},{latency}")


def schedule(net: _core.Network, *phases: list[tuple[int, int]], size: int = BYTES) -> _core.Schedule:
    rows = [(p, s, d, s, d, 0, size) for p, hops in enumerate(phases) for s, d in hops]
    return _core.Schedule.from_rows(net.ranks, size, rows)


def make(name: str, net: _core.Network, size: int = BYTES) -> _core.Schedule:
    return _core.Algorithm.find(name).make(net, _core.Demand(net.ranks, size))


def simulate(
    net: _core.Network,
    sched: _core.Schedule,
    flow: str = "free",
    waits: _core.Waits | None = None,
    **costs: float,
) -> _core.Simulation:
    return _core.simulate(net, sched, waits, flow, _core.ModelParameters(**costs))


def bound(net: _core.Network, size: int = BYTES) -> float:
    return _core.lower_bounds(net, _core.Demand(net.ranks, size)).seconds


def test_one_flow_pays_alpha_latency_and_bytes() -> None:
    net = network("chain:1,1", latency="10us")
    result = simulate(net, schedule(net, [(0, 1)]), alpha=5e-6)
    assert result.seconds == pytest.approx(5e-6 + 3 * 10e-6 + MS, rel=1e-12)
    assert result.posted[0] == 0
    assert result.start[0] == pytest.approx(35e-6)


def test_overhead_counts_on_the_wire() -> None:
    net = network("star:2")
    result = simulate(net, schedule(net, [(0, 1)]), overhead=1.062)
    assert result.seconds == pytest.approx(1.062 * MS)
    assert sum(result.channel_bytes) == pytest.approx(2 * 1.062 * BYTES)


def test_two_flows_share_a_link() -> None:
    net = network("star:3")
    result = simulate(net, schedule(net, [(0, 2), (1, 2)]))
    assert list(result.end) == pytest.approx([2 * MS, 2 * MS])


def test_the_shorter_flow_leaves_its_share() -> None:
    net = network("star:3")
    rows = [(0, 0, 2, 0, 2, 0, BYTES), (0, 1, 2, 1, 2, 0, 3 * BYTES)]
    result = simulate(net, _core.Schedule.from_rows(3, 3 * BYTES, rows))
    # Both at half speed until the short one is over at 2 ms; the long one has 2 ms of its 3 left.
    assert list(result.end) == pytest.approx([2 * MS, 4 * MS])


def test_max_min_textbook_example() -> None:
    """Two links in a row, one flow over both, one over each (Bertsekas and Gallager, section 6.5.2)."""
    net = _core.Network.routed(
        list("abcd"), [1, 1, 1, 1], ["narrow", "wide", "free"], [RATE, 2 * RATE, 100 * RATE], [0.0] * 3,
        [(s, d, [2]) for s in range(4) for d in range(4) if s != d and d != s + 1]
        + [(0, 1, [0, 1]), (1, 2, [0]), (2, 3, [1])],
    )  # fmt: skip
    result = simulate(net, schedule(net, [(0, 1), (1, 2), (2, 3)]))
    # The narrow link gives its two flows 1/2 each; the third gets what is left of the wide one, 3/2.
    assert list(result.end) == pytest.approx([2 * MS, 2 * MS, 2 / 3 * MS])


@pytest.mark.parametrize("latency_weighted", [False, True])
def test_latency_weights(latency_weighted: bool) -> None:
    net = network("chain:1,2", latency="10us")  # 0 -> 2: three links, 1 -> 2: two
    result = simulate(net, schedule(net, [(0, 2), (1, 2)]), latency_weighted=latency_weighted)
    ahead = 10e-6  # the shorter route has the link for itself that long
    share = 3 / 5 if latency_weighted else 1 / 2
    assert result.end[1] == pytest.approx(30e-6 + (MS - ahead) / share, rel=1e-9)
    assert result.seconds == pytest.approx(20e-6 + 2 * MS, rel=1e-9)


@pytest.mark.parametrize("flow", ["barrier", "token", "free"])
def test_figure_1_takes_phases_times_bytes_over_rate(flow: str) -> None:
    net = network(FIGURE_1)
    sched = make("tree", net)
    result = simulate(net, sched, flow)
    assert result.seconds >= bound(net) * (1 - 1e-9)
    if flow != "free":  # nothing holds the phases apart there
        assert result.seconds == pytest.approx(sched.phases * MS)


def test_a_barrier_adds_its_cost_between_phases() -> None:
    net = network(FIGURE_1)
    sched = make("tree", net)
    result = simulate(net, sched, "barrier", barrier=0.1 * MS)
    assert result.seconds == pytest.approx(sched.phases * MS + (sched.phases - 1) * 0.1 * MS)
    starts = [p * 1.1 * MS for p in range(sched.phases)]
    assert list(result.phase_start) == pytest.approx(starts)
    assert list(result.phase_end) == pytest.approx([s + MS for s in starts])


def test_linear_on_a_star_is_optimal() -> None:
    net = network("star:32")
    result = simulate(net, make("linear", net))
    assert result.seconds == pytest.approx(31 * MS)
    assert result.seconds == pytest.approx(bound(net))


def test_alphas_follow_each_other() -> None:
    net = network("star:4")
    result = simulate(net, make("linear", net), alpha=7e-6)
    assert sorted(result.start)[-1] == pytest.approx(3 * 7e-6)


def test_a_token_costs_its_time_and_its_route() -> None:
    net = network("star:3", latency="10us")
    sched = schedule(net, [(0, 1)], [(2, 1)])  # the second waits for the link to rank 1
    result = simulate(net, sched, "token", token=3e-6)
    assert result.tokens == 1
    assert result.posted[1] == pytest.approx(result.end[0] + 3e-6 + 20e-6)
    assert result.seconds == pytest.approx(2 * (20e-6 + MS) + 23e-6)


def test_no_token_to_oneself() -> None:
    net = network("star:3")
    waits = _core.Waits.from_lists([[], [0]])
    result = simulate(net, schedule(net, [(0, 1)], [(1, 2)]), "token", waits, token=1.0)
    assert result.tokens == 0
    assert result.seconds == pytest.approx(2 * MS)


def test_a_token_leaves_when_its_message_is_in() -> None:
    net = network("star:3")
    result = simulate(net, schedule(net, [(0, 1)], [(2, 1)]), "token", token=0.1 * MS)
    assert result.seconds == pytest.approx(2.1 * MS)


def test_a_window_bounds_the_sends_in_flight() -> None:
    net = network("star:5")
    sched = schedule(net, [(0, 1)], [(0, 2)], [(0, 3)], [(0, 4)])
    for window in (1, 2, 3):
        result = simulate(net, sched, f"window:{window}")
        assert result.seconds == pytest.approx(4 * MS)
        at_once = [int(sum((result.start <= t) & (t < result.end))) for t in result.start]
        assert max(at_once) == window


def test_a_forwarded_piece_waits_for_its_arrival() -> None:
    net = network("chain:1,1,1")
    rows = [(0, 0, 1, 0, 2, 0, BYTES), (1, 1, 2, 0, 2, 0, BYTES)]
    result = simulate(net, _core.Schedule.from_rows(3, BYTES, rows))
    assert list(result.start) == pytest.approx([0, MS])
    assert result.seconds == pytest.approx(2 * MS)


def test_ranks_of_one_host_copy_through_memory() -> None:
    net = network("star:2*2")
    sched = schedule(net, [(0, 1)])
    assert simulate(net, sched, alpha=2e-6).seconds == pytest.approx(2e-6)
    copied = simulate(net, sched, memory_rate=10 * RATE)
    assert copied.seconds == pytest.approx(MS / 10)
    assert sum(copied.channel_bytes) == 0


@given(
    st.sampled_from(["star:5", "chain:2,3,1", FIGURE_1, "mesh:3x2", "chain:3,3*2"]),
    st.sampled_from(["tree", "packing", "linear", "ring"]),
    st.sampled_from(["barrier", "token", "window:2", "window:3", "free"]),
    st.integers(1, 10**7),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_every_byte_crosses_its_route_and_no_schedule_beats_the_bound(
    form: str, algorithm: str, flow: str, size: int, weighted: bool
) -> None:
    net = network(form, latency="3us")
    demand = _core.Demand(net.ranks, size)
    if _core.Algorithm.find(algorithm).why_not(net, demand):
        return
    bounds = _core.lower_bounds(net, demand)
    result = simulate(net, make(algorithm, net, size), flow, latency_weighted=weighted)
    assert list(result.channel_bytes) == pytest.approx([load * size for load in bounds.load], rel=1e-6)
    assert result.seconds >= bounds.seconds * (1 - 1e-9)
    assert all(result.channel_busy <= result.seconds * (1 + 1e-9))
    assert all(result.start >= result.posted) and all(result.end >= result.start)


@given(st.sampled_from(["barrier", "token", "window:1"]), st.integers(1, 10**6), st.integers(1, 10**6))
@settings(max_examples=40, deadline=None)
def test_more_bytes_take_longer(flow: str, size: int, more: int) -> None:
    net = network(FIGURE_1, latency="5us")
    shorter = simulate(net, make("tree", net, size), flow, token=1e-6, barrier=1e-6)
    longer = simulate(net, make("tree", net, size + more), flow, token=1e-6, barrier=1e-6)
    assert longer.seconds > shorter.seconds


def test_switch_links_carry_several_messages_at_host_speed() -> None:
    """Four host speeds between two switches: four pairs do not slow each other down."""
    names = ["s", "t", *(f"h{i}" for i in range(8))]
    hosts = [0, 0] + [1] * 8
    links = [(0, 1, 4 * RATE)] + [(i // 4, 2 + i, RATE) for i in range(8)]
    a, b, rates = ([link[k] for link in links] for k in range(3))
    net = _core.Network.tree(names, hosts, a, b, rates, [0.0] * len(links))
    result = simulate(net, schedule(net, [(i, i + 4) for i in range(4)]))
    assert list(result.end) == pytest.approx([MS] * 4)


def test_steps_are_counted_not_timed() -> None:
    net = network("chain:3,3")
    parameters = _core.ModelParameters()

    def least_steps(name: str) -> int:
        planned = make(name, net, 1000)
        whole = _core.simulate(net, planned, None, "token", parameters)
        low, high = 0, 1 << 20  # too few, enough
        while high - low > 1:
            middle = (low + high) // 2
            within = _core.simulate(net, planned, None, "token", parameters, middle)
            low, high = (middle, high) if within is None else (low, middle)
            assert within is None or within.end.tolist() == whole.end.tolist()
        return high

    least = sum(len(net.route(a, b)) + 1 for a in range(net.ranks) for b in range(net.ranks) if a != b)
    assert least_steps("tree") == least  # free of contention: each rate is set once
    assert least_steps("linear") > least


def test_a_thousand_hosts() -> None:
    net = network("tree:4x8x32", latency="1us")
    sched = make("tree", net, 262144)
    assert len(sched) == 1024 * 1023
    result = simulate(net, sched, "token")
    assert 1 <= result.seconds / bound(net, 262144) < 1.02
    assert math.isclose(result.channel_bytes.max(), 256 * 768 * 262144, rel_tol=1e-9)


@pytest.mark.parametrize(
    "flow", ["", "Token", "window:0", "window:", "window:-1", "window:2x", "window:99999999999"]
)
def test_unknown_flow_control(flow: str) -> None:
    net = network("star:3")
    with pytest.raises(_core.InputError, match="is not a known flow control"):
        simulate(net, make("tree", net), flow)


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        ({"alpha": -1e-6}, "per-message"),
        ({"token": math.nan}, "token"),
        ({"barrier": math.inf}, "barrier"),
        ({"overhead": 0.0}, "overhead"),
        ({"memory_rate": 0.0}, "memory"),
    ],
)
def test_absurd_costs(cost: dict[str, float], text: str) -> None:
    net = network("star:3")
    with pytest.raises(_core.InputError, match=text):
        simulate(net, make("tree", net), "token", **cost)


def test_what_does_not_belong_together_is_refused() -> None:
    net = network("star:3")
    sched = make("tree", net)
    with pytest.raises(_core.InputError, match="ranks"):
        simulate(network("star:4"), sched)
    with pytest.raises(_core.InputError, match="another schedule"):
        simulate(net, sched, "token", _core.Waits.from_lists([[]]))
    forward = _core.Waits.from_lists([[1], *([[]] * (len(sched) - 1))])
    with pytest.raises(_core.InputError, match="not an earlier one"):
        simulate(net, sched, "token", forward)
