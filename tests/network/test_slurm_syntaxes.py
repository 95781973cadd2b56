"""One topology as ``topology.conf``, as ``scontrol show topology`` and ``topoconf`` print it, and as
``topology.yaml``: all give one network.

What ``scontrol`` prints is made here after Slurm's sources (``topology/tree``, ``block``, ``ring`` and ``torus3d``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from hocket.network import NetworkDescription
from hocket.network.neighbours import components_of

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]


@dataclass
class Tree:
    """Switches in the order of the file: name, hosts, switches below."""

    switches: list[tuple[str, str, list[str]]]

    def conf(self) -> str:
        return "".join(
            f"SwitchName={name}"
            + (f" Nodes={hosts}" if hosts else "")
            + (f" Switches={','.join(below)}" if below else "")
            + "\n"
            for name, hosts, below in self.switches
        )

    def scontrol(self) -> str:
        own = {name: (hosts, below) for name, hosts, below in self.switches}

        def level(name: str) -> int:
            return 1 + max(map(level, own[name][1])) if own[name][1] else 0

        def all_hosts(name: str) -> list[str]:
            hosts, below = own[name]
            return [hosts] if hosts else [each for one in below for each in all_hosts(one)]

        return "".join(
            f"SwitchName={name} Level={level(name)} LinkSpeed=1 Nodes={','.join(all_hosts(name))}"
            + (f" Switches={','.join(below)}" if below else "")
            + " \n"
            for name, _, below in self.switches
        )

    def yaml(self, topoconf: bool) -> str:
        text = "  tree:\n    switches:\n"
        for name, hosts, below in self.switches:
            text += f"    - switch: {name}\n"
            for key, value in (("children", ",".join(below)), ("nodes", hosts)):
                text += f'      {key}: "{value}"\n' if value else f"      {key}: null\n" if topoconf else ""
        return framed(text, topoconf, "tree")


@dataclass
class Blocks:
    blocks: list[tuple[str, str, int]]  # name, hosts and how many
    sizes: list[int]  # of them all, the first that of a block

    def conf(self) -> str:
        lines = [f"BlockName={name}" + (f" Nodes={hosts}" if hosts else "") for name, hosts, _ in self.blocks]
        return "\n".join([*lines, f"BlockSizes={','.join(map(str, self.sizes))}"]) + "\n"

    def scontrol(self) -> str:
        base, count = self.sizes[0], len(self.blocks)
        lines = [
            f"BlockName={name} BlockIndex={index} Nodes={hosts} BlockSize={base}"
            for index, (name, hosts, _) in enumerate(self.blocks)
        ]
        before = 1
        for size in self.sizes[1:]:
            if before >= count:  # a smaller size holds all of them
                break
            each = size // base
            for first in range(0, count, each):
                held = self.blocks[first : first + each]
                if each > count - first and before >= count - first:
                    continue  # the same as one of the size before
                hosts = ",".join(hosts for _, hosts, _ in held if hosts)
                lines.append(
                    f"AggregatedBlock={','.join(name for name, _, _ in held)} BlockIndex={len(lines)} "
                    f"Nodes={hosts} BlockSize={size}"
                )
            before = each
        return "\n".join(lines) + "\n"

    def yaml(self, topoconf: bool) -> str:
        text = (
            "  block:\n    block_sizes:\n"
            + "".join(f"    - {size}\n" for size in self.sizes)
            + "    blocks:\n"
        )
        for name, hosts, _ in self.blocks:
            text += f"    - block: {name}\n"
            text += f'      nodes: "{hosts}"\n' if hosts else "      nodes: null\n" if topoconf else ""
        return framed(text, topoconf, "block")


@dataclass
class Ring:
    hosts: str
    count: int

    def conf(self) -> str:
        return f"RingName=r0 Nodes={self.hosts}\n"

    def scontrol(self) -> str:
        return f"RingName=r0 Nodes={self.hosts} RingSize={self.count}\n"

    def yaml(self, topoconf: bool) -> str:
        return framed(f'  ring:\n    rings:\n    - ring: r0\n      nodes: "{self.hosts}"\n', topoconf, "ring")


def framed(text: str, topoconf: bool, kind: str) -> str:
    """``scontrol show topoconf`` heads the document, and lists the other kinds as empty."""
    if not topoconf:
        return "---\n- topology: t\n  cluster_default: true\n" + text
    others = "".join(f"  {each}: {{}}\n" for each in ("block", "ring", "torus3d", "tree") if each != kind)
    return f"%YAML 1.1\n---\n- topology: t\n  cluster_default: true\n  flat: false\n{others}{text}...\n"


def random_tree(rng: Random) -> Tree:
    levels, count, hosts = [[]], 0, 0
    switches: list[tuple[str, str, list[str]]] = []
    for _ in range(rng.randint(1, 6)):
        here = 0 if rng.random() < 0.25 else rng.randint(1, 4)
        name, listed = f"s{count}", f"n[{hosts}-{hosts + here - 1}]" if here else ""
        switches.append((name, listed, []))
        levels[0].append(name)
        count, hosts = count + 1, hosts + here
    while len(levels[-1]) > 1:
        below, above = list(levels[-1]), []
        rng.shuffle(below)
        spines = rng.choice([1, 1, 2])
        while below:
            group, below = below[: (size := rng.randint(2, 4))], below[size:]
            for _ in range(spines if len(group) > 1 else 1):
                switches.append((f"s{count}", "", group))
                above.append(f"s{count}")
                count += 1
        levels.append(above)
        if spines == 2 or len(levels) == 4:
            break
    if not any(listed for _, listed, _ in switches):
        switches[0] = (switches[0][0], "n0", [])
    rng.shuffle(switches)
    return Tree(switches)


def random_blocks(rng: Random) -> Blocks:
    base, count = rng.randint(1, 4), rng.randint(1, 9)
    sizes = [base]
    for _ in range(rng.randint(0, 3)):
        sizes.append(sizes[-1] * rng.choice([2, 2, 4]))
    hosts, blocks = 0, []
    for index in range(count):
        here = 0 if index and rng.random() < 0.2 else base + rng.randint(0, 1)
        blocks.append((f"b{index}", f"n[{hosts}-{hosts + here - 1}]" if here else "", here))
        hosts += here
    return Blocks(blocks, sizes)


def random_ring(rng: Random) -> Ring:
    count = rng.randint(3, 16)
    first = rng.randint(1, count - 1)
    return Ring(
        f"n[{first}-{count - 1}],n[0-{first - 1}]" if rng.random() < 0.5 else f"n[0-{count - 1}]", count
    )


def content(network: NetworkDescription) -> Any:
    """All that a file says, but for its lines."""
    return (
        network.shape,
        network.grid,
        [(node.name, node.ranks) for node in network.nodes],
        [(link.a, link.b, link.rate, link.latency, link.rate_given) for link in network.links],
        network.notes,
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [random_tree, random_blocks, random_ring])
def test_one_content_is_one_network(describe: Describe, shape: Callable[[Random], Any], seed: int) -> None:
    rng = Random(seed)
    for _ in range(40):
        told = shape(rng)
        ways = [told.conf(), told.scontrol(), told.yaml(False), told.yaml(True)]
        first, *others = [content(describe(text)) for text in ways]
        for text, other in zip(ways[1:], others, strict=True):
            assert other == first, f"{ways[0]}\n{text}"
        for component in components_of(describe(ways[0])):
            component.build()


BLOCKS = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockName=b3 Nodes=n[9-12]\n"


def test_blocks_of_a_conf(describe: Describe) -> None:
    network = describe(BLOCKS + "BlockName=b4 Nodes=n[13-16]\nBlockSizes=4,8\n")
    assert [node.name for node in network.nodes if not node.is_host] == [
        "b1", "b2", "b3", "b4", "blocks of 8 #1", "blocks of 8 #2", "root",
    ]  # fmt: skip
    assert len(network.hosts) == 16 and not any(link.rate_given for link in network.links)
    assert network.build().shape.name == "tree"


def test_blocks_as_older_controllers_print_them(describe: Describe) -> None:
    """Before 24.11 without sizes, from 24.05 on with none where the controller is older than scontrol."""
    for size in ("", " BlockSize=0"):
        text = "".join(f"BlockName=b{i} BlockIndex={i} Nodes=n{i}{size}\n" for i in range(3))
        switches = [node.name for node in describe(text).nodes if not node.is_host]
        assert switches == ["b0", "b1", "b2", "root"]


def test_an_empty_block_keeps_its_place(describe: Describe) -> None:
    """The third and fourth block belong together, whether the second has hosts or not."""
    text = (BLOCKS + "BlockName=b4 Nodes=n[13-16]\nBlockSizes=4,8\n").replace(" Nodes=n[5-8]", "")
    network = describe(text)
    assert [link.b for link in network.links if link.a == "blocks of 8 #2"] == ["b3", "b4"]
    assert network.notes == ["left out, without hosts: 1 block (b2)"]


TORUS = "TorusName=pod1 Dims=4x4x2 Nodes=node[1-32]\n  TorusName=pod1 PlacementDims=2x2x2(8) Anchors=4\n"


def test_a_torus_of_scontrol_says_what_it_does_not_tell(describe: Describe) -> None:
    network = describe(TORUS)
    assert network.grid is not None and network.grid.sides == [2, 4, 4]
    assert network.grid.names == [f"node{host}" for host in range(1, 33)]
    assert len(network.notes) == 1 and "'scontrol show topoconf'" in network.notes[0]


CLOUD = "SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2\nSwitchName=s3\nSwitchName=up Switches=s[2-3]\n"


@pytest.mark.parametrize("text", [
    CLOUD + "SwitchName=top Switches=s1,up\n",
    CLOUD.replace("s2\n", 's2 Nodes=""\n').replace("s3\n", "s3 Nodes= LinkSpeed=1\n")
    + "SwitchName=top Switches=s1,up\n",
    "- topology: t\n  tree:\n    switches:\n    - {switch: s1, nodes: 'n[1-4]'}\n    - {switch: s2}\n"
    "    - {switch: s3, nodes: ''}\n    - {switch: up, children: 's[2-3]'}\n    - {switch: top, children: 's1,up'}\n",
])  # fmt: skip
def test_leaves_of_a_cloud_that_are_scaled_down(describe: Describe, text: str) -> None:
    network = describe(text)
    assert [node.name for node in network.nodes] == ["s1", "n1", "n2", "n3", "n4", "top"]
    assert network.notes == ["left out, without hosts: 3 switches (s2, s3, up)"]
    assert network.build().ranks == 4


def test_a_switch_that_is_not_there_is_missed_below_empty_ones(refused: Refused) -> None:
    assert "no host or switch is called 's9'" in refused(CLOUD + "SwitchName=top Switches=s1,s9\n")
