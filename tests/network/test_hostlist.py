from __future__ import annotations

import pytest

from hocket.errors import NetworkError
from hocket.network.chosen import MAX_LIST, expand
from hocket.network.source import Source

HERE = Source("hosts", "")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", "n1"),
        ("n[3,1-2]", "n3 n1 n2"),
        ("n[08-11]", "n08 n09 n10 n11"),
        ("n[0-4/2],login", "n0 n2 n4 login"),
        ("a[0-1]b[0-1]", "a0b0 a0b1 a1b0 a1b1"),
        ("r[0-1][5-6].lan", "r05.lan r06.lan r15.lan r16.lan"),
        (" n1 , n2 ", "n1 n2"),
        ("n1,n1", "n1 n1"),
    ],
)
def test_expands_in_written_order(text: str, names: str) -> None:
    assert expand(text, HERE) == names.split()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n1,",
        "n[1-2",
        "n1]",
        "n[]",
        "n[2-1]",
        "n[1-x]",
        "n[001-10]",
        "@all",
        "n*",
        "a b",
        "n[0-3/0]",
        "n[[1]]",
        "n[1-2]!n1",
        "n[" + "9" * 5000 + "]",
        "[1]" * 100,
    ],
)
def test_refuses_what_is_no_list(text: str) -> None:
    with pytest.raises(NetworkError):
        expand(text, HERE)


@pytest.mark.parametrize(
    "text", ["n[1-99999999]", "n[0-999]" * 6, "n[1-150000],m[1-150000]", "n[1-9,1-999999]"]
)
def test_counts_before_it_expands(text: str) -> None:
    with pytest.raises(NetworkError, match="more than 200,000 names"):
        expand(text, HERE)


def test_the_largest_list() -> None:
    assert len(expand(f"n[1-{MAX_LIST}]", HERE)) == MAX_LIST
