"""``hocket network balance``: what it reports, and that Hocket reads what it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket import _core
from hocket.network import read_network
from hocket.network.writer import network_files

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
Call = Callable[..., Any]


def most(network: _core.Network) -> int:
    return max(_core.lower_bounds(network, _core.Demand(network.ranks, 1)).load)


def test_a_torus_whose_ties_go_up(tmp_path: Path, hocket: Call) -> None:
    output = tmp_path / "even.toml"
    answer = hocket("network", "balance", "torus:8x8/up", "-o", output)
    assert answer.code == 0
    assert "bound   80 -> 64 phases" in answer.out
    assert f"wrote {output}" in answer.out
    assert most(read_network("torus:8x8/up")) == 80
    assert most(read_network(str(output))) == 64
    assert hocket("network", "show", output, "--json").object()["bound_phases"] == 64


def test_the_report(hocket: Call) -> None:
    found = hocket("network", "balance", EXAMPLES / "ties.toml", "--json").object()
    assert (found["shape"], found["ranks"], found["demand"], found["changed"]) == (
        "torus", 64, "all-to-all", True,
    )  # fmt: skip
    assert found["before"] == {"max_load": 80, "mean_load": 64.0, "bound_phases": 80}
    assert found["after"] == {"max_load": 64, "mean_load": 64.0, "bound_phases": 64}
    assert [(d["side"], d["max_load_before"], d["max_load_after"]) for d in found["dimensions"]] == [
        (8, 64, 64), (8, 80, 64),
    ]  # fmt: skip
    assert found["ties"] == ["+-+-+-+-"] * 2
    assert found["files"] == []


def test_coordinates_are_kept(tmp_path: Path, hocket: Call) -> None:
    output = tmp_path / "even.toml"
    assert hocket("network", "balance", EXAMPLES / "ties.toml", "-o", output).code == 0
    before, after = read_network(str(EXAMPLES / "ties.toml")), read_network(str(output))
    assert (after.names, after.links) == (before.names, before.links)
    assert [after.rate(0), after.latency(0)] == [before.rate(0), before.latency(0)]
    assert (tmp_path / "even.coordinates.txt").exists()


def wires(network: _core.Network) -> list[tuple[float, float]]:
    return [(network.rate(channel), network.latency(channel)) for channel in range(network.channels)]


CABLE = """[[link]]
a = "a b"
b = 'c,"d'
"""
CABLE_BACK = """[[link]]
a = 'c,"d'
b = "a b"
"""
GRAPH = (
    """shape = "graph"
routes = "all by the first.csv"
[defaults]
rate = "3Gbit"
[[switch]]
name = "a b"
hosts = "n[0-3]"
[[switch]]
name = "c,\\"d"
hosts = "n[4-7]"
ranks = 2
[[switch]]
name = "e"
[[link]]
a = "a b"
b = "e"
[[link]]
a = "e"
b = 'c,"d'
rate = "1000000.1B/s"
latency = "3.3us"
"""
    + 2 * CABLE
    + CABLE_BACK
    + 2 * CABLE
)


def test_a_graph_with_several_cables(tmp_path: Path, hocket: Call) -> None:
    source, output = tmp_path / "graph.toml", tmp_path / "even.toml"
    source.write_text(GRAPH)
    (tmp_path / "all by the first.csv").write_text('a b,*,"c,""d"\n"c,""d",*,a b\n')
    answer = hocket("network", "balance", source, "-o", output)
    assert answer.code == 0
    assert "forwarding entries" in answer.out
    before, after = read_network(str(source)), read_network(str(output))
    for field in ("names", "links", "ranks_per_node"):
        assert getattr(after, field) == getattr(before, field)
    assert wires(after) == wires(before)
    assert most(after) < most(before)
    proposed = before.balanced(_core.Demand(before.ranks, 1))
    assert after.next_hops == proposed.next_hops


def test_nothing_to_change(tmp_path: Path, hocket: Call) -> None:
    output = tmp_path / "same.toml"
    answer = hocket("network", "balance", "torus:4x4", "-o", output)
    assert "as they are" in answer.out
    assert read_network(str(output)).ties == read_network("torus:4x4").ties


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["star:4"], "the routes of a tree cannot be chosen"),
        (["mesh:4x4"], "the routes of a mesh cannot be chosen"),
        ([EXAMPLES / "two-clusters.xml"], "the routes of a routed cannot be chosen"),
        (["torus:4x4", "-o", "x.csv"], "-o x.csv is not a TOML file"),
        (["torus:4x4", "-o", "nowhere/x.toml"], "there is no directory nowhere"),
        (["torus:4x1"], "a side of 1 is not a dimension"),
    ],
)
def test_refusals(hocket: Call, arguments: list[Any], message: str) -> None:
    answer = hocket("network", "balance", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err


@pytest.mark.parametrize(
    "name",
    [
        "figure1.toml",
        "mixed-rates.toml",
        "ranks.toml",
        "torus.toml",
        "ties.toml",
        "forwarding.toml",
        "fat-tree.xml",
    ],
)
def test_every_network_is_written_as_it_is(tmp_path: Path, name: str) -> None:
    network = read_network(str(EXAMPLES / name))
    for path, text in network_files(network, str(tmp_path / "n.toml"), "a comment").items():
        Path(path).write_text(text, encoding="utf-8")
    again = read_network(str(tmp_path / "n.toml"))
    for field in ("shape", "names", "ranks_per_node", "links", "sides", "ties", "next_hops"):
        assert getattr(again, field) == getattr(network, field)
    assert wires(again) == wires(network)


@pytest.mark.parametrize("text", ['shape = "graph"\n[[host]]\nname = "alone"', "[torus]\nsides = [1]"])
def test_one_host(tmp_path: Path, hocket: Call, text: str) -> None:
    source, output = tmp_path / "one.toml", tmp_path / "written.toml"
    source.write_text(text)
    assert hocket("network", "balance", source, "-o", output).code == 0
    assert read_network(str(output)).ranks == 1


def test_show_says_what_routes_follow(hocket: Call) -> None:
    assert "routes    dimension by dimension, ties parity" in hocket("network", "show", "torus:4x4").out
    assert "ties by table" in hocket("network", "show", EXAMPLES / "ties.toml").out
    assert "routes    12 forwarding entries" in hocket("network", "show", EXAMPLES / "forwarding.toml").out
    assert "\nroutes " not in hocket("network", "show", "star:4").out
