"""Ties and coordinates of tori and meshes, from TOML files."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.errors import NetworkError
from hocket.network import NetworkDescription, read_network, read_network_description

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]


@pytest.mark.parametrize(
    ("text", "ties"),
    [
        ("", ["+-+-+-", "", "+-+-"]),
        ('ties = "parity"', ["+-+-+-", "", "+-+-"]),
        ('ties = "up"', ["++++++", "", "++++"]),
        ('ties = ["++--+-", "", "----"]', ["++--+-", "", "----"]),
    ],
)
def test_ties(describe: Describe, text: str, ties: list[str]) -> None:
    assert describe(f"[torus]\nsides = [6, 3, 4]\n{text}").build().ties == ties


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('ties = "down"', '3: there is no rule \'down\' for ties; write ties = "parity" or "up"'),
        ("ties = 1", "3: ties must be the name of a rule or a list of texts"),
        ('ties = ["+-+-"]', "3: 1 rows of ties for 2 sides"),
        ('ties = ["+-+", ""]', "3: '+-+' are not the ties of side 1, 4; write 4 signs + or -"),
        ('ties = ["+-+0", ""]', "3: '+-+0' are not the ties of side 1, 4"),
        ('ties = ["+-+-", "+-+"]', "3: '+-+' are not the ties of side 2, 3; write \"\": only even sides"),
        ("sides = [4, 3]", "is not TOML"),
    ],
)
def test_ties_that_are_none(refused: Refused, text: str, message: str) -> None:
    assert message in refused(f"[torus]\nsides = [4, 3]\n{text}")


def test_a_mesh_has_no_ties(refused: Refused) -> None:
    assert refused('[mesh]\nsides = [4]\nties = "up"').startswith("3: [mesh] has no key 'ties'")


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ("[8, 1]", "2: a side of 1 is not a dimension; leave it out: torus:8"),
        ("[1000000]", "2: a side of 1,000,000, more than 4,096"),
        ("[0]", "2: sides must be whole numbers from 1"),
        ("[]", "2: sides must be whole numbers from 1"),
        ("[4096, 256]", "2: a torus of more than 1,000,000 hosts"),
    ],
)
def test_sides_that_are_none(refused: Refused, sides: str, message: str) -> None:
    assert refused(f"[torus]\nsides = {sides}").startswith(message)


PLACES = {"a": (0, 0), "b": (0, 1), "c": (0, 2), "d": (1, 0), "e": (1, 1), "f": (1, 2)}
LINES = [f"{name} {x} {y}" for name, (x, y) in PLACES.items()]


def with_coordinates(folder: Path, lines: list[str], kind: str = "torus") -> str:
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "sub" / "where.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = folder / "grid.toml"
    path.write_text(f'[{kind}]\nsides = [2, 3]\ncoordinates = "sub/where.txt"\n', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", ["torus", "mesh"])
@pytest.mark.parametrize("lines", list(itertools.permutations(LINES))[::97])
def test_hosts_are_numbered_by_place_not_by_line(tmp_path: Path, kind: str, lines: list[str]) -> None:
    source = with_coordinates(
        tmp_path, ["# who where", "", *lines[:3], f"{lines[3]}  # spare", *lines[4:]], kind
    )
    network = read_network(source)
    assert network.names == list("abcdef")
    neighbours = {frozenset((network.names[a], network.names[b])) for a, b in network.links}
    assert frozenset("ad") in neighbours
    assert (frozenset("ac") in neighbours) == (kind == "torus")
    assert frozenset("ae") not in neighbours


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (LINES[:5], 0, "no host is at (1, 2); the sides ask for 6 hosts"),
        (LINES[:2] + LINES[4:], 0, "no host is at (0, 2) and at 1 other places"),
        ([*LINES, "g 1 2"], 7, "(1, 2) holds 'f' already, since line 6"),
        ([*LINES[:5], "f 0 0"], 6, "(0, 0) holds 'a' already, since line 1"),
        ([*LINES[:5], "a 1 2"], 6, "host 'a' is placed twice, first in line 1"),
        ([*LINES[:5], "f 1 3"], 6, "coordinate 2 is 3, the side has 3; coordinates count from 0 to 2"),
        ([*LINES[:5], "f 99999999999 0"], 6, "coordinate 1 is 99999999999, the side has 2"),
        ([*LINES[:5], "f -1 0"], 6, "'-1' is not a coordinate; write NAME x y"),
        ([*LINES[:5], "f 1"], 6, "'f 1' is not a name and 2 coordinates; write NAME x y"),
        ([*LINES[:5], "f 1 x"], 6, "'x' is not a coordinate"),
        ([*LINES[:5], "f" * 300 + " 1 2"], 6, "the name"),
        (["# nothing"], 0, "no host is at (0, 0) and at 5 other places"),
    ],
)
def test_wrong_coordinates(tmp_path: Path, lines: list[str], line: int, message: str) -> None:
    source = with_coordinates(tmp_path, lines)
    with pytest.raises(NetworkError) as caught:
        read_network_description(source)
    place = f"{tmp_path / 'sub' / 'where.txt'}{f':{line}' if line else ''}: "
    assert str(caught.value).startswith(place + message)


def test_coordinates_that_are_no_file(tmp_path: Path, refused: Refused) -> None:
    for name in ("missing.txt", ".", "x" * 5000):
        text = refused(f'[torus]\nsides = [2, 3]\ncoordinates = "{name}"')
        assert text.startswith("3: coordinates: file ")
        assert "not found; the path begins in the folder of" in text
