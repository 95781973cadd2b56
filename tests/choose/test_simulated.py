"""Tests of the times that runs and plans expect of candidates, by simulation."""

from random import Random

from hocket._core import choose

from hocket import _core
from hocket.network import read_network
from hocket.planning.plan import plan_collective


def windows(size: int) -> dict[str, choose.Candidate]:
    offered = choose.offered(size, 8, 2, 16384)
    return {one.name: one for one in offered if one.window > 0 and not one.two_level}


def test_a_step_takes_what_was_measured() -> None:
    """Messages of one byte: each waits for the token of the one before."""
    network = read_network("star:8@1Gbit")
    planned = plan_collective("all-to-all", network, 1)
    costs = choose.costs_of_steps(network, 1e-3, 1.0)
    seconds = choose.simulated_seconds(network, planned.schedule, windows(1)["window-1"], costs)
    # Seven phases; after the last nobody waits for a token.
    assert 6e-3 < seconds <= 7e-3


def test_small_messages_want_windows_and_large_ones_order() -> None:
    network = read_network("chain:4,4@50Mbit")
    for size, best in ((64, "window-8"), (1 << 18, "window-1")):
        planned = plan_collective("all-to-all", network, size)
        costs = choose.costs_of_steps(network, 1e-3, 1.06)
        usual = {
            name: choose.simulated_seconds(network, planned.schedule, one, costs)
            for name, one in windows(size).items()
            if not one.large and not one.free
        }
        assert min(usual, key=lambda name: usual[name]) == best


def test_nothing_is_faster_than_the_wires() -> None:
    lot = Random(3)
    for _ in range(30):
        network = read_network(
            f"chain:{','.join(str(lot.randint(1, 4)) for _ in range(lot.randint(2, 4)))}@100Mbit"
        )
        pattern = lot.choice(["all-to-all", "all-gather", "all-reduce"])
        planned = plan_collective(pattern, network, lot.choice([64, 8192, 1 << 17]))
        costs = choose.costs_of_steps(network, 1e-4, 1.0)
        for one in windows(8192).values():
            seconds = choose.simulated_seconds(network, planned.schedule, one, costs)
            assert seconds >= planned.bound_seconds * (1 - 1e-9)


def test_what_the_library_carries_is_not_simulated() -> None:
    network = read_network("star:4")
    planned = plan_collective("all-to-all", network, 64)
    native = choose.offered(64, 4, 2, 16384)[0]
    assert choose.simulated_seconds(network, planned.schedule, native, _core.ModelParameters()) is None
