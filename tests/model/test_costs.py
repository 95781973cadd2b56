"""Costs of processors, tokens and shared links in the simulator, against sums done by hand."""

from __future__ import annotations

import pytest

from hocket import _core
from hocket.network import read_network

RATE = 125e6  # bytes/s: 1 Gbit/s
BYTES = 125_000  # 1 ms at that rate
MS, US = 1e-3, 1e-6


def network(form: str, latency: str = "0") -> _core.Network:
    return read_network(f"{form}@1Gbit,{latency}")


def phases(net: _core.Network, *phases: list[tuple[int, int]]) -> _core.Schedule:
    rows = [(p, s, d, s, d, 0, BYTES) for p, hops in enumerate(phases) for s, d in hops]
    return _core.Schedule.from_rows(net.ranks, BYTES, rows)


def seconds(net: _core.Network, schedule: _core.Schedule, flow: str = "free", **costs: object) -> float:
    return _core.simulate(net, schedule, None, flow, _core.ModelParameters(**costs)).seconds


def test_a_receiver_takes_one_message_after_the_other() -> None:
    net = network("star:3")
    both = phases(net, [(0, 2), (1, 2)])
    assert seconds(net, both, receive=100 * US) == pytest.approx(2 * MS + 200 * US)


def test_a_processor_does_one_thing_at_a_time() -> None:
    """Rank 0 starts its own message, then takes what has come meanwhile."""
    net = network("star:2")
    exchange = phases(net, [(0, 1), (1, 0)])
    assert seconds(net, exchange, alpha=2 * MS, receive=MS) == pytest.approx(2 * MS + MS + MS)


def test_tokens_are_work_for_both_ends() -> None:
    """The token of the first message goes by both its ends' processors before the second one starts."""
    net = network("star:3", "10us")
    chain = phases(net, [(0, 2)], [(1, 2)])
    once = 20 * US + MS
    assert seconds(net, chain, "token", token_work=5 * US) == pytest.approx(
        2 * once + 5 * US + 20 * US + 5 * US
    )
    assert seconds(net, chain, "token", token=7 * US) == pytest.approx(2 * once + 27 * US)


@pytest.mark.parametrize(("channels", "latency"), [(2, 3), (3, 4), (4, 5), (5, 6)])
def test_latencies_by_the_length_of_routes(channels: int, latency: int) -> None:
    """Links beyond the list add as much latency as the last one."""
    net = network("chain:2,1,1,1", "10us")
    (target,) = (rank for rank in range(1, net.ranks) if len(net.route(0, rank)) == channels)
    one = phases(net, [(0, target)])
    known = [1 * US, 2 * US, 3 * US, 4 * US]
    assert seconds(net, one, latencies=known) == pytest.approx(MS + latency * US)


def test_flows_leave_less_of_a_shared_wire() -> None:
    net = network("star:4")
    three = phases(net, [(0, 3), (1, 3), (2, 3)])
    assert seconds(net, three, host_shared=(1, 0.8, 0.6, 0.5)) == pytest.approx(3 * MS / 0.7)
    # The first ends after the others have shared with it; then two share, then one is alone.
    assert seconds(net, three, switch_link_shared=(1, 0.8, 0.6, 0.5)) == pytest.approx(3 * MS)


def test_switch_links_have_a_price_of_their_own() -> None:
    net = network("chain:2,2")
    pair = phases(net, [(0, 2), (1, 3)])
    assert seconds(net, pair, switch_link_shared=(1, 0.8, 0.6, 0.5)) == pytest.approx(2 * MS / 0.8)
    assert seconds(net, pair, host_shared=(1, 0.8, 0.6, 0.5)) == pytest.approx(2 * MS)


def test_steps_wait_for_what_comes_in() -> None:
    """A slow first message holds up its receiver's second, but not its eager sender's."""
    net = network("star:3", "0")
    rows = [(0, 0, 1, 0, 1, 0, 2 * BYTES), (0, 2, 0, 2, 0, 0, BYTES), (1, 1, 2, 1, 2, 0, BYTES)]
    schedule = _core.Schedule.from_rows(3, 2 * BYTES, rows)
    assert seconds(net, schedule, "steps") == pytest.approx(3 * MS)
    assert seconds(net, schedule, "free") == pytest.approx(2 * MS)
    sends_again = _core.Schedule.from_rows(3, 2 * BYTES, [*rows[:2], (1, 0, 2, 0, 2, 0, BYTES)])
    assert seconds(net, sends_again, "steps", eager=0) == pytest.approx(3 * MS)
    assert seconds(net, sends_again, "steps") == pytest.approx(3 * MS)  # both messages leave by one wire


@pytest.mark.parametrize(
    "costs",
    [
        {"receive": -1},
        {"token_work": float("nan")},
        {"latencies": [-1e-6]},
        {"host_shared": (1, 0.5, 0, 0)},
        {"switch_link_shared": (1, 2, 1, 1)},
    ],
)
def test_costs_that_make_no_sense(costs: dict[str, object]) -> None:
    net = network("star:2")
    with pytest.raises(_core.InputError):
        seconds(net, phases(net, [(0, 1)]), **costs)


@pytest.mark.parametrize("ranks", [2, 3, 8, 11])
@pytest.mark.parametrize("call", _core.LibraryCall.all(), ids=lambda call: f"{call.pattern}-{call.name}")
def test_library_calls_bring_every_byte(call: _core.LibraryCall, ranks: int) -> None:
    net = network(f"star:{ranks}")
    demand = _core.Demand(ranks, 64, call.pattern)
    if why := call.why_not(ranks):
        assert "power of two" in why
        with pytest.raises(_core.InputError):
            call.make(net, demand)
        return
    schedule = call.make(net, demand)
    ports = _core.PortModel.all_port if call.name == "all-at-once" else _core.PortModel.one_port
    assert _core.verify(net, demand, schedule, ports).complete
    assert seconds(net, schedule, call.flow) >= _core.lower_bounds(net, demand).seconds * (1 - 1e-9)
