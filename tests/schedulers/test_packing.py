"""The packing scheduler on trees whose trunks are wider than a host's link."""

from __future__ import annotations

import pytest

from hocket import _core

RATE = 125e6


def tree(hosts: list[int], parents: list[int], trunk: float) -> _core.Network:
    """Switch i with ``hosts[i]`` hosts hangs on switch ``parents[i]`` by ``trunk`` host speeds."""
    names = [f"s{i}" for i in range(len(hosts))]
    ranks, a, b, rates = [0] * len(hosts), [], [], []
    for child in range(1, len(hosts)):
        a.append(parents[child])
        b.append(child)
        rates.append(trunk * RATE)
    for switch, count in enumerate(hosts):
        for _ in range(count):
            a.append(switch)
            b.append(len(names))
            rates.append(RATE)
            names.append(f"n{len(names)}")
            ranks.append(1)
    return _core.build_network(names, ranks, a, b, rates, [1e-6] * len(a))


SHAPES = {
    "star": ([0, 8, 8, 8, 8], [0, 0, 0, 0, 0]),
    "chain": ([8, 8, 8, 8], [0, 0, 1, 2]),
    "unequal": ([10, 8, 7, 5, 4, 2], [0, 0, 0, 1, 1, 2]),
    "two levels": ([0, 16, 16, 16, 16, 16, 16, 16, 16], [0] * 9),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 6, 10])
def test_close_to_the_bound_on_wide_trunks(shape: str, width: int) -> None:
    network = tree(*SHAPES[shape], width)
    demand = _core.Demand(network.ranks, 1)
    schedule = _core.find_scheduler("packing").make(network, demand)
    bound = _core.lower_bounds(network, demand).phases
    assert _core.verify(network, demand, schedule).ok
    assert bound <= schedule.phases <= 1.04 * bound
    if width in (1, 2, 3):
        assert schedule.phases == bound


def test_repair_reaches_what_first_fit_misses() -> None:
    # First fit alone ends at 35 and 39 phases here.
    for shape, bound in (("chain", 31), ("unequal", 35)):
        network = tree(*SHAPES[shape], 10)
        demand = _core.Demand(network.ranks, 1)
        assert _core.find_scheduler("packing").make(network, demand).phases == bound


def test_the_tree_schedule_is_chosen_only_where_it_is_optimal() -> None:
    narrow, wide = tree(*SHAPES["chain"], 1), tree(*SHAPES["chain"], 4)
    assert _core.choose_scheduler(narrow, _core.Demand(narrow.ranks, 1)).name == "tree"
    assert _core.choose_scheduler(wide, _core.Demand(wide.ranks, 1)).name == "packing"
