from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.errors import NetworkError, UsageError
from hocket.network import Defaults, NetworkDescription, read_network_description

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]
EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"

TREE = """\
---
- topology: other
  flat: true
- topology: main
  cluster_default: true
  tree:
    switches:
      - switch: s1
        children: s[2-3]
      - switch: s2
        nodes: n[1-2]
      - switch: s3
        nodes: n[3-4]
"""


def test_the_default_tree(describe: Describe) -> None:
    network = describe(TREE)
    assert [node.name for node in network.nodes] == ["s1", "s2", "n1", "n2", "s3", "n3", "n4"]
    assert [(link.a, link.b) for link in network.links][:3] == [("s1", "s2"), ("s1", "s3"), ("s2", "n1")]
    assert [node.where.line for node in network.nodes if node.where] == [8, 10, 11, 11, 12, 13, 13]


def test_a_topology_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "topology.yaml"
    path.write_text(TREE.replace("cluster_default: true", "") + "- topology: third\n  block: {blocks: []}\n")
    described = read_network_description(str(path), Defaults(topology="main"))
    assert [node.name for node in described.nodes] == ["s1", "s2", "n1", "n2", "s3", "n3", "n4"]
    for name, says in (("mian", "did you mean 'main'?"), ("xyz", "--topology takes other, main, third"),
                       ("other", "choose another one: --topology main")):  # fmt: skip
        with pytest.raises(NetworkError, match=re.escape(says)):
            read_network_description(str(path), Defaults(topology=name))
    for plain in ("star:4", str(EXAMPLES / "topology.conf")):
        with pytest.raises(UsageError, match=r"topology\.yaml"):
            read_network_description(plain, Defaults(topology="main"))


BOMB = "- &a [x, x]\n" + "\n".join(f"- &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]" for i in range(20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TREE.replace("cluster_default: true", ""),
            "3: the topology is flat, which does not say how hosts are wired; choose another one: --topology main",
        ),
        (
            TREE[: TREE.index("- topology: main")],
            "3: the topology is flat, which does not say how hosts are wired; d",
        ),
        ("- topology: t\n  block:\n    block_sizes: [4]", "3: the topology has no blocks"),
        ("- topology: t", "1: the topology has no single type"),
        ("- topology: t\n  tree: 5", "2: the tree must be"),
        ("- topology: t\n  tree: {}", "2: the tree has no switches"),
        ("- topology: t\n  tree: {switches: 5}", "2: switches must be a list"),
        ("- topology: t\n  tree: {switches: []}", "2: the network has no hosts"),
        ("- topology: t\n  treex: {}", "2: a topology has no key 'treex'; did you mean 'tree'?"),
        (TREE.replace("nodes: n[1-2]", "node: n1"), "11: a switch has no key 'node'; did you mean 'nodes'?"),
        (TREE.replace("nodes: n[1-2]", "nodes: [n1, n2]"), "11: nodes must be a text"),
        (TREE.replace("n[1-2]", "n[1-2"), "11: unbalanced bracket"),
        (TREE.replace("n[1-2]", "n[1-999999]"), "11: the host list"),
        (TREE.replace("n[1-2]", "n[2-3]"), "13: host 'n3' is defined twice"),
        (TREE.replace("s[2-3]", "s[2-4]"), "9: no host or switch is called 's4'"),
        (TREE.replace("switch: s2", "nodes: n7"), "11: nodes is given twice"),
        (TREE.replace("      - switch: s3\n        nodes", "      - nodes"), "12: the switch has no name"),
        (TREE + "        ]", "14: is not YAML"),
        (TREE.replace("flat: true", "flat: \x07"), "3: is not YAML"),
        ("- topology: !!python/object:os.system x\n  tree: *a", "2: holds an alias"),
        (BOMB + "\n- topology: x", "2: holds an alias"),
        ("- topology: " + "[" * 100_000, "1: is nested too deeply"),
        ("- topology: x\n  tree: " + "{a: " * 100_000, "2: is nested too deeply"),
    ],
)
def test_mistakes(refused: Refused, text: str, message: str) -> None:
    assert refused(text).startswith(message)
