"""Slurm's files with several spines over the same leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.errors import NetworkError
from hocket.network import Defaults, read_known_network, read_network
from hocket.planning.plan import plan_collective

modest = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def conf(leaves: list[int], spines: int, speeds: str = "") -> str:
    """Leaves with so many hosts each; every spine lists every leaf."""
    first = [sum(leaves[:i]) for i in range(len(leaves))]
    lines = [
        f"SwitchName=leaf{i} Nodes=n[{first[i]}-{first[i] + n - 1}]{speeds}" for i, n in enumerate(leaves)
    ]
    lines += [f"SwitchName=spine{i} Switches=leaf[0-{len(leaves) - 1}]{speeds}" for i in range(spines)]
    return "\n".join(lines) + "\n"


def yaml(leaves: list[int], spines: int) -> str:
    text = "- topology: t\n  tree:\n    switches:\n"
    for line in conf(leaves, spines).splitlines():
        text += "      - " + line.replace("SwitchName=", "switch: ").replace(
            " Nodes=", "\n        nodes: "
        ).replace(" Switches=", "\n        children: ")
        text += "\n"
    return text


@pytest.fixture(autouse=True)
def nothing_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "topology.conf"


def wires(network: _core.Network) -> set[tuple[str, str, float]]:
    return {
        (*sorted((network.names[a], network.names[b])), network.rate(2 * i))
        for i, (a, b) in enumerate(network.links)
    }


def test_they_are_a_fat_tree(file: Path) -> None:
    """Links equal those of fat-tree:4x8x2, whose spines share what the leaves carry."""
    file.write_text(conf([8] * 4, 2))
    wide = Defaults(oversubscription=(1,))
    built, family = read_network(str(file), wide), read_network("fat-tree:4x8x2", wide)
    assert built.shape.name == family.shape.name == "graph"
    renamed = {f"s{i}": f"leaf{i}" for i in range(4)} | {"s4": "spine0", "s5": "spine1"}
    assert wires(built) == {
        (*sorted((renamed.get(a, a), renamed.get(b, b))), rate) for a, b, rate in wires(family)
    }
    assert {rate for _, b, rate in wires(built) if b.startswith("spine")} == {4 * 125e6}


@modest
@given(
    leaves=st.lists(st.integers(1, 4), min_size=2, max_size=4),
    spines=st.integers(2, 4),
    share=st.sampled_from([1.0, 2.0, 4.0]),
)
def test_uplinks_share_what_a_leaf_carries(file: Path, leaves: list[int], spines: int, share: float) -> None:
    file.write_text(conf(leaves, spines))
    known = read_known_network(str(file), Defaults(oversubscription=(share,)))
    for leaf, hosts in enumerate(leaves):
        above = [k.rate for k in known.description.links if k.b == f"leaf{leaf}"]
        assert above == [pytest.approx(125e6 * hosts / share / spines)] * spines


@modest
@given(leaves=st.lists(st.integers(1, 4), min_size=2, max_size=4), spines=st.integers(2, 3))
def test_schedules_are_proven(file: Path, leaves: list[int], spines: int) -> None:
    file.write_text(conf(leaves, spines))
    network = read_network(str(file), Defaults(oversubscription=(1,)))
    for planned in (
        plan_collective("all-to-all", network, 65536),
        plan_collective("all-gather", network, 65536),
    ):
        assert planned.certificate.ok, planned.certificate.findings


def test_yaml_says_the_same(tmp_path: Path, file: Path) -> None:
    file.write_text(conf([2, 3], 3))
    other = tmp_path / "topology.yaml"
    other.write_text(yaml([2, 3], 3))
    assert wires(read_network(str(other))) == wires(read_network(str(file)))


def test_speeds_are_of_each_link(file: Path) -> None:
    file.write_text(conf([2, 2], 1, " LinkSpeed=1") + "SwitchName=spine9 Switches=leaf[0-1] LinkSpeed=3\n")
    assert {rate for a, b, rate in wires(read_network(str(file))) if b == "spine9"} == {3 * 125e6}


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=x Switches=leaf[0-1]\nSwitchName=y Switches=leaf[1-2]\n",
        "SwitchName=x Switches=leaf[0-2]\nSwitchName=y Switches=x\nSwitchName=z Switches=x\n",
    ],
)
def test_below_two_switches_and_still_a_tree(file: Path, text: str) -> None:
    file.write_text(conf([2, 2, 2], 0) + text)
    assert read_network(str(file)).shape.name == "tree"


@pytest.mark.parametrize(
    ("text", "uplinks"),
    [
        ("SwitchName=x Switches=leaf[0-2]\nSwitchName=y Switches=leaf[1-2]\n", [1, 2, 2]),
        ("SwitchName=x Switches=leaf[0-1],z\nSwitchName=z Nodes=m\nSwitchName=y Switches=leaf[0-2]\n", [2, 2, 1]),
        ("SwitchName=x Switches=leaf[0-1]\nSwitchName=y Switches=leaf[1-2]\nSwitchName=z Switches=leaf0,leaf2\n",
         [2, 2, 2]),
    ],
)  # fmt: skip
def test_spines_over_some_of_the_leaves(file: Path, text: str, uplinks: list[int]) -> None:
    file.write_text(conf([2, 2, 2], 0) + text)
    known = read_known_network(str(file), Defaults(oversubscription=(2,)))
    above = [[link.rate for link in known.description.links if link.b == f"leaf{i}"] for i in range(3)]
    assert above == [[125e6 / count] * count for count in uplinks]
    for collective in ("all-to-all", "all-gather"):
        assert plan_collective(collective, known.network, 65536).certificate.ok


def test_a_level_above_the_spines(file: Path) -> None:
    file.write_text(conf([2, 2], 2) + "SwitchName=top Switches=spine[0-1]\n")
    network = read_network(str(file), Defaults(oversubscription=(1,)))
    assert plan_collective("all-to-all", network, 1024).certificate.ok


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SwitchName=x Switches=leaf[0-2],leaf0\n", "closes a cycle"),
        ("SwitchName=x Switches=leaf[0-2],leaf0\nSwitchName=y Switches=leaf[0-2],leaf0\n", "closes a cycle"),
        (
            "SwitchName=x Switches=leaf[0-2],z\nSwitchName=y Switches=leaf[0-2],z\nSwitchName=z Switches=x\n",
            "closes a cycle",
        ),
        ("SwitchName=x Switches=leaf[0-2],x\nSwitchName=y Switches=leaf[0-2],x\n", "to itself"),
    ],
)  # fmt: skip
def test_what_is_neither_a_tree_nor_spines(file: Path, text: str, says: str) -> None:
    file.write_text(conf([2, 2, 2], 0) + text)
    with pytest.raises(NetworkError) as caught:
        read_network(str(file))
    assert says in str(caught.value) and caught.value.remedy
