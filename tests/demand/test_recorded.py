"""The traffic that ``hocket record`` writes."""

from __future__ import annotations

import json

import pytest

from hocket.demand import read_traffic
from hocket.demand.recorded import RecordedCall, write

CALLS = [
    RecordedCall("MPI_Alltoallv", (0, 1, 2), 7, (((0, 5), (2, 64)), (), ((0, 1),))),
    RecordedCall("MPI_Alltoall", (2, 0), 1, (((0, 8),), ((2, 8),))),
]
TEXT = b"".join(write(3, CALLS)).decode()


def test_round_trip(written, table) -> None:
    path = written("t.json", TEXT)
    assert table(f"{path}:1") == [(0, 2, 64), (2, 0, 1)]
    assert read_traffic(f"{path}:1").kept_bytes == 5
    assert table(f"{path}:2") == [(0, 2, 8), (2, 0, 8)]
    assert (CALLS[0].messages, CALLS[0].bytes) == (2, 65)
    single = written("one.json", b"".join(write(3, CALLS[:1])))
    assert table(str(single)) == table(f"{path}:1")


def test_a_line_per_call() -> None:
    lines = TEXT.splitlines()
    assert len(lines) == 2 + len(CALLS) and json.loads(TEXT)["calls"][0]["repeated"] == 7


def test_a_file_whose_name_ends_like_a_call(written, table) -> None:
    assert table(str(written("t.json:2", b"".join(write(3, CALLS[:1]))))) == [(0, 2, 64), (2, 0, 1)]


def test_which_call(refusal) -> None:
    listed = "holds 2 calls (1: MPI_Alltoallv of 3 ranks; 2: MPI_Alltoall of 2 ranks)"
    assert listed in refusal("t.json", TEXT)
    for call in (":0", ":3"):
        assert f"there is no call {call[1:]}" in refusal("t.json", TEXT, call)
    assert "holds no calls" in refusal("t.json", b"".join(write(3, [])))


def edited(**changes: object) -> str:
    whole = json.loads(TEXT)
    for key, value in changes.items():
        (whole["calls"][0] if key in ("members", "rows") else whole)[key] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "t.json:1: is not JSON"),
        (TEXT[:-30], "is not JSON"),
        ('{"a": ' + "[" * 100000, "nested too deep"),
        ("{}", "this JSON is not recorded traffic"),
        ('{"format": NaN}', "NaN is not a number of bytes"),
        ('{"format": ' + "9" * 5000 + "}", "is not recorded traffic"),
        (edited(version=2), "another version"),
        (edited(ranks=0), "ranks or calls are missing"),
        (edited(ranks=True), "ranks or calls are missing"),
        (edited(ranks=2**40), "ranks or calls are missing"),
        (edited(calls={}), "ranks or calls are missing"),
        (edited(calls=[5, 6]), "call 1: members and rows are missing"),
        (edited(members=[0, 1]), "differ in number"),
        (edited(members=[0, 1, 3]), "a member is not a rank"),
        (edited(members=[0, 1, 1]), "listed twice"),
        (edited(rows=[[], [], 5]), "the row of rank 2 is none"),
        (edited(rows=[[], [], [[3, 1]]]), "names a receiver that is not a rank"),
        (edited(rows=[[], [], [[0]]]), "names a receiver that is not a rank"),
        (edited(rows=[[], [], [[0, -1]]]), "not a number of bytes to rank 0"),
        (edited(rows=[[], [], [[0, 1.5]]]), "not a number of bytes to rank 0"),
        (edited(rows=[[], [], [[0, 1], [0, 2]]]), "sends twice to rank 0"),
        (edited(rows=[[], [[0, 2**63 - 1]], [[0, 1]]]), "more than 2^63 - 1 bytes in all"),
    ],
    ids=range(22),
)  # fmt: skip
def test_refused(refusal, text: str, says: str) -> None:
    assert says in refusal("t.json", text, ":1")
