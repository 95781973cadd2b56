"""Matrix Market files, as its definition has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.demand import read_traffic

COORDINATE = "%%MatrixMarket matrix coordinate integer general\n"
ARRAY = "%%MatrixMarket matrix array real general\n"


def test_coordinates(written, table) -> None:
    text = COORDINATE + "% a comment\n\n3 3 4\n1 2 10\n% more\n3 1 30 % here too\n2 2 99\n2 3 0\n"
    path = written("a.mtx", text)
    assert table(path) == [(0, 1, 10), (2, 0, 30)]
    assert read_traffic(str(path)).kept_bytes == 99


def test_symmetric_coordinates(written, table) -> None:
    text = "%%matrixmarket MATRIX coordinate real symmetric\n3 3 3\n2 1 1e1\n3 3 5\n1 3 3.0\n"
    assert table(written("a", text)) == [(0, 1, 10), (0, 2, 3), (1, 0, 10), (2, 0, 3)]


def test_arrays_go_by_columns(written, table) -> None:
    assert table(written("a.mtx", ARRAY + "2 2\n1.0\n2\n3\n4.d0\n")) == [(0, 1, 3), (1, 0, 2)]
    symmetric = ARRAY.replace("general", "symmetric") + "3 3\n0 1 2\n0 3\n0\n"
    assert table(written("b.mtx", symmetric)) == [
        (0, 1, 1), (0, 2, 2), (1, 0, 1), (1, 2, 3), (2, 0, 2), (2, 1, 3),
    ]  # fmt: skip


def test_the_example(table) -> None:
    messages = table(Path(__file__).parents[2] / "examples" / "demands" / "mesh.mtx")
    assert len(messages) == 16 and sum(size for _, _, size in messages) == 2304 * 1024


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 2 3\n", "a.mtx:1: a Matrix Market matrix does not begin"),
        ("%%MatrixMarket matrix coordinate integer\n2 2 0\n", "a.mtx:1: a Matrix Market matrix does not begin"),
        ("%%MatrixMarket vector coordinate integer general\n", "a.mtx:1: a Matrix Market matrix does not begin"),
        (COORDINATE.replace("integer", "pattern") + "2 2 1\n1 2\n", "a pattern says who sends to whom"),
        (COORDINATE.replace("integer", "complex"), "a.mtx:1: entries cannot be 'complex'"),
        (COORDINATE.replace("general", "skew-symmetric"), "a.mtx:1: bytes cannot be 'skew-symmetric'"),
        (COORDINATE, "a.mtx: '' is not a line of rows, columns and number of entries"),
        (COORDINATE + "2 2\n", "a.mtx:2: '2 2' is not a line of rows, columns and number of entries"),
        (ARRAY + "2 2 4\n", "a.mtx:2: '2 2 4' is not a line of rows and columns"),
        (COORDINATE + "2 3 1\n1 2 1\n", "a.mtx:2: a matrix of 2 x 3 is not square"),
        (COORDINATE + "0 0 0\n", "has no ranks"),
        (COORDINATE + "99999999 99999999 0\n", "99,999,999 ranks are more than a plan can hold"),
        (COORDINATE + "2 2 1\n1 3 1\n", "a.mtx:3: '3' is not a row or column; count them from 1 to 2"),
        (COORDINATE + "2 2 1\n0 1 1\n", "a.mtx:3: '0' is not a row or column"),
        (COORDINATE + "2 2 1\n1 2\n", "a.mtx:3: '1 2' is not an entry"),
        (COORDINATE + "2 2 1\n1 2 -1\n", "a.mtx:3: '-1' is negative"),
        (COORDINATE + "2 2 1\n1 2 0.5\n", "a.mtx:3: '0.5' is not a whole number"),
        (COORDINATE + "2 2 1\n1 2 NaN\n", "a.mtx:3: 'NaN' is not a number of bytes"),
        (COORDINATE + "2 2 1\n1 2 ten\n", "a.mtx:3: 'ten' is not a number"),
        (COORDINATE + "2 2 1\n1 2 1e19\n", "a.mtx:3: '1e19' is more than 2^63 - 1 bytes"),
        (COORDINATE + "2 2 2\n1 2 1\n1 2 1\n", "a.mtx:4: entry 1 2 stands in line 3 already"),
        (COORDINATE.replace("general", "symmetric") + "2 2 2\n1 2 1\n2 1 1\n", "stands in line 3 already"),
        (COORDINATE + "2 2 2\n1 2 1\n", "a.mtx: ends after 1 of 2 entries"),
        (COORDINATE + "2 2 1\n1 2 1\n2 1 1\n", "a.mtx:4: more entries than the 1 of the size line"),
        (ARRAY + "2 2\n0\n1\n2\n", "ends before the entry of row 2 and column 2"),
        (ARRAY + "2 2\n0\n1\n2\n0 7\n", "a.mtx:6: more entries than 2 x 2"),
        (COORDINATE + f"2 2 2\n1 2 {2**63 - 1}\n2 1 1\n", "a.mtx:4: the messages have more than 2^63"),
    ],
    ids=range(27),
)  # fmt: skip
def test_refused(refusal, text: str, says: str) -> None:
    assert says in refusal("a.mtx", text)
