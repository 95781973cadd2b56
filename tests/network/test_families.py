"""Families are wired by the core: nodes and links of a description are made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hocket import _core
from hocket.network import Defaults, NetworkDescription, read_known_network, read_network_description
from hocket.network.known import settle_uplinks
from hocket.network.neighbours import components_of
from peak_memory import growth

FORMS = [
    "star:1",
    "star:7*2@100Mbit",
    "chain:0,3,0,2",
    "tree:2x3x2",
    "tree:(8,(4,(2),1),(4))*3@25Gbit,3us",
    "fat-tree:8x2x4x3*2@1Gbit,1us",
    "fat-tree:3x2x1x2",
    "fat-tree:k=4x3",
    "dragonfly:1x1x3",
    "dragonfly:5x2x3x2",
    "dragonfly+:3x2x2x3x4*2@40Gbit",
]


def said_by(network: _core.Network) -> tuple[Any, ...]:
    channels = range(network.channels)
    routes = [network.route(0, rank) for rank in range(network.ranks)]
    of_channels = [(network.rate(c), network.latency(c), network.capacity(c)) for c in channels]
    return network.shape, network.names, network.ranks_per_node, network.links, of_channels, routes


@pytest.mark.parametrize(
    ("text", "names", "links"),
    [
        ("chain:1,2", "s0 n0 s1 n1 n2", [(0, 1), (0, 2), (2, 3), (2, 4)]),
        ("tree:(1,(1),(1,(1)))", "s0 n0 s1 n1 s2 n2 s3 n3",
         [(0, 1), (0, 2), (2, 3), (0, 4), (4, 5), (4, 6), (6, 7)]),
        ("fat-tree:2x1x2x3", "n0 n1 s0 s1 s2 s3", [(2, 0), (3, 1), (4, 2), (5, 2), (4, 3), (5, 3)]),
        ("dragonfly:3x2x1", "s0 n0 s1 n1 s2 n2 s3 n3 s4 n4 s5 n5",
         [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (0, 2), (4, 6), (8, 10), (0, 6), (2, 8), (4, 10)]),
        ("dragonfly+:3x1x1x2", "s0 n0 s1 s2 s3 n1 s4 s5 s6 n2 s7 s8",
         [(0, 1), (0, 2), (0, 3), (4, 5), (4, 6), (4, 7), (8, 9), (8, 10), (8, 11), (2, 7), (3, 10), (6, 11)]),
    ],
)  # fmt: skip
def test_order_of_nodes_and_links(text: str, names: str, links: list[tuple[int, int]]) -> None:
    """Plan files have them in this order."""
    network = read_known_network(text).network
    assert (network.names, network.links) == (names.split(), links)


@pytest.mark.parametrize("text", FORMS)
def test_the_network_is_that_of_its_nodes_and_links(text: str) -> None:
    known = read_known_network(text)
    assert known.description.wiring is not None  # nobody has asked
    asked = read_network_description(text)
    assert len(asked.links) == len(known.network.links)
    assert asked.wiring is None
    assert [component.nodes for component in components_of(asked)] == [known.description.nodes]
    assert settle_uplinks(asked, Defaults()) == known.uplinks
    assert said_by(asked.build()) == said_by(known.network)


def test_what_is_changed_counts() -> None:
    description = read_network_description("tree:2x2")
    description.nodes[0].name = "top"
    description.links[0].a = "top"
    for link in description.links:
        link.a = "top" if link.a == "s0" else link.a
    assert description.build().names[0] == "top"
    doubled = [replace(link, rate=2 * link.rate) for link in read_network_description("tree:2x2").links]
    changed = replace(read_network_description("tree:2x2"), links=doubled)
    assert {changed.build().rate(c) for c in range(12)} == {250e6}


@pytest.mark.parametrize("text", ["tree:2x2", "fat-tree:2x2x2", "dragonfly:3x2x1", "dragonfly+:3x1x1x2"])
def test_options_reach_the_links(text: str) -> None:
    known = read_known_network(text, Defaults(uplink_rate=5e8))
    uplinks = [
        not (known.network.names[a] + known.network.names[b]).count("n") for a, b in known.network.links
    ]
    rates = [known.network.rate(2 * link) for link in range(len(known.network.links))]
    assert rates == [5e8 if uplink else 125e6 for uplink in uplinks]
    assert known.uplinks.text.endswith("by --uplink-rate")


@pytest.mark.parametrize(
    "make",
    [
        lambda: _core.NetworkSpec.tree([-1], [2, 3], (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.tree([-1, 2, 0], [1, 1, 1], (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.tree([-1], [1 << 30], (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.fat_tree([], [], [], (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.fat_tree([2, 2], [1], [1, 1], (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.fat_tree([2, 0], [1, 1], [1, 1], (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.fat_tree([1 << 31] * 3, [1 << 31] * 3, [1] * 3, (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.fat_tree([2], [1], [1], (1e9, 1e-6, 1), names=["a", "b"]),
        lambda: _core.NetworkSpec.dragonfly(2, 0, 1, 1, (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.dragonfly(1 << 31, 1 << 31, 1 << 31, 1, (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.dragonfly_plus(2, 1, 1, 0, 1, (1e9, 1e-6, 1)),
        lambda: _core.NetworkSpec.dragonfly_plus(1 << 31, 1, 1, 1 << 31, 1, (1e9, 1e-6, 1)),
    ],
)
def test_sizes_of_no_network(make: Callable[[], object]) -> None:
    with pytest.raises(_core.InputError):
        make()


def test_a_specification_is_used_once() -> None:
    spec = _core.NetworkSpec.fat_tree([2], [1], [1], (1e9, 1e-6, 1))
    assert _core.Network.of_spec(spec).names == ["n0", "n1", "s0"]
    with pytest.raises(TypeError), pytest.warns(RuntimeWarning):
        _core.Network.of_spec(spec)


def test_a_description_by_hand_asks_no_core() -> None:
    description = NetworkDescription()
    assert (description.nodes, description.links, description.wiring) == ([], [], None)
    with pytest.raises(AttributeError):
        _ = description.cables  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "most"), [("fat-tree:k=74", 24_000), ("tree:50x50x40", 14_000)])
def test_reading_takes_the_memory_of_the_network(text: str, most: int) -> None:
    """100,000 hosts: nodes and links of the first take 70 MB more in Python, rates and capacities 11 by channel."""
    read = f"network = read_network('{text}')"
    assert growth("from hocket.network import read_network\nread_network('star:2')", read) < most  # KiB
