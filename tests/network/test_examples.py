"""Every file of examples/networks is read and built."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.network import read_network, read_network_description

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
# shape, hosts, links (a grid's and a routed network's are the core's)
EXPECTED = {
    "figure1.toml": ("tree", 6, 9),
    "paper-a.toml": ("tree", 24, 24),
    "paper-b.toml": ("tree", 32, 35),
    "paper-c.toml": ("tree", 32, 35),
    "unequal6.toml": ("tree", 36, 41),
    "mixed-rates.toml": ("tree", 25, 27),
    "ranks.toml": ("tree", 8, 10),
    "torus.toml": ("grid", 0, 0),
    "ties.toml": ("grid", 0, 0),
    "two-spines.toml": ("graph", 8, 12),
    "forwarding.toml": ("graph", 8, 12),
    "ports.toml": ("grid", 0, 0),
    "ring.toml": ("graph", 8, 8),
    "dgx-1.toml": ("graph", 8, 16),
    "fast-hosts.toml": ("graph", 4, 10),
    "topology.conf": ("tree", 32, 35),
    "fat-tree.conf": ("tree", 64, 68),
    "topology.yaml": ("tree", 24, 27),
    "cluster.xml": ("tree", 24, 24),
    "fat-tree.xml": ("graph", 16, 24),
    "switches.xml": ("tree", 3, 4),
    "two-clusters.xml": ("routed", 8, 0),
    "infiniband-disc.txt": ("graph", 16, 24),
    "instances.json": ("tree", 4, 9),
    "flux.json": ("tree", 4, 6),
    "torus3d.yaml": ("grid", 0, 0),
    "blocks.yaml": ("tree", 16, 22),
    "blocks.conf": ("tree", 16, 22),
}


def test_no_example_is_forgotten() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.name != "README.md"} >= set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_example(name: str) -> None:
    description = read_network_description(str(EXAMPLES / name))
    assert (description.shape, len(description.hosts), len(description.links)) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_example_builds(name: str) -> None:
    pytest.importorskip("hocket._core")
    network = read_network(str(EXAMPLES / name))
    ranks = {"torus.toml": 512, "ranks.toml": 41, "ties.toml": 64, "ports.toml": 16, "torus3d.yaml": 32}.get(
        name, EXPECTED[name][1]
    )
    assert network.ranks == ranks


def test_hosts_sit_where_the_coordinates_say() -> None:
    network = read_network(str(EXAMPLES / "ties.toml"))
    assert network.ties == ["+-+-+-+-", "++++++++"]
    assert [network.names[8 * x + y] for x, y in ((0, 0), (0, 7), (1, 7), (1, 0), (7, 0))] == [
        "nid00000", "nid00007", "nid00008", "nid00015", "nid00063",
    ]  # fmt: skip


def test_messages_are_forwarded_as_the_tables_say() -> None:
    network = read_network(str(EXAMPLES / "forwarding.toml"))
    over = {dst: network.channel_name(network.route(0, dst)[1]) for dst in range(4, 8)}
    assert over == {dst: f"leaf0->spine{dst // 6}" for dst in range(4, 8)}


def test_figure_1_is_the_papers() -> None:
    """path(n0, n3) = n0-s0-s1-s3-n3; the subtrees of the root s1 hold {n0,n1,n2}, {n3,n4} and {n5}."""
    links = {frozenset((k.a, k.b)) for k in read_network_description(str(EXAMPLES / "figure1.toml")).links}
    wired = ["n0 s0", "n1 s0", "n2 s2", "s2 s0", "s0 s1", "s1 s3", "n3 s3", "n4 s3", "n5 s1"]
    assert links == {frozenset(pair.split()) for pair in wired}


def test_slurm_and_toml_agree_on_topology_b() -> None:
    toml, slurm = (
        read_network_description(str(EXAMPLES / name)) for name in ("paper-b.toml", "topology.conf")
    )
    assert {frozenset((k.a, k.b)) for k in toml.links} == {frozenset((k.a, k.b)) for k in slurm.links}
