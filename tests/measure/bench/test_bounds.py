"""The bound of the hosts that the ranks are on."""

from __future__ import annotations

import numpy as np
import pytest

from hocket import _core
from hocket.measure.bench_exchanges import bound_seconds, nodes_of_ranks
from hocket.network import read_network

RATE = 125e6  # bytes per second of 1 Gbit/s


@pytest.fixture
def chain() -> _core.Network:
    return read_network("chain:2,2@1Gbit,1us")


def hosts(network: _core.Network) -> list[str]:
    return [network.names[node] for node in network.hosts]


def test_names_in_any_order_with_domains(chain: _core.Network) -> None:
    names = [f"{name}.cluster" for name in reversed(hosts(chain))]
    assert nodes_of_ranks(chain, names, "") == list(reversed(chain.hosts))


@pytest.mark.parametrize("placement", ["slurm", "/some/file"])
def test_what_only_the_runtime_can_tell(chain: _core.Network, placement: str) -> None:
    assert nodes_of_ranks(chain, hosts(chain), placement) is None


def test_a_stranger_and_too_many_ranks(chain: _core.Network) -> None:
    assert nodes_of_ranks(chain, [*hosts(chain)[:3], "login"], "") is None
    assert nodes_of_ranks(chain, ["x"] * 5, "order") is None
    crowd = [chain.hosts[0]] * 4
    assert bound_seconds(chain, crowd, 4, "all-to-all", 1000) is None


def test_four_messages_cross_the_switch_link(chain: _core.Network) -> None:
    for nodes in (None, list(chain.hosts), list(reversed(chain.hosts))):
        assert bound_seconds(chain, nodes, 4, "all-to-all", 1000) == pytest.approx(4 * 1000 / RATE)
        assert bound_seconds(chain, nodes, 4, "all-gather", 1000) == pytest.approx(3 * 1000 / RATE)


def test_fewer_ranks_than_places_use_what_they_use(chain: _core.Network) -> None:
    three = nodes_of_ranks(chain, ["x"] * 3, "order")
    assert bound_seconds(chain, three, 3, "all-to-all", 1000) == pytest.approx(2 * 1000 / RATE)
    assert bound_seconds(chain, None, 3, "all-to-all", 1000) is None


def test_an_irregular_exchange_depends_on_who_is_where(chain: _core.Network) -> None:
    sizes = np.zeros((4, 4), np.int64)
    sizes[0, 2] = sizes[1, 3] = 1000
    apart, beside = list(chain.hosts), [chain.hosts[i] for i in (0, 2, 1, 3)]
    assert bound_seconds(chain, apart, 4, "irregular", 1000, sizes) == pytest.approx(2000 / RATE)
    assert bound_seconds(chain, beside, 4, "irregular", 1000, sizes) == pytest.approx(1000 / RATE)
    assert bound_seconds(chain, None, 4, "irregular", 1000, sizes) is None
