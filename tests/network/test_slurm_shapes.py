"""torus3d, ring and block of Slurm's topology.yaml."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.network import NetworkDescription, read_known_network

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]

# Nodes of Slurm's own tests of topology/torus3d.
NODES = """
- topology: topo1
  cluster_default: true
  torus3d:
    toruses:
      - name: pod1
        dims:
          x: 4
          y: 4
          z: 2
        nodes: node[1-32]
        placements:
          - dims: {x: 2, y: 2, z: 2}
"""
REGIONS = NODES.replace(
    "        nodes: node[1-32]\n",
    """        regions:
          - anchor: {x: 0, y: 0, z: 1}
            dims: {x: 4, y: 4, z: 1}
            nodes: node[17-32]
          - anchor: {x: 0, y: 0, z: 0}
            dims: {x: 4, y: 4, z: 1}
            nodes: node[1-16]
""",
)
RING = "- topology: t\n  ring:\n    rings:\n      - ring: r1\n        nodes: n[1-6]\n"
BLOCKS = """
- topology: t
  block:
    block_sizes: [4, 8]
    blocks:
      - {block: b1, nodes: "n[01-04]"}
      - {block: b2, nodes: "n[05-08]"}
      - {block: b3, nodes: "n[09-12]"}
      - {block: b4, nodes: "n[13-16]"}
"""


@pytest.mark.parametrize("text", [NODES, REGIONS])
def test_x_runs_fastest(describe: Describe, text: str) -> None:
    network = describe(text).build()
    assert (network.shape.name, network.sides, network.ranks) == ("torus", [2, 4, 4], 32)
    number = {name: index for index, name in enumerate(network.names)}
    beside = {frozenset(link) for link in network.links}
    for a, b in ((1, 2), (1, 5), (1, 17), (1, 4), (1, 13), (11, 27)):
        assert frozenset((number[f"node{a}"], number[f"node{b}"])) in beside
    assert frozenset((number["node1"], number["node6"])) not in beside


def test_a_side_of_1_is_no_dimension(describe: Describe) -> None:
    text = NODES.replace("z: 2\n        nodes: node[1-32]", "z: 1\n        nodes: node[1-16]")
    assert describe(text).build().sides == [4, 4]


def test_a_ring(describe: Describe) -> None:
    network = describe(RING).build()
    assert (network.shape.name, network.sides, network.names[:2]) == ("torus", [6], ["n1", "n2"])


def test_blocks_are_a_tree_of_which_the_uplinks_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "topology.yaml"
    path.write_text(BLOCKS)
    known = read_known_network(str(path))
    switches = [node.name for node in known.description.nodes if not node.is_host]
    assert switches == ["b1", "b2", "b3", "b4", "blocks of 8 #1", "blocks of 8 #2", "root"]
    assert (known.network.shape.name, known.network.ranks, known.uplinks.assumed) == ("tree", 16, True)
    way = [known.network.channel_name(channel) for channel in known.network.route(0, 15)]
    passed = [name.split("->")[1] for name in way]
    assert passed == ["b1", "blocks of 8 #1", "root", "blocks of 8 #2", "b4", "n16"]


def test_one_block_is_a_switch(describe: Describe) -> None:
    assert (
        len(describe("- topology: t\n  block:\n    blocks:\n      - {block: b, nodes: 'n[1-3]'}\n").nodes)
        == 4
    )


@pytest.mark.parametrize(("text", "says"), [
    (NODES.replace("node[1-32]", "node[1-31]"), "11: 31 nodes for 32 places; give each place one host"),
    (NODES.replace("node[1-32]", "node[1-31],node1"), "11: host 'node1' stands twice"),
    (NODES.replace("x: 4\n", "x: 0\n"), "a side is from 1 to 4096"),
    (NODES.replace("x: 4\n", "x: four\n"), "x is 'four', no whole number"),
    (NODES.replace("          z: 2\n        n", "        n"), "dims needs x, y and z"),
    (NODES.replace("        nodes: node[1-32]\n", ""), "a torus needs dims, and either nodes or regions"),
    (NODES.replace("pod1", "pod1\n      - name: pod2"), "toruses has 2 entries, which no path joins"),
    (NODES.replace("dims:\n", "dimensions:\n", 1), "has no key 'dimensions'"),
    (REGIONS.replace("z: 1}\n            dims", "z: 0}\n            dims"), "lies where"),
    (REGIONS.replace("anchor: {x: 0, y: 0, z: 1}", "anchor: {x: 1, y: 0, z: 1}"), "which reaches beyond the torus"),
    (REGIONS.replace("node[17-32]", "node[17-31]"), "a region of 16 places with 15 nodes"),
    (REGIONS.replace("dims: {x: 4, y: 4, z: 1}\n            nodes: node[1-16]",
                     "dims: {x: 4, y: 2, z: 1}\n            nodes: node[1-8]"), "8 of 32 places have no host"),
    (RING.replace("        nodes: n[1-6]\n", ""), "the ring has no nodes"),
    (RING + "      - {ring: r2, nodes: n7}\n", "rings has 2 entries"),
    (BLOCKS.replace("[4, 8]", "[4, 6]"), "block size 6 does not hold several blocks of 4"),
    (BLOCKS.replace('nodes: "n[01-04]"', "nodes: [n01]"), "nodes must be a text"),
    (BLOCKS.replace('block: b1, nodes: "n[01-04]"', 'nodes: "n[01-04]"'), "the block has no name"),
    ("- topology: t\n  block: {blocks: [block: b1, block: b2]}\n", "the network has no hosts"),
    (BLOCKS.replace("n[05-08]", "n[04-08]"), "host 'n04' is defined twice"),
])  # fmt: skip
def test_mistakes(refused: Refused, text: str, says: str) -> None:
    assert says in refused(text)
