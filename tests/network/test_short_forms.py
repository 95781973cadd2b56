from __future__ import annotations

import re
from collections import Counter

import pytest

from hocket import _core
from hocket.errors import NetworkError
from hocket.network import read_network_description


def sizes(text: str) -> tuple[int, int, int]:
    """Hosts, switches, links."""
    description = read_network_description(text)
    hosts = len(description.hosts)
    return hosts, len(description.nodes) - hosts, len(description.links)


@pytest.mark.parametrize(
    ("text", "hosts", "switches"),
    [
        ("star:24", 24, 1),
        ("chain:8,8,8,8", 32, 4),
        ("chain:3,0,2", 5, 3),
        ("tree:4x8x32", 1024, 37),
        ("tree:5", 5, 1),
        ("tree:(8,(4),(4))", 16, 3),
        ("tree:(((1)))", 1, 3),
        ("tree:( 1 , ( 2, 3 ) , 4 )", 10, 2),
        ("STAR:2", 2, 1),
    ],
)
def test_trees(text: str, hosts: int, switches: int) -> None:
    assert sizes(text) == (hosts, switches, hosts + switches - 1)


def test_the_nesting_is_that_of_the_parentheses() -> None:
    description = read_network_description("tree:(1,(2,(1)),1)")
    assert [(link.a, link.b) for link in description.links] == [
        ("s0", "n0"), ("s0", "n1"), ("s0", "s1"), ("s1", "n2"), ("s1", "n3"), ("s1", "s2"), ("s2", "n4"),
    ]  # fmt: skip


def test_a_chain_is_wired_in_a_row() -> None:
    links = {(link.a, link.b) for link in read_network_description("chain:1,1,1").links}
    assert {("s0", "s1"), ("s1", "s2")} <= links


def test_options() -> None:
    description = read_network_description("star:3*4@100Mbit,20us")
    assert {host.ranks for host in description.hosts} == {4}
    assert {(link.rate, link.latency) for link in description.links} == {(12.5e6, 20e-6)}


@pytest.mark.parametrize(
    ("text", "kind", "sides"),
    [
        ("torus:8x4x8x2", "torus", [8, 4, 8, 2]),
        ("mesh:8X8", "mesh", [8, 8]),
        ("hypercube:6", "hypercube", [6]),
    ],
)
def test_grids(text: str, kind: str, sides: list[int]) -> None:
    description = read_network_description(text + "@1Gbit,0")
    assert description.shape == "grid"
    assert description.grid is not None
    assert (description.grid.kind, description.grid.sides) == (kind, sides)
    assert (description.grid.rate, description.grid.latency) == (125e6, 0)


@pytest.mark.parametrize(
    ("text", "sides", "ties"),
    [("torus:8x8/up", [8, 8], "up"), ("torus:6/Parity*2@1Gbit", [6], "parity"), ("torus:8x8", [8, 8], None)],
)
def test_ties(text: str, sides: list[int], ties: str | None) -> None:
    grid = read_network_description(text).grid
    assert grid is not None
    assert (grid.sides, grid.ties) == (sides, ties)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torus:0", "a side of 0 holds no hosts"),
        ("mesh:8x0", "a side of 0 holds no hosts"),
        ("torus:8x1x4", "a side of 1 is not a dimension; leave it out: torus:8x4"),
        ("mesh:1x1", "a side of 1 is not a dimension; leave it out: mesh:1"),
        ("torus:1000000", "a side of 1,000,000, more than 4,096"),
        ("torus:4096x245", "a torus of more than 1,000,000 hosts"),
        ("hypercube:20", "a hypercube of more than 1,000,000 hosts; give fewer dimensions"),
        ("torus:8x", "'' is not a number"),
        ("torus:8x8/down", "there is no rule 'down' for ties, only parity and up"),
        ("torus:/up", "'' is not a number"),
        ("mesh:8x8/up", "'8/up' is not a number"),
    ],
)
def test_sides_and_ties_that_are_none(text: str, message: str) -> None:
    with pytest.raises(NetworkError, match=re.escape(message)):
        read_network_description(text)


@pytest.mark.parametrize(
    ("text", "hosts", "switches", "links"),
    [
        ("fat-tree:8x8x4", 64, 12, 64 + 32),
        ("fat-tree:4x2x1", 8, 5, 8 + 4),
        ("fat-tree:k=4", 16, 20, 16 + 16 + 16),
        ("fat-tree:k=6", 54, 45, 54 + 54 + 54),
        ("fat-tree:k=4x3", 24, 20, 24 + 16 + 16),
        ("dragonfly:9x4x2", 72, 36, 72 + 9 * 6 + 36),
        ("dragonfly:3x2x1x4", 6, 6, 6 + 3 + 12),
        ("dragonfly:1x4x2", 8, 4, 8 + 6),
        ("Dragonfly:2x1x1", 2, 2, 2 + 1),
        ("dragonfly+:5x4x4x4", 80, 40, 80 + 5 * 16 + 10),
        ("dragonfly+:3x2x2x1x4", 12, 9, 12 + 3 * 2 + 12),
        ("dragonfly+:1x2x2x2", 4, 4, 4 + 4),
    ],
)
def test_fat_trees_and_dragonflies(text: str, hosts: int, switches: int, links: int) -> None:
    assert sizes(text) == (hosts, switches, links)
    network = read_network_description(text).build()
    assert network.ranks == hosts


