"""The packet simulator against closed forms, the flow simulator, and what queues are known to do."""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core, _papers
from hocket.network import read_network
from hocket.pictures import stage

sys.path.insert(0, str(Path(__file__).parents[3] / "bench" / "smpi"))
from referee import Referee, missing_tools, program_text

needs_simgrid = pytest.mark.skipif(
    bool(missing_tools()), reason="SimGrid is not installed (Debian: libsimgrid-dev)"
)
RATE = 125e6
BYTES = 32 * 4000


def torus(*sides: int, latency: float = 0.0, ties: str = "up", ranks: int = 1) -> _core.Network:
    return _core.Network.grid(
        "torus", list(sides), RATE, latency, [], ranks, _core.Network.ties_by_rule(ties, list(sides))
    )


def schedule(net: _core.Network, *phases: list[tuple[int, int]], size: int = BYTES) -> _core.Schedule:
    rows = [(p, s, d, s, d, 0, size) for p, hops in enumerate(phases) for s, d in hops]
    return _core.Schedule.from_rows(net.ranks, size, rows)


def shift(net: _core.Network, by: int) -> list[tuple[int, int]]:
    return [(i, (i + by) % net.ranks) for i in range(net.ranks)]


def simulate(
    net: _core.Network, sched: _core.Schedule, flow: str = "barrier", **parameters: object
) -> _core.Simulation:
    return _papers.simulate_wormhole(net, sched, flow, _papers.WormholeParameters(**parameters))


def flows(
    net: _core.Network, sched: _core.Schedule, flow: str = "barrier", **costs: float
) -> _core.Simulation:
    return _core.simulate(net, sched, None, flow, _core.ModelParameters(**costs))


def make(name: str, net: _core.Network, size: int) -> _core.Schedule:
    return _core.Algorithm.find(name).make(net, _core.Demand(net.ranks, size))


@pytest.mark.parametrize("train", [1, 7, 64])
@pytest.mark.parametrize("switching", ["cut-through", "wormhole"])
def test_one_message_alone(train: int, switching: str) -> None:
    """per-message cost + hops · (latency + router) + wire bytes / rate, whatever the train."""
    net = torus(8, latency=3e-6)
    result = simulate(
        net, schedule(net, [(0, 3)]), train=train, buffer=train, header=3, alpha=5e-6, hop=0.5e-6,
        switching=switching,
    )  # fmt: skip
    assert result.posted[0] == 0
    assert result.start[0] == pytest.approx(5e-6, rel=1e-5)
    assert result.seconds == pytest.approx(5e-6 + 3 * 3.5e-6 + BYTES / 32 * 35 / RATE, rel=1e-5)


@pytest.mark.parametrize("port", ["injection_rate", "ejection_rate"])
def test_the_slowest_of_links_and_ports_decides(port: str) -> None:
    net = torus(8)
    result = simulate(net, schedule(net, [(0, 3)]), **{port: RATE / 2})
    assert result.seconds == pytest.approx(2 * BYTES / RATE, rel=1e-5)
    # The links go at their own speed: a slow port does not take their time.
    assert result.channel_busy.max() == pytest.approx(BYTES / RATE, rel=1e-5)


def test_a_message_of_no_bytes_is_a_packet() -> None:
    net = torus(4)
    assert simulate(net, schedule(net, [(0, 1)], size=0), header=10).seconds == pytest.approx(10 / RATE)


def test_messages_of_one_host_take_turns_at_its_port() -> None:
    net = torus(4, 4, ranks=2)
    pairs = [(0, 2), (1, 8)]  # to different neighbours
    shared = simulate(net, schedule(net, pairs), train=1, buffer=64)
    apart = simulate(net, schedule(net, pairs), train=1, buffer=64, port_per_rank=True)
    assert shared.seconds == pytest.approx(2 * BYTES / RATE, rel=1e-3)
    assert apart.seconds == pytest.approx(BYTES / RATE, rel=1e-3)


def test_ranks_of_one_host_use_no_wire() -> None:
    net = torus(4, ranks=2)
    result = simulate(net, schedule(net, [(0, 1)]), memory_rate=RATE / 4, alpha=1e-6)
    assert result.seconds == pytest.approx(1e-6 + 4 * BYTES / RATE, rel=1e-5)
    assert result.channel_bytes.sum() == 0


