"""Networks from networkx graphs and back."""

import pytest

import hocket

networkx = pytest.importorskip("networkx")


def test_there_and_back() -> None:
    graph = hocket.Network("chain:2,2*2@10Gbit,2us").to_networkx()
    network = hocket.Network.from_networkx(graph)
    assert network.hosts == ("n0", "n1", "n2", "n3") and network.ranks == 8
    assert {(c.rate, c.latency) for c in network.channels} == {(1.25e9, 2e-6)}
    hocket.verify(hocket.plan("chain:2,2*2@10Gbit,2us", "all-to-all", bytes=10), network)


def test_leaves_are_hosts_and_units_are_read() -> None:
    graph = networkx.Graph()
    graph.add_edge("s", "a", rate="1Gbit", latency="1us")
    graph.add_edge("s", "b", rate=1e6)
    network = hocket.Network.from_networkx(graph)
    assert network.hosts == ("a", "b")
    assert [c.rate for c in network.route(0, 1)] == [125e6, 1e6]


@pytest.mark.parametrize("graph", [
    networkx.DiGraph([(0, 1)]), networkx.Graph(), networkx.Graph([(0, 1, {"rate": -1})]),
    networkx.Graph([(0, 1, {"rate": "fast"})]), 7,
])  # fmt: skip
def test_what_is_no_network(graph) -> None:
    with pytest.raises(hocket.NetworkError):
        hocket.Network.from_networkx(graph)
