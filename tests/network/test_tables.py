"""Forwarding tables from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.errors import NetworkError
from hocket.network import read_network
from hocket.network.readers import forwarding as tables

NETWORK = """shape = "graph"
routes = "tables.csv"
[[switch]]
name = "s0"
hosts = "a,b"
[[switch]]
name = "s1"
hosts = "c"
[[switch]]
name = "s2"
hosts = "d"
"""
LINKS = [("s0", "s1"), ("s1", "s2"), ("s2", "s0"), ("s0", "s1")]


def write(folder: Path, rows: list[str], network: str = NETWORK) -> str:
    (folder / "tables.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    path = folder / "net.toml"
    links = "".join(f'[[link]]\na = "{a}"\nb = "{b}"\n' for a, b in LINKS)
    path.write_text(network + links, encoding="utf-8")
    return str(path)


def names(source: str, src: int, dst: int) -> list[str]:
    network = read_network(source)
    return [network.channel_name(channel) for channel in network.route(src, dst)]


ALL_ROUND = ["at,to,next", "# one way round", "s0,*,s1", "s1,*,s2", "s2,*,s0"]


def test_tables_may_lead_a_long_way(tmp_path: Path) -> None:
    source = write(tmp_path, ALL_ROUND)
    assert names(source, 0, 3) == ["a->s0", "s0->s1", "s1->s2", "s2->d"]
    assert names(source, 0, 1) == ["a->s0", "s0->b"]  # wired to the same switch: the default does not hold


def test_an_entry_of_its_own_comes_before_the_default(tmp_path: Path) -> None:
    source = write(tmp_path, [*ALL_ROUND, "s0, d ,s2"])
    assert names(source, 0, 3) == ["a->s0", "s0->s2", "s2->d"]
    assert names(source, 0, 2) == ["a->s0", "s0->s1", "s1->c"]


def test_an_entry_of_its_own_comes_before_the_hosts_own_link(tmp_path: Path) -> None:
    source = write(tmp_path, ["s0,*,s1", "s1,*,s0", "s1,d,s2", "s2,*,s1", "s1,c,s2", "s2,c,s0", "s0,c,s1"])
    with pytest.raises(NetworkError, match="run in a circle"):
        read_network(source)


def test_the_fourth_column_counts_cables(tmp_path: Path) -> None:
    first, second = (read_network(write(tmp_path, [*ALL_ROUND, row])) for row in ("s0,c,s1", "s0,c,s1,2"))
    links = first.links
    assert links[first.route(0, 2)[1] // 2] == links[second.route(0, 2)[1] // 2]
    assert first.route(0, 2)[1] + 6 == second.route(0, 2)[1]


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        (["s0,d,s9"], 1, "no host or switch is called 's9'; use the names"),
        (["s9,d,s0"], 1, "no host or switch is called 's9'; use the names"),
        (["s0,x,s1"], 1, "no host or switch is called 'x'"),
        (["*,d,s0"], 1, "* stands for a destination only"),
        (["s0,s2,s2"], 1, "'s2' is a switch; messages go to hosts"),
        (["a,a,s0"], 1, "a message to 'a' has arrived there"),
        (["# x", "s0,d,c"], 2, "'c' is not a neighbour of 's0'; its neighbours: a, b, s1, s2"),
        (["s0,d,s0"], 1, "'s0' is not a neighbour of 's0'"),
        ([*ALL_ROUND, "s0,*,s2"], 6, "'s0' has an entry for '*' already, in line 3; remove one of them"),
        ([*ALL_ROUND, "s0,d,s2", "s0,d,s2"], 7, "'s0' has an entry for 'd' already, in line 6"),
        (["s0,d"], 1, "'s0,d' is not an entry; write at,to,next"),
        (["s0,,s1"], 1, "'s0,,s1' is not an entry"),
        (['s0,"d,s1'], 1, "'s0,\"d,s1' is not CSV"),
        (["s0,d,s1,3"], 1, "there is no cable '3' from 's0' to 's1'; count the links"),
        (["s0,d,s1,x"], 1, "there is no cable 'x'"),
        (["# nothing"], 0, "holds no entries"),
        (
            ["s0,*,s1", "s1,*,s0", "s2,*,s0"], 1,
            "messages from 'a' to 'd' run in a circle: s0 -> s1 -> s0; correct this step",
        ),
        (
            ["s0,*,s1", "s1,*,s2", "s2,c,s1", "s2,a,s0"], 0,
            "no route from 'c' to 'b': at 's2' the tables do not say where messages to 'b' go; add a line",
        ),
    ],
)  # fmt: skip
def test_wrong_tables(tmp_path: Path, rows: list[str], line: int, message: str) -> None:
    source = write(tmp_path, rows)
    with pytest.raises(NetworkError) as caught:
        read_network(source)
    place = f"{tmp_path / 'tables.csv'}{f':{line}' if line else ''}: "
    assert str(caught.value).startswith(place + message)


def test_routes_belong_to_a_graph(tmp_path: Path) -> None:
    source = write(tmp_path, ALL_ROUND, NETWORK.replace('"graph"', '"tree"'))
    with pytest.raises(NetworkError, match=r"net.toml:2: routes are .*; write shape = \"graph\""):
        read_network(source)
    path = tmp_path / "torus.toml"
    path.write_text('shape = "graph"\nroutes = "tables.csv"\n[torus]\nsides = [4]\n')
    with pytest.raises(NetworkError, match=r"torus.toml:2: routes are .*; ties say where"):
        read_network(str(path))


def test_routes_that_are_no_file(tmp_path: Path) -> None:
    source = write(tmp_path, ALL_ROUND, NETWORK.replace("tables.csv", "other.csv"))
    with pytest.raises(NetworkError, match=r"net.toml:2: routes: file 'other.csv' not found"):
        read_network(source)


def test_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ENTRIES", 2)
    with pytest.raises(NetworkError, match=r"tables.csv:5: more than 2 entries"):
        read_network(write(tmp_path, ALL_ROUND))