@pytest.mark.parametrize("form", ["star:9", "torus:3x3", "tree:((3),3,(2))", "hypercube:3"])
def test_contention_free_phases_take_what_flows_take(form: str) -> None:
    net = read_network(f"{form}@1Gbit,1us")
    for name in ("tree", "packing"):
        if _core.Algorithm.find(name).why_not(net, _core.Demand(net.ranks, BYTES)):
            continue
        sched = make(name, net, BYTES)
        packets = simulate(net, sched, barrier=2e-6, alpha=1e-6, header=4, train=4, buffer=256)
        fluid = flows(net, sched, barrier=2e-6, alpha=1e-6, overhead=36 / 32)
        assert packets.seconds == pytest.approx(fluid.seconds, rel=1e-4)
        assert list(packets.phase_end) == pytest.approx(list(fluid.phase_end), rel=1e-4)


def test_a_barrier_holds_the_phases_apart() -> None:
    net = torus(8)
    result = simulate(net, schedule(net, shift(net, 1), [], shift(net, 7)), barrier=1e-4)
    assert result.seconds == pytest.approx(2 * BYTES / RATE + 1e-4, rel=1e-5)
    assert result.phase_start[2] == pytest.approx(result.phase_end[0] + 1e-4, rel=1e-5)


def test_free_senders_go_on_when_a_message_has_left_or_arrived() -> None:
    net = torus(8, latency=1e-4)
    sched = schedule(net, [(0, 1)], [(0, 2)])
    left = simulate(net, sched, "free", buffer=65536)
    arrived = simulate(net, sched, "free", buffer=65536, blocking=True)
    time = BYTES / RATE
    assert list(left.posted) == pytest.approx([0, time], rel=1e-5)
    assert list(arrived.posted) == pytest.approx([0, time + 1e-4], rel=1e-5)


def test_pieces_are_forwarded_when_they_are_there() -> None:
    net = torus(8)
    rows = [(0, 0, 1, 0, 2, 0, BYTES), (1, 1, 2, 0, 2, 0, BYTES)]
    result = simulate(net, _core.Schedule.from_rows(8, BYTES, rows), "free")
    assert list(result.start) == pytest.approx([0, BYTES / RATE], abs=1e-9)


def test_head_of_line_blocking_costs_what_flows_do_not_see() -> None:
    """Behind a packet for a busy port, one for an idle port waits, though its channels are idle."""
    net = read_network("chain:4,4@1Gbit,0us")
    # 0 -> 4 shares the way into 4 with 5, 6, 7; 0 -> ... 1 -> 5 only shares the inter-switch link with 0 -> 4.
    pairs = [(0, 4), (5, 4), (6, 4), (7, 4), (1, 5)]
    blocked = simulate(net, schedule(net, pairs), buffer=4)
    fluid = flows(net, schedule(net, pairs))
    victim = 4
    assert fluid.end[victim] == pytest.approx(4 / 3 * BYTES / RATE, rel=1e-3)  # 3/4 of the inter-switch link
    assert blocked.end[victim] > 1.5 * fluid.end[victim]
    # With a lane for each sender there is nobody in front.
    lanes = simulate(net, schedule(net, pairs), buffer=4, lanes=2)
    assert lanes.end[victim] < 1.1 * fluid.end[victim]


@pytest.mark.parametrize("arbitration", ["round-robin", "oldest-first"])
def test_arbitration_is_fair_at_one_router(arbitration: str) -> None:
    net = read_network("star:5@1Gbit,0us")
    result = simulate(net, schedule(net, [(i, 0) for i in range(1, 5)]), arbitration=arbitration)
    assert result.end.max() == pytest.approx(4 * BYTES / RATE, rel=1e-4)
    assert result.end.min() > 0.99 * result.end.max()


def test_round_robin_favours_who_enters_last_and_age_who_has_come_far() -> None:
    """Last to enter gets half of the channel; those from further on get half of the rest."""
    net = _core.Network.grid("mesh", [5], RATE, 0.0)
    sched = schedule(net, [(i, 4) for i in range(4)])
    turns = simulate(net, sched, arbitration="round-robin")
    age = simulate(net, sched, arbitration="oldest-first")
    assert turns.end[3] == pytest.approx(2 * BYTES / RATE, rel=0.01)
    assert turns.end[2] == pytest.approx(3 * BYTES / RATE, rel=0.01)
    assert list(age.end) == sorted(age.end)
    assert turns.seconds == pytest.approx(age.seconds, rel=0.01)


