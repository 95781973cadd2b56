"""CSV: n lines of n sizes."""

from __future__ import annotations

import pytest

from hocket import _core
from hocket.demand import read_demand, read_traffic
from hocket.errors import DemandError


def test_row_is_the_sender(written, table) -> None:
    path = written("a.csv", "\ufeff# who, to whom\r\n0, 64KiB, 3 # first\r\n\r\n1e3,7,0,\r\n0,1 MB,0\r\n")
    assert table(path) == [(0, 1, 65536), (0, 2, 3), (1, 0, 1000), (2, 1, 10**6)]
    assert read_traffic(str(path)).kept_bytes == 7
    demand = read_demand(str(path), 3)
    assert demand.pattern == "irregular" and demand.list() == table(path)
    assert (demand.messages, demand.bytes, demand.total_bytes) == (4, 10**6, 1066539)


def test_one_rank_and_nothing_to_send(written, table) -> None:
    assert table(written("a.csv", "5\n")) == []
    assert table(written("b.csv", "0,0\n0,0")) == []


def test_told_by_content(written, table) -> None:
    assert table(written("matrix", "0,1\n2,0\n")) == [(0, 1, 1), (1, 0, 2)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0,1\n2,0\n3,4\n", "a.csv:3: more lines than the 2 columns"),
        ("0,1,2\n1,0\n", "a.csv:2: 2 sizes, but 3 in the lines before"),
        ("0,1,2\n1,0,2\n", "a.csv:2: 2 lines of 3 sizes are not square"),
        ("0,-5\n1,0\n", "a.csv:1: '-5' is negative"),
        ("0,1\nnan,0\n", "a.csv:2: 'nan' is not a number of bytes"),
        ("0,1\n-inf,0\n", "a.csv:2: '-inf' is not a number of bytes"),
        ("0,1.5\n1,0\n", "a.csv:1: '1.5' is not a whole number of bytes"),
        ("0,many\n1,0\n", "a.csv:1: 'many' is not a"),
        ("0,3 parsec\n1,0\n", "a.csv:1: the size '3 parsec' has the unknown unit"),
        ("0,,2\n", "a.csv:1: a size is missing"),
        ("0,9223372036854775808\n0,0\n", "is more than 2^63 - 1 bytes"),
        ("0,1e999\n0,0\n", "is more than 2^63 - 1 bytes"),
        ("0,9000000TiB\n0,0\n", "is more than 2^63 - 1 bytes"),
        ("0," + "9" * 5000 + "\n0,0\n", "is not a number"),
        ("0,9223372036854775807\n1,0\n", "a.csv:2: the messages have more than 2^63 - 1 bytes in all"),
        ("# nothing\n", "holds no sizes"),
        ("", "is empty"),
        (b"0,1\n\xff,0\n", "a.csv:2: is not UTF-8"),
        (b"0,1\n\0,0\n", "a.csv:2: holds a NUL byte"),
    ],
    ids=range(19),
)
def test_refused(refusal, text: str | bytes, says: str) -> None:
    assert says in refusal("a.csv", text)


def test_another_number_of_ranks_than_the_network(written) -> None:
    path = written("a.csv", "0,1\n2,0\n")
    with pytest.raises(DemandError, match="the matrix is 2 x 2, the network has 32 ranks"):
        read_demand(str(path), 32)


def test_no_file(tmp_path) -> None:
    for path, says in (
        (str(tmp_path / "none.csv"), "no such file"),
        (str(tmp_path), "is a directory"),
        ("", "no demand is named"),
        ("a\0b", "is not a file name"),
    ):
        with pytest.raises(DemandError, match=says) as caught:
            read_traffic(path)
        assert caught.value.remedy


def test_a_format_that_is_not_known(refusal) -> None:
    assert "known are: NumPy's .npy, Matrix Market" in refusal("a.dat", "hello")
    assert "this is not recorded traffic" in refusal("a.csv", "0,1\n2,0\n", call=":3")


def test_the_core_agrees_on_the_sum(written) -> None:
    """The core accepts all that the readers accept."""
    demand = read_demand(str(written("a.csv", f"0,{2**63 - 2}\n1,0\n")), 2)
    assert demand.total_bytes == 2**63 - 1
    with pytest.raises(_core.InputError):
        _core.Demand.irregular(2, [0, 1], [1, 0], [2**63 - 1, 1])
