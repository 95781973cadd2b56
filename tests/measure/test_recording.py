"""The files of the ranks become one list of calls; files of ranks that died or were damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket.errors import HocketError
from hocket.measure.recording import Recording, merge

FIRST = """hocket-rank 1 0 2
comm 0 0 2 0 1
call 0 0 00000000000000000002 MPI_Alltoallv 1 1 8
call 0 2 00000000000000000003 MPI_Alltoallv 1 1 16
end
"""
SECOND = """hocket-rank 1 1 2
comm 0 0 2 0 1
call 0 0 00000000000000000004 MPI_Alltoallv 2 0 5 1 6
call 0 4 00000000000000000001 MPI_Alltoallv 0
end
"""


def merged(folder: Path, *files: str) -> Recording:
    for rank, text in enumerate(files):
        (folder / f"rank-{rank}").write_text(text)
    return merge(folder)


def steps(recording: Recording) -> list[tuple[int, tuple[object, ...]]]:
    return [(call.repeated, call.rows) for call in recording.calls]


def test_calls_change_where_any_rank_changes(tmp_path: Path) -> None:
    recording = merged(tmp_path, FIRST, SECOND)
    assert recording.ranks == 2 and recording.remarks == []
    assert steps(recording) == [
        (2, (((1, 8),), ((0, 5), (1, 6)))),
        (2, (((1, 16),), ((0, 5), (1, 6)))),
        (1, (((1, 16),), ())),
    ]
    assert [(c.messages, c.bytes) for c in recording.calls] == [(2, 13), (2, 21), (1, 16)]


def test_communicators_of_the_same_ranks(tmp_path: Path) -> None:
    """Told apart by their ordinals, whatever number each rank has for them."""
    other = "comm {} 1 2 0 1\ncall {} 0 00000000000000000001 MPI_Alltoall 1 {} 3\n"
    first = FIRST.replace("end\n", other.format(1, 1, 1) + "end\n")
    second = SECOND.replace("comm 0", "comm 7").replace("call 0", "call 7")
    second = second.replace("comm 7", other.format(0, 0, 0) + "comm 7", 1)
    recording = merged(tmp_path, first, second)
    assert [c.operation for c in recording.calls] == ["MPI_Alltoallv"] * 3 + ["MPI_Alltoall"]


def test_a_rank_that_died(tmp_path: Path) -> None:
    """Calls that all ranks have made are kept; half a line counts for nothing."""
    recording = merged(tmp_path, FIRST, SECOND.replace("MPI_Alltoallv 0\nend\n", "MPI_Allto"))
    assert [repeated for repeated, _ in steps(recording)] == [2, 2]
    assert recording.remarks == [
        "rank 1 ended without MPI_Finalize: the last calls may be missing",
        "rank 1 made 4 of 5 calls of 2 ranks: the rest is left out",
    ]
    none = merged(tmp_path, FIRST, SECOND[: SECOND.index("call")])
    assert none.calls == [] and "rank 1 made 0 of 5 calls" in none.remarks[1]


def test_a_rank_without_a_file(tmp_path: Path) -> None:
    recording = merged(tmp_path, FIRST)
    assert recording.calls == [] and "rank 1 left no record" in recording.remarks[0]
    assert "all of them see" in recording.remarks[0]


def test_intercommunicators(tmp_path: Path) -> None:
    recording = merged(tmp_path, FIRST.replace("end", "skip 1 MPI_Alltoall\nend"), SECOND)
    assert len(recording.calls) == 3
    assert recording.remarks == ["calls between two groups of ranks are not recorded (MPI_Alltoall)"]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (
            SECOND.replace("MPI_Alltoallv", "MPI_Allgather"),
            "ranks disagree: at the same time MPI_Allgather and",
        ),
        (SECOND.replace("1 1 2\n", "1 1 3\n", 1), "different programs"),
        ("", "rank 1 could not write its record; make room where -o is"),
        ("hocket-ra", "rank 1 could not write its record; make room where -o is"),
        ("hello\n", "rank-1: is damaged"),
        (SECOND.replace("hocket-rank 1", "hocket-rank 2"), "is damaged"),
        (SECOND.replace("call 0 4", "call 0 3"), "rank-1:4: is damaged"),
        (SECOND.replace("call 0 4", "call 1 4"), "rank-1:4: is damaged"),
        (SECOND.replace("2 0 5 1 6", "2 0 5 1"), "rank-1:3: is damaged"),
        (SECOND.replace("2 0 5 1 6", "2 0 5 1 -6"), "rank-1:3: is damaged"),
        (SECOND.replace("2 0 1\n", "2 0 9\n"), "rank-1:2: is damaged"),
        (SECOND.replace("2 0 5 1 6", "2 0 5 9 6"), "rank-1:3: is damaged"),
        (SECOND.replace("end", "\nend"), "rank-1:5: is damaged"),
    ],
    ids=range(13),
)
def test_files_that_contradict_each_other(tmp_path: Path, second: str, says: str) -> None:
    with pytest.raises(HocketError) as caught:
        merged(tmp_path, FIRST, second)
    assert says in str(caught.value) and caught.value.remedy


def test_nothing(tmp_path: Path) -> None:
    with pytest.raises(HocketError, match="no collective call was recorded"):
        merge(tmp_path)


@settings(max_examples=300, derandomize=True, deadline=None, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(FIRST)), st.integers(0, 9), st.sampled_from(["", "0", "9", " ", "\n", "x"])
        ),
        max_size=4,
    )
)
def test_altered_files(tmp_path: Path, edits: list[tuple[int, int, str]]) -> None:
    text = FIRST
    for at, cut, insert in edits:
        text = text[:at] + insert + text[at + cut :]
    try:
        merged(tmp_path, text, SECOND)
    except HocketError as problem:
        assert problem.remedy
