"""Whatever a file holds: traffic or one DemandError, and the latter in one line with a remedy."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket.demand import read_traffic
from hocket.demand.recorded import RecordedCall, write
from hocket.errors import DemandError
from spoilt import exchanged, mutated

EXAMPLES_EACH = 200
modest = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=EXAMPLES_EACH,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([[0, 1], [2, 0]]))
    return stream.getvalue()


SEEDS = {
    "a.csv": b"# sizes\n0,64KiB,3\n1,0,2\n4,5,0\n",
    "a.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 10\n2 3 1e3\n3 1 7\n",
    "b.mtx": b"%%MatrixMarket matrix array integer symmetric\n% c\n2 2\n1\n2\n3\n",
    "a.npy": _npy(),
    "a.json": b"".join(write(3, [RecordedCall("MPI_Alltoallv", (0, 2), 4, (((2, 9),), ()))])),
}
TRAPS = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"9" * 5000, b"[" * 5000, b"-1", b"1e999", b"nan", b"inf", b"1_0",
    "٣".encode(), "²".encode(), b"0x1F", b"1.5", b"\r", b"\xe2\x80\xa8", b"true", b"null", b"''",
    b"18446744073709551616",
    b"'descr': 'O'", b"|O", b"<f8", b"<V8", b"(2, 2)", b"(2,)", b"()", b"(99999, 99999)", b"True", b"general",
    b"symmetric", b"pattern", b"complex", b"array", b"coordinate",
]  # fmt: skip
WORDS = [*sorted({w for s in SEEDS.values() for w in re.findall(rb"[\w.-]+|[^\w\s]+|\s+", s)}), *TRAPS]


def read(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    try:
        traffic = read_traffic(str(path))
    except DemandError as problem:
        assert problem.remedy and problem.where is not None, problem
        assert "\n" not in str(problem) and len(str(problem)) < 1500
        return
    if traffic.ranks < 10_000:
        assert traffic.demand().total_bytes == traffic.total_bytes


@modest
@given(name=st.sampled_from(sorted(SEEDS)), data=st.binary(max_size=200))
def test_random_bytes(tmp_path: Path, name: str, data: bytes) -> None:
    read(tmp_path, name, data)


@modest
@given(name=st.sampled_from(sorted(SEEDS)), words=st.lists(st.sampled_from(WORDS), max_size=30))
def test_random_words(tmp_path: Path, name: str, words: list[bytes]) -> None:
    read(tmp_path, name, b"".join(words))


@pytest.mark.parametrize("name", SEEDS)
def test_mutated_files(tmp_path: Path, name: str) -> None:
    for data in mutated(SEEDS[name], WORDS, 12, EXAMPLES_EACH):
        read(tmp_path, name, data)


@pytest.mark.parametrize("name", SEEDS)
def test_exchanged_words(tmp_path: Path, name: str) -> None:
    for data in exchanged(SEEDS[name], TRAPS, EXAMPLES_EACH):
        read(tmp_path, name, data)
