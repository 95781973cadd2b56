"""Files of arrays: whatever their bytes are, they are read in their bounds or refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.errors import ArrayError
from hocket.sorting.job import ArrayFile, check_keys


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


WHOLE = saved(np.arange(100, dtype="<i4"))


@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, len(WHOLE) + 8),
)
def test_damaged_files(tmp_path: Path, changes: list[tuple[int, int]], length: int) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    path = tmp_path / "array.npy"
    path.write_bytes(bytes(data).ljust(length, b"\0")[: max(length, 100)])
    try:
        file = ArrayFile.open(str(path))
        check_keys(file, None)
    except ArrayError:
        return
    assert file.map(0, file.rows).nbytes == file.nbytes == path.stat().st_size - file.offset


@pytest.mark.parametrize("dtype", ["<i4", ">i4", "M8[s]", "S3", [("a", "u1"), ("b", ">f8")]])
def test_rows_are_read_and_written_at_their_places(tmp_path: Path, dtype: object) -> None:
    raw = np.random.default_rng(1).integers(1, 100, (50, 2, np.dtype(dtype).itemsize), dtype=np.uint8)
    array = raw.view(dtype).reshape(50, 2)
    path = tmp_path / "array.npy"
    np.save(path, array)
    file = ArrayFile.open(str(path))
    assert file.map(7, 19).tobytes() == array[7:19].tobytes()
    file.write(20, array[:5])
    file.write(40, array[:0])
    array[20:25] = array[:5].copy()
    assert np.load(path).tobytes() == array.tobytes()


def test_rows_in_the_byte_order_of_the_machine_are_converted(tmp_path: Path) -> None:
    path = tmp_path / "array.npy"
    np.save(path, np.zeros(10, ">u4"))
    ArrayFile.open(str(path)).write(3, np.arange(5, dtype="u4"))
    assert np.load(path).tolist() == [0, 0, 0, 0, 1, 2, 3, 4, 0, 0]