def test_a_dateline_with_round_robin_is_unfair_on_a_ring() -> None:
    """Three messages on every channel; those behind the dateline have half of the turns."""
    net = torus(8)
    sched = schedule(net, shift(net, 3))
    unit = BYTES / RATE
    turns, age = (simulate(net, sched, arbitration=a) for a in ("round-robin", "oldest-first"))
    assert flows(net, sched).seconds == pytest.approx(3 * unit)
    assert 6 * unit < turns.seconds < 8 * unit
    assert age.seconds == pytest.approx(3 * unit, rel=0.01)
    # Classes that are used alike are nearer to the flows.
    assert simulate(net, sched, virtual_channels="balanced").seconds < 5 * unit


@pytest.mark.parametrize("switching", ["cut-through", "wormhole"])
@pytest.mark.parametrize("channels", ["dateline", "balanced"])
@pytest.mark.parametrize("buffer", [1, 3])
def test_rings_do_not_deadlock(switching: str, channels: str, buffer: int) -> None:
    for net in (torus(8), torus(5), torus(6, 4, ties="parity")):
        size = 32 * 20
        for name in ("linear", "ring"):
            result = simulate(
                net, make(name, net, size), "free", buffer=buffer, virtual_channels=channels,
                switching=switching,
            )  # fmt: skip
            assert (result.end > 0).all()


@pytest.mark.parametrize("switching", ["cut-through", "wormhole"])
def test_a_deadlock_is_found_and_named(switching: str) -> None:
    net = torus(8)
    with pytest.raises(_core.InputError, match=r"deadlock: [78] messages .* h\d->h\d"):
        simulate(net, schedule(net, shift(net, 4)), virtual_channels="none", switching=switching)


def test_a_wormhole_keeps_its_channel() -> None:
    """Two messages over one channel: packets alternate under cut-through, worms follow each other."""
    net = _core.Network.grid("mesh", [3], RATE, 0.0)
    sched = schedule(net, [(0, 2), (1, 2)])
    packets, worms = (simulate(net, sched, switching=s) for s in ("cut-through", "wormhole"))
    assert packets.end.min() > 0.99 * packets.end.max()
    assert worms.end.min() == pytest.approx(worms.end.max() / 2, rel=0.01)


