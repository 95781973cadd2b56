"""Whatever a file holds: a network or one NetworkError, and the latter in one line with a remedy."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket.errors import NetworkError
from hocket.network import read_network, read_network_description
from spoilt import exchanged, mutated

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
HAS_CORE = importlib.util.find_spec("hocket._core") is not None
EXAMPLES_EACH = 50
modest = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=EXAMPLES_EACH,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

SEEDS = {path.name: path.read_bytes() for path in sorted(EXAMPLES.iterdir()) if path.suffix != ".md"}
# Inserted texts that are likely to find faults: the formats' own words, and known traps.
TRAPS = [
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"9" * 5000,
    b"[" * 500,
    b"{" * 500,
    b"(" * 500,
    b"<a>" * 500,
    b"*a",
    b"&a ",
    b"<!ENTITY a 'b'>",
    b"&a;",
    b"&#0;",
    b"n[1-99999999]",
    b"[0-9]" * 9,
    b"-1",
    b"1e999",
    b"nan",
    b"inf",
    b'"""',
    b"\\",
    b"\r",
    b"\xe2\x80\xa8",
    b"!!python/name:os ",
    b"? ",
    b"<<: ",
    b"@all",
    b"''",
    b'""',
    b"true",
    b"0x1F",
    b"1979-05-27T07:32:00Z",
    b"%TAG ! !",
    b"\\UFFFFFFFF",
    b"<![CDATA[",
    b"]]>",
    b"a." * 60,
    b"radical",
    b" LinkSpeed=0",
    b" LinkSpeed=99999999999999999999",
    b" Level=1",
    b"\nSwitchName=spine9 Switches=leaf[0-3]",
    b"\nSwitchName=spine9 Switches=s[1-3]",
    b"limiter_link",
]
WORDS = [
    *sorted({word for seed in SEEDS.values() for word in re.findall(rb"[\w-]+|[^\w\s]+|\s+", seed)}),
    *TRAPS,
]


def check(source: str) -> None:
    try:
        description = read_network_description(source)
        assert description.hosts or description.grid
        if (
            HAS_CORE
            and len(description.nodes) < 10_000
            and (description.grid is None or plain(description.grid))
        ):
            description.build()
    except NetworkError as problem:
        assert problem.remedy, problem
        assert "\n" not in str(problem)
        assert len(str(problem)) < 1500
        assert problem.where is not None or not source


@pytest.mark.parametrize("name", ["coordinates.txt", "forwarding.csv"])
def test_mutated_files_that_another_names(tmp_path: Path, name: str) -> None:
    for main in ("ties.toml", "forwarding.toml"):
        (tmp_path / main).write_bytes(SEEDS[main])
    main = "ties.toml" if name == "coordinates.txt" else "forwarding.toml"
    for data in mutated(SEEDS[name], WORDS, 20, EXAMPLES_EACH):
        (tmp_path / name).write_bytes(data)
        try:
            read_network(str(tmp_path / main))
        except NetworkError as problem:
            assert problem.remedy, problem
            assert len(str(problem)) < 1500
            assert problem.where is not None


def plain(grid: object) -> bool:
    """Return true if the core can build the grid quickly, and with nothing but what it must know."""
    sides = getattr(grid, "sides", [])
    return getattr(grid, "names", None) is None and getattr(grid, "ranks", 1) == 1 and len(sides) < 5


def read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "fuzzed"
    path.write_bytes(data)
    check(str(path))


@modest
@given(data=st.binary(max_size=300))
def test_random_bytes(tmp_path: Path, data: bytes) -> None:
    read(tmp_path, data)


@modest
@given(words=st.lists(st.sampled_from(WORDS), max_size=40))
def test_random_words(tmp_path: Path, words: list[bytes]) -> None:
    read(tmp_path, b"".join(words))


@pytest.mark.parametrize("name", SEEDS)
def test_mutated_files(tmp_path: Path, name: str) -> None:
    for data in mutated(SEEDS[name], WORDS, 20, EXAMPLES_EACH):
        read(tmp_path, data)


@pytest.mark.parametrize("name", SEEDS)
def test_exchanged_words(tmp_path: Path, name: str) -> None:
    for data in exchanged(SEEDS[name], [], EXAMPLES_EACH):
        read(tmp_path, data)


@modest
@given(
    kind=st.sampled_from(["star", "chain", "tree", "torus", "mesh", "hypercube", "ring", ""]),
    rest=st.text("0123456789x,()*@ .-/GMbitsup", max_size=25) | st.text(max_size=8),
)
def test_short_forms(kind: str, rest: str) -> None:
    check(f"{kind}:{rest}")
