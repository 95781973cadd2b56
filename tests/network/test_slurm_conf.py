from __future__ import annotations

from collections.abc import Callable

import pytest

from hocket.network import Defaults, NetworkDescription, read_network_description

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]


def test_a_tree(describe: Describe) -> None:
    network = describe(
        "# comment\nswitchname=s0 NODES=n[0-1],m LinkSpeed=900 # more\n\nSwitchName=s1 Nodes=k\n"
        'SwitchName=top \\\n  Switches="s[0-1]"\n'
    )
    assert [node.name for node in network.nodes] == ["s0", "n0", "n1", "m", "s1", "k", "top"]
    assert [(link.a, link.b) for link in network.links] == [
        ("s0", "n0"), ("s0", "n1"), ("s0", "m"), ("s1", "k"), ("top", "s0"), ("top", "s1"),
    ]  # fmt: skip
    assert network.links[-1].where is not None
    assert network.links[-1].where.line == 5


def test_continued_lines_are_joined_as_slurm_joins_them(describe: Describe, refused: Refused) -> None:
    """Without a blank, whatever is cut; behind a comment nothing goes on."""
    network = describe(
        "SwitchName=s0 Nodes=n[0-\\ \n1],\\\nm # more \\\nSwitchName=s1 \\\n\tNodes=k\nSwitchName=top Swit\\\n"
        "ches=s[0\\ # rest\n-1]\\\n"
    )
    assert [(link.a, link.b) for link in network.links] == [
        ("s0", "n0"), ("s0", "n1"), ("s0", "m"), ("s1", "k"), ("top", "s0"), ("top", "s1"),
    ]  # fmt: skip
    assert refused("SwitchName=s0 Nodes=n0,\\\n  n1").endswith(
        "without spaces, at the beginning of a continued line, too"
    )


def test_rates_are_the_defaults(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("slurm") / "topology.conf"
    path.write_text("SwitchName=s Nodes=n[1-2] LinkSpeed=1")
    network = read_network_description(str(path), Defaults(rate=5e6, latency=1e-3, ranks=3))
    assert {(link.rate, link.latency) for link in network.links} == {(5e6, 1e-3)}
    assert {host.ranks for host in network.hosts} == {3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SwitchName=s0", "the network has no hosts"),
        ("SwitchName=s0 Nodes=", "the network has no hosts"),
        ("SwitchName= Nodes=n1", "1: SwitchName=Nodes=n1 is not one name"),
        ('SwitchName="" Nodes=n1', "1: the line names no switch"),
        ("SwitchName=a Nodes=n1\nNodes=n2", "2: the line names no switch"),
        ("SwitchName=s[0-1] Nodes=n1", "1: SwitchName=s[0-1] is not one name"),
        ("SwitchName=s0 Nodes = n1 n2", "1: 'n2' is not Key=value"),
        ("SwitchName=s0 Node=n1", "1: unknown key 'Node'; did you mean 'Nodes'?"),
        ("SwitchName=s0 Nodes=n1 nodes=n2", "1: Nodes is given twice"),
        ("SwitchName=s0 Nodes=n[1-99999999]", "1: the host list 'n[1-99999999]' has more than 200,000"),
        ("SwitchName=s0 Nodes=n1,n1", "1: host 'n1' is defined twice"),
        ("SwitchName=s0 Nodes=n1\nSwitchName=s1 Nodes=n1", "2: host 'n1' is defined twice, first at"),
        ("SwitchName=s0 Nodes=n1\nSwitchName=s0 Nodes=n2", "2: switch 's0' is defined twice"),
        ("SwitchName=s0 Nodes=n1\nSwitchName=t Switches=s[0-1]", "2: no host or switch is called 's1'"),
        ("SwitchName=t Switches=u\nSwitchName=u Switches=t", "the network has no hosts"),
        (
            "SwitchName=s0 Nodes=n1\nBlockName=b0 Nodes=n2",
            "2: BlockName= tells of blocks, and line 1 of switches",
        ),
        ("BlockName=b0 Nodes=n1 Switches=s1", "1: Switches= does not go with BlockName="),
        ("BlockName=b0 Nodes=n1 BlockSizes=4", "1: BlockSizes= does not go with BlockName="),
        ("BlockName=b[0-1] Nodes=n1", "1: BlockName=b[0-1] is not one name; give each block a line"),
        ("BlockName=b0 Nodes=n1\nBlockSizes=4,6", "2: block size 6 does not hold several blocks of 4"),
        ("BlockName=b0 Nodes=n1\nBlockSizes=4,x", "2: a block size is 'x', no whole number"),
        ("BlockName=b0 Nodes=n1\nBlockSizes=4\nBlockSizes=8", "3: BlockSizes is given twice"),
        ("BlockName=b0\nBlockSizes=4", "1: the network has no hosts"),
        ("BlockName=b0 Nodes=n1\nBlockName=b1 Nodes=n1", "2: host 'n1' is defined twice"),
        (
            "RingName=r0 Nodes=n[1-3]\nRingName=r1 Nodes=n[4-6]",
            "1: RingName has 2 entries, which no path joins",
        ),
        ("RingName=r0", "1: the ring has no nodes"),
        ("RingName=r0 Nodes=n1,n1", "1: host 'n1' stands twice"),
        ("TorusName=t Dims=2x2x2 Nodes=n[1-7]", "1: 7 nodes for 8 places"),
        ("TorusName=t Dims=2x2 Nodes=n[1-4]", "1: a torus needs Dims and Nodes"),
        ("TorusName=t Dims=2x0x2 Nodes=n1", "1: a side is from 1 to 4096"),
        ("  TorusName=t PlacementDims=2x2x2(8) Anchors=1", "1: TorusName has 0 entries"),
    ],
)
def test_mistakes(refused: Refused, text: str, message: str) -> None:
    assert refused(text).startswith(message)


LEAVES = "SwitchName=a Nodes=n[0-3] LinkSpeed={0}\nSwitchName=b Nodes=n[4-7] LinkSpeed={0}\n"


@pytest.mark.parametrize(
    ("hosts", "uplinks", "width"), [("200000000", "3200000000", 16), ("2", "1", 0.5), ("7", "7", None),
                                    ("fast", "1", None), ("0", "8", None)]
)  # fmt: skip
def test_speeds_that_differ_are_rates_in_proportion(
    describe: Describe, hosts: str, uplinks: str, width: float | None
) -> None:
    network = describe(LEAVES.format(hosts) + f"SwitchName=top Switches=a,b LinkSpeed={uplinks}")
    assert {link.rate for link in network.links[:8]} == {125e6}
    assert {link.rate for link in network.links[8:]} == {125e6 * (width or 1)}
    assert all(link.rate_given == (width is not None) for link in network.links)


def test_a_line_without_speed_says_nothing_of_the_others(describe: Describe) -> None:
    network = describe(LEAVES.format(1) + "SwitchName=top Switches=a,b")
    assert {(link.rate, link.rate_given) for link in network.links} == {(125e6, False)}


def test_output_of_scontrol(describe: Describe) -> None:
    network = describe(
        "SwitchName=a Level=0 LinkSpeed=1 Nodes=n[0-3] \nSwitchName=b Level=0 LinkSpeed=1 Nodes=n[4-7] \n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=a,b \n"
    )
    assert [host.name for host in network.hosts] == [f"n{i}" for i in range(8)]
    assert [(link.a, link.b) for link in network.links[8:]] == [("top", "a"), ("top", "b")]
    assert not any(link.rate_given for link in network.links)