@given(
    st.sampled_from(
        ["torus:4x3", "torus:8", "mesh:3x3", "star:5", "hypercube:3", "chain:2,3", "torus:4x2*2"]
    ),
    st.sampled_from(["barrier", "free"]),
    st.integers(1, 5000),
    st.integers(1, 8),
    st.integers(1, 12),
    st.integers(1, 3),
    st.sampled_from(["cut-through", "wormhole"]),
    st.sampled_from(["round-robin", "oldest-first"]),
    st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_every_byte_crosses_its_route_and_nothing_beats_the_bound(
    form: str, flow: str, size: int, train: int, buffer: int, lanes: int, switching: str, arbitration: str,
    seed: int,
) -> None:  # fmt: skip
    net = read_network(f"{form}@1Gbit,1us")
    pairs = [(s, d) for s in range(net.ranks) for d in range(net.ranks) if s != d]
    random.Random(seed).shuffle(pairs)
    third = len(pairs) // 3
    sched = schedule(net, pairs[:third], pairs[third : 2 * third], pairs[2 * third :], size=size)
    result = simulate(
        net, sched, flow, header=6, train=train, buffer=buffer, lanes=lanes, switching=switching,
        arbitration=arbitration, alpha=1e-7, barrier=1e-6,
    )  # fmt: skip
    bounds = _core.lower_bounds(net, _core.Demand(net.ranks, size))
    wire = size + 6 * math.ceil(size / 32)
    assert list(result.channel_bytes) == pytest.approx([load * wire for load in bounds.load], rel=1e-9)
    rates = [net.rate(c) for c in range(net.channels)]
    busy = [load * wire / rate for load, rate in zip(bounds.load, rates, strict=True)]
    assert list(result.channel_busy) == pytest.approx(busy, rel=1e-4)
    assert result.seconds >= max(busy) * (1 - 1e-5)
    assert (result.start >= result.posted).all() and (result.end >= result.start).all()
    again = simulate(
        net, sched, flow, header=6, train=train, buffer=buffer, lanes=lanes, switching=switching,
        arbitration=arbitration, alpha=1e-7, barrier=1e-6,
    )  # fmt: skip
    assert list(again.end) == list(result.end)


@given(st.integers(0, 1000), st.integers(0, 1000))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_alphas_never_help_between_barriers(less: int, more: int) -> None:
    net = torus(4, 3)
    sched = make("packing", net, 1000)
    first, second = (simulate(net, sched, alpha=1e-7 * s) for s in (less, less + more))
    assert second.seconds == pytest.approx(first.seconds + sched.phases * more * 1e-7, rel=1e-4)


def test_costs_of_a_plan_add_up() -> None:
    net = read_network("chain:3,2,2@1Gbit")
    sched = make("tree", net, 65536)
    plain = simulate(net, sched, train=8).seconds
    assert plain >= _core.lower_bounds(net, _core.Demand(net.ranks, 65536)).seconds
    assert sched.phases == 12
    # A header of a tenth of the payload, and a per-message cost in each phase.
    assert simulate(net, sched, train=8, header=3.2).seconds == pytest.approx(1.1 * plain, rel=0.05)
    assert simulate(net, sched, train=8, alpha=1e-3).seconds == pytest.approx(plain + 12e-3, rel=1e-3)
    slow = simulate(net, sched, train=8, injection_rate=RATE / 10, hop=1e-6, arbitration="oldest-first")
    assert slow.seconds > 5 * plain


def test_pictures_know_its_simulations() -> None:
    """A message takes its per-message cost, too, and memory is no route."""
    net = torus(4, ranks=2)
    sched = make("product", net, 7500)
    found = simulate(net, sched, alpha=1e-4, payload=7500, port_per_rank=True)
    drawn = stage("a", found, sched, net)
    assert len(drawn.routes) == 8 * 6  # one partner is on the same host
    assert drawn.phases == pytest.approx([7500 / (1e-4 + 7500 / RATE)] * len(drawn.phases), rel=1e-3)


@needs_simgrid
def test_packets_agree_with_smpi_where_nothing_contends(tmp_path: Path) -> None:
    net = read_network("torus:4x4@1Gbit,1us")
    referee = Referee(net, tmp_path)
    sched = make("packing", net, 65536)
    seconds = referee.program(program_text(sched, None, 1, barrier=True))
    predicted = simulate(net, sched, payload=1024, barrier=referee.barrier()).seconds
    assert predicted == pytest.approx(seconds, rel=0.03)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"alpha": -1e-6}, "per-message"),
        ({"barrier": math.nan}, "barrier"),
        ({"hop": math.inf}, "hop"),
        ({"payload": 0}, "packet"),
        ({"header": -1.0}, "header"),
        ({"header": math.nan}, "header"),
        ({"train": 0}, "train"),
        ({"buffer": 0}, "buffer"),
        ({"lanes": 0}, "lanes"),
        ({"lanes": 17}, "lanes"),
        ({"injection_rate": -1.0}, "injection"),
        ({"ejection_rate": math.inf}, "ejection"),
        ({"memory_rate": 0.0}, "memory"),
        ({"alpha": 1e15}, "too"),
        ({"switching": "circuit"}, "switching"),
        ({"virtual_channels": "many"}, "virtual"),
        ({"arbitration": "fifo"}, "arbitration"),
    ],
)
def test_absurd_parameters(parameters: dict[str, object], text: str) -> None:
    net = torus(4)
    with pytest.raises(_core.InputError, match=text):
        simulate(net, schedule(net, [(0, 1)]), **parameters)


def test_what_does_not_belong_together_is_refused() -> None:
    net = torus(4)
    with pytest.raises(_core.InputError, match="barrier and free"):
        simulate(net, schedule(net, [(0, 1)]), "token")
    with pytest.raises(_core.InputError, match="ranks"):
        simulate(torus(5), schedule(net, [(0, 1)]))
