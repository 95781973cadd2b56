"""NumPy's arrays; nothing in them is trusted, and nothing is unpickled."""

from __future__ import annotations

import io

import numpy as np
import pytest

from hocket.demand import read_traffic


def saved(array: object, **options: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), **options)
    return stream.getvalue()


SQUARE = [[9, 1, 0], [2, 0, 3], [0, 100, 0]]


@pytest.mark.parametrize("dtype", ["u1", "i1", "<u8", ">i8", ">u4", "f2", "<f4", ">f8", "g", "i4"])
def test_types(written, table, dtype: str) -> None:
    for array in (np.array(SQUARE, dtype), np.asfortranarray(np.array(SQUARE, dtype))):
        path = written("a.npy", saved(array))
        assert table(path) == [(0, 1, 1), (1, 0, 2), (1, 2, 3), (2, 1, 100)]
        assert read_traffic(str(path)).kept_bytes == 9


def test_told_by_content(written, table) -> None:
    assert len(table(written("matrix", saved(SQUARE)))) == 4


def test_sizes_that_floats_do_not_hold(written, table) -> None:
    path = written("a.npy", saved(np.array([[0, 2**63 - 2], [1, 0]], np.uint64)))
    assert table(path) == [(0, 1, 2**63 - 2), (1, 0, 1)]


@pytest.mark.parametrize(
    ("array", "says"),
    [
        ([1, 2, 3], "an array of 3 is not square"),
        (7, "an array of one number is not square"),
        ([[1, 2, 3], [4, 5, 6]], "an array of 2 x 3 is not square"),
        (np.zeros((2, 2, 2)), "an array of 2 x 2 x 2 is not square"),
        (np.zeros((0, 0)), "not square"),
        ([[0, -1], [0, 0]], "entry [0, 1] is -1, which is negative"),
        ([[0, 1], [1.5, 0]], "entry [1, 0] is 1.5, which is not a whole number of bytes"),
        ([[0, np.nan], [1, 0]], "entry [0, 1] is nan, which is not a number of bytes"),
        ([[0, np.inf], [1, 0]], "entry [0, 1] is inf, which is not a number of bytes"),
        ([[0, 1e30], [1, 0]], "which is more than 2^63 - 1 bytes"),
        (np.array([[0, 2**63], [0, 0]], np.uint64), "which is more than 2^63 - 1 bytes"),
        ([[0, 2.0**63], [0, 0]], "more than 2^63 - 1 bytes"),
        (np.array([[0, 2**63 - 1], [1, 0]], np.uint64), "more than 2^63 - 1 bytes in all"),
        ([[True, False], [False, True]], "entries of type bool are not real numbers"),
        ([[1j, 0], [0, 0]], "entries of type complex128 are not real numbers"),
        ([["a", "b"], ["c", "d"]], "entries of type <U1 are not real numbers"),
        (np.zeros((2, 2), [("a", "i4")]), "are not real numbers"),
    ],
    ids=range(17),
)  # fmt: skip
def test_refused(refusal, array: object, says: str) -> None:
    assert says in refusal("a.npy", saved(array))


def test_objects_are_not_unpickled(refusal) -> None:
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    objects = np.array([[Trap(), 0], [0, 0]], object)
    assert "entries of type object are not real numbers" in refusal(
        "a.npy", saved(objects, allow_pickle=True)
    )


def test_damaged_files(refusal) -> None:
    data = saved(SQUARE)
    assert "its header says 72" in refusal("a.npy", data[:-1])
    assert "its header says 72" in refusal("a.npy", data + b"\0")
    for size in range(6, len(data) - 72):
        refusal("a.npy", data[:size])
    assert "this version of .npy is not known" in refusal("a.npy", data[:6] + b"\x09" + data[7:])
    huge = data.replace(b"(3, 3)", b"(9**9, 9**9)")
    assert "the header of the array is damaged" in refusal("a.npy", huge)
    for shape in (b"(-3,-3)", b"(3000000000, 3000000000)"):
        head = data[:-72].replace(b"(3, 3)", shape)
        refusal("a.npy", head + data[-72:])
