from __future__ import annotations

from collections.abc import Callable

import pytest

from hocket.network import NetworkDescription

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]


def test_everything_a_file_may_say(describe: Describe) -> None:
    network = describe(
        """
        name = "all of it"
        shape = "tree"
        [defaults]
        rate = "1Gbit"
        latency = "5us"
        ranks = 2
        [[switch]]
        name = "s0"
        hosts = ["n[0-1]", "x"]
        host_rate = "100Mbit"
        host_latency = "1us"
        [[host]]
        name = "y"
        switch = "s0"
        ranks = 7
        [[switch]]
        name = "s1"
        uplink = "s0"
        rate = "10Gbit"
        latency = "2us"
        ranks = 3
        hosts = "m"
        [[host]]
        name = "z"
        [[link]]
        a = "z"
        b = "s1"
        rate = "2Gbit"
        """
    )
    assert [(host.name, host.ranks) for host in network.hosts] == [
        ("n0", 2), ("n1", 2), ("x", 2), ("y", 7), ("m", 3), ("z", 2),
    ]  # fmt: skip
    assert [(link.a, link.b, link.rate, link.latency) for link in network.links] == [
        ("s0", "n0", 12.5e6, 1e-6),
        ("s0", "n1", 12.5e6, 1e-6),
        ("s0", "x", 12.5e6, 1e-6),
        ("s0", "y", 125e6, 5e-6),
        ("s0", "s1", 1.25e9, 2e-6),
        ("s1", "m", 125e6, 5e-6),
        ("z", "s1", 250e6, 5e-6),
    ]
    assert network.nodes[0].where is not None
    assert network.nodes[0].where.line == 9


@pytest.mark.parametrize(
    ("text", "kind", "sides"),
    [
        ("[torus]\nsides=[8,4]", "torus", [8, 4]),
        ("[mesh]\nsides=[3]", "mesh", [3]),
        ("[hypercube]\ndimensions=6", "hypercube", [6]),
    ],
)
def test_grids(describe: Describe, text: str, kind: str, sides: list[int]) -> None:
    grid = describe(text + '\nrate="75MB/s"\nranks=2').grid
    assert grid is not None
    assert (grid.kind, grid.sides, grid.rate, grid.ranks) == (kind, sides, 75e6, 2)


SWITCH = '[[switch]]\nname = "s0"\nhosts = "n[0-3]"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SWITCH + 'colour = "red"', "4: [switch] has no key 'colour'"),
        (SWITCH + 'host_rat = "1Gbit"', "4: [switch] has no key 'host_rat'; did you mean 'host_rate'?"),
        (SWITCH + "[[switchx]]\n", "4: unknown key or table 'switchx'; did you mean 'switch'?"),
        (SWITCH + 'host_rate = "1Gbitt"', "4: the rate '1Gbitt' has the unknown unit 'Gbitt'"),
        (SWITCH + "host_rate = 1e9", '4: host_rate must be a text with a unit; write host_rate = "1Gbit"'),
        (SWITCH + 'rate = "1Gbit"', "4: rate is that of the uplink, and there is none"),
        (SWITCH + "ranks = 0", "4: ranks must be a whole number from 1"),
        (SWITCH + "ranks = true", "4: ranks must be a whole number from 1"),
        (SWITCH + 'uplink = "s9"', "4: no host or switch is called 's9'; define it"),
        (SWITCH + SWITCH, "5: switch 's0' is defined twice, first at"),
        (SWITCH + SWITCH.replace("s0", "s1"), "6: host 'n0' is defined twice, first at"),
        (SWITCH + '[[link]]\na = "s0"', "4: this [[link]] has no b"),
        (SWITCH + "[torus]\nsides = [2]", "4: a [torus] is the whole network"),
        ("[[switch]]\nhosts = 'n1'", "1: this [[switch]] has no name"),
        ("[[switch]]\nname = 's0'\nhosts = 'n[1-'", "3: unbalanced bracket"),
        (
            "[[switch]]\nname = 's0'\nhosts = 'n[1-99999999]'",
            "3: the host list 'n[1-99999999]' has more than",
        ),
        ("[[switch]]\nname = 's0'\nhosts = [1]", "3: hosts must be a host list in quotes"),
        ("[[switch]]\nname = 's0'", "the network has no hosts"),
        ("[[switch]]\nname = ''", "2: name must be a name in quotes"),
        ("[switch]\nname = 's0'", "1: switch must be a [[switch]] table"),
        ("switch = [1]\n[defaults]", "1: switch must be a [[switch]] table"),
        ("[[defaults]]\n", "1: defaults must be a [defaults] table"),
        ("shape = 'ring'\n[defaults]", "1: there is no shape 'ring'"),
        ("[torus]\nsides = [0]", "2: sides must be whole numbers from 1"),
        ("[torus]\nsides = [4096, 4096]", "2: a torus of more than"),
        ("[torus]", "1: sides must be whole numbers"),
        ("[hypercube]", "1: this [hypercube] has no dimensions"),
        ("[hypercube]\ndimensions = 25", "2: a hypercube of more than"),
        ("[defaults]\nrate = ", "2: is not TOML"),
        ("[defaults]\nranks = " + "9" * 5000, "is not TOML"),
        ("[defaults]\nrate = " + "[" * 50_000, "is nested too deeply"),
        ("[defaults]\n" + "a." * 500_000 + "b = 1", "2: a key of more than 50 parts"),
        ("[defaults]\na = 1\na = 2", "3: is not TOML"),
    ],
)
def test_mistakes(refused: Refused, text: str, message: str) -> None:
    assert refused(text).startswith(message)