def test_leaves_and_spines() -> None:
    description = read_network_description("fat-tree:2x2x3*2@1Gbit,1us")
    leaves = {(link.a, link.b) for link in description.links if link.b.startswith("n")}
    assert leaves == {("s0", "n0"), ("s0", "n1"), ("s1", "n2"), ("s1", "n3")}
    spines = {(link.a, link.b) for link in description.links if link.b.startswith("s")}
    assert spines == {(spine, leaf) for spine in ("s2", "s3", "s4") for leaf in ("s0", "s1")}
    assert {link.rate for link in description.links} == {125e6}
    assert {host.ranks for host in description.hosts} == {2}


def test_cables_side_by_side_are_one_faster_link() -> None:
    description = read_network_description("fat-tree:4x4x1x2@1Gbit")
    assert description.shape == "tree"
    assert {link.rate for link in description.links if link.b.startswith("s")} == {250e6}


def test_a_group_spreads_its_links_to_the_others_over_its_routers() -> None:
    for text, routers, each in (("dragonfly:9x4x2", 4, {2}), ("dragonfly:4x4x1x2", 4, {1, 2})):
        description = read_network_description(text)
        far = Counter[str]()
        pairs = Counter[tuple[int, int]]()
        for link in description.links:
            if link.b.startswith("n"):
                continue
            groups = int(link.a[1:]) // routers, int(link.b[1:]) // routers
            if groups[0] != groups[1]:
                far.update((link.a, link.b))
                pairs[groups] += 1
        assert set(far.values()) == each
        assert len(set(pairs.values())) == 1
        groups_there = {group for pair in pairs for group in pair}
        assert len(pairs) == len(groups_there) * (len(groups_there) - 1) // 2


def test_groups_of_a_dragonfly_plus_meet_at_their_spines() -> None:
    """Leaves have hosts and the spines of their group; links between groups are dealt out evenly over spines."""
    description = read_network_description("dragonfly+:5x2x3x4")
    leaf = {f"s{group * 6 + place}" for group in range(5) for place in range(2)}
    far, pairs = Counter[str](), Counter[tuple[int, int]]()
    for link in description.links:
        if link.b.startswith("n"):
            assert link.a in leaf and (int(link.a[1:]) // 6 * 2 + int(link.a[1:]) % 6) * 3 <= int(link.b[1:])
            continue
        groups = int(link.a[1:]) // 6, int(link.b[1:]) // 6
        if groups[0] == groups[1]:
            assert (link.a in leaf) != (link.b in leaf)
        else:
            assert not {link.a, link.b} & leaf
            far.update((link.a, link.b))
            pairs[min(groups), max(groups)] += 1
    assert set(far.values()) == {1} and len(far) == 20
    assert len(pairs) == 10 and set(pairs.values()) == {1}
    network = description.build()
    assert len(network.route(0, 29)) <= 6  # at most two switches in each group, hosts included


@pytest.mark.parametrize(
    "text",
    [
        "dragonfly+:5x4x4",
        "dragonfly+:5x4x4x0",
        "dragonfly+:1000x1000x1000x10",
        "fat-tree:",
        "fat-tree:8",
        "fat-tree:8x8",
        "fat-tree:8x8x0",
        "fat-tree:8x8x4x1x1",
        "fat-tree:k=",
        "fat-tree:k=3",
        "fat-tree:k=4x2x2",
        "fat-tree:2000x1000x2",
        "fat-tree:1000x1000x5000",
        "fat-tree:1000000x1000000x1000000",
        "dragonfly:9x4",
        "dragonfly:0x4x2",
        "dragonfly:9x4x2x",
        "dragonfly:1000x1000x1000",
        "fat-trees:8x8x4",
        "star:",
        "star:0",
        "star:-1",
        "star:1.5",
        "star:1000001",
        "star:" + "9" * 5000,
        "chain:",
        "chain:0",
        "chain:1,",
        "tree:",
        "tree:()",
        "tree:(",
        "tree:(1",
        "tree:(1))",
        "tree:(1)(2)",
        "tree:(1 2)",
        "tree:(1,(2)3)",
        "tree:4x",
        "tree:1000x1000x1000",
        "tree:1000000x1000000",
        "tree:" + "(" * 100_000,
        "tree:" + "2x" * 100_000 + "1",
        "torus:8x0",
        "torus:2000x2000",
        "mesh:",
        "hypercube:0",
        "hypercube:20",
        "hypercube:6x2",
        "hypercube:99999",
        "star:3*",
        "star:3*0",
        "star:3*x",
        "star:3@",
        "star:3@fast",
        "star:3@1Gbit,",
        "star:3@1Gbit@2",
        "star:3@1Gbit*2",
        "ring:5",
        "torsu:3x3",
        "mesh:" + "1x" * 40 + "1",
    ],
)
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(NetworkError) as caught:
        read_network_description(text)
    assert caught.value.remedy
    assert len(str(caught.value)) < 400


def test_a_typo_is_recognised() -> None:
    with pytest.raises(NetworkError, match="did you mean 'torus'"):
        read_network_description("torsu:3x3")


@pytest.mark.parametrize(("text", "switches"), [("star:100000", 1), ("tree:10x100x100", 1011)])
def test_large_ones_are_complete(text: str, switches: int) -> None:
    network = read_network_description(text).build()
    assert network.ranks == 100_000
    assert network.nodes == 100_000 + switches


@pytest.mark.parametrize(
    ("text", "phases"), [("fat-tree:k=4", 15), ("fat-tree:k=8", 127), ("fat-tree:8x8x8", 63)]
)
def test_routes_use_the_whole_bisection_of_a_fat_tree(text: str, phases: int) -> None:
    network = read_network_description(text).build()
    assert _core.lower_bounds(network, _core.Demand(network.ranks, 1)).phases == phases
