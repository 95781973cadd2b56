"""Files that ranks have left: read with bounds checks, whatever has happened to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.errors import ReportError
from hocket.report.ranks import read_rank, read_ranks

HEAD: dict[str, Any] = {
    "hocket_report": 1, "rank": 2, "host": "n2", "pid": 17, "spawned": False, "finished": True, "choices": 0,
    "rows": 1,
}  # fmt: skip
ROW: dict[str, Any] = {
    "call": "MPI_Alltoall", "object": "/bin/solver", "offset": 4711, "function": "turn", "into": 3,
    "communicator": 4, "least": 4096, "most": 4096, "scheduled": True, "why": "", "detail": "tree", "calls": 3,
    "exchanges": 3, "bytes": 36864, "seconds": 0.25, "under_way": 0, "predicted": 0.1, "bound": 0.05,
}  # fmt: skip

CHOICE: dict[str, Any] = {
    "choice": "all-to-all", "candidate": "window-2", "communicator": 4, "hosts": 2, "message": 4096, "calls": 40,
    "trials": 9, "lost": 0.01, "native": 0.06, "predicted": 0.002, "measured": 0.003,
}  # fmt: skip


def text(*objects: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in objects)


def read(path: Path, written: str | bytes) -> Any:
    path.write_bytes(written.encode() if isinstance(written, str) else written)
    return read_rank(path)


def test_a_whole_file(tmp_path: Path) -> None:
    report = read(tmp_path / "n2-17", text(HEAD, ROW))
    assert (report.rank, report.host, report.pid, report.finished) == (2, "n2", 17, True)
    (row,) = report.rows
    assert (row.call, row.site.object, row.site.offset) == ("MPI_Alltoall", "/bin/solver", 4711)
    assert (row.calls, row.bytes, row.seconds, row.scheduled) == (3, 36864, 0.25, True)
    assert report.choices == ()


def test_what_was_found_out(tmp_path: Path) -> None:
    (choice,) = read(tmp_path / "n2-17", text(HEAD | {"choices": 1}, ROW, CHOICE)).choices
    assert (choice.collective, choice.candidate, choice.message, choice.calls) == (
        "all-to-all",
        "window-2",
        4096,
        40,
    )
    assert (choice.trials, choice.native, choice.measured) == (9, 0.06, 0.003)


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        (text(HEAD), "as many lines"),
        (text(HEAD, ROW, ROW), "as many lines"),
        (text(HEAD, ROW)[:-1], "as many lines"),
        (text(HEAD, ROW)[:-9] + "\n", ":2: is not JSON"),
        ("", ":1: is not JSON"),
        ("[" * 100_000, ":1: is not JSON"),
        ("[]\n", ":1: is not a JSON object"),
        (text(HEAD | {"hocket_report": 2}, ROW), "another version"),
        (text(HEAD | {"rank": -2}, ROW), ":1: rank is '-2', out of range"),
        (text(HEAD | {"rows": 10**30}, ROW), "rows is"),
        (text(HEAD, ROW | {"calls": -1}), ":2: calls is '-1', out of range"),
        (text(HEAD, ROW | {"calls": True}), ":2: calls is 'True'"),
        (text(HEAD, ROW | {"calls": 2.5}), ":2: calls is '2.5'"),
        (text(HEAD, ROW | {"bytes": 2**64}), "bytes is"),
        (text(HEAD, ROW | {"seconds": float("nan")}), ":2: seconds is 'nan', out of range"),
        (text(HEAD, ROW | {"seconds": "1"}), ":2: seconds is"),
        (text(HEAD, ROW | {"bound": -1.0}), ":2: bound is"),
        (text(HEAD, ROW | {"bound": 10**400}), ":2: bound is"),
        (text(HEAD, ROW | {"scheduled": 1}), ":2: scheduled is '1'"),
        (text(HEAD, ROW | {"call": "\x1b[2J"}), ":2: call is"),
        (text(HEAD, ROW | {"object": "/" + "a" * 5000}), ":2: object is"),
        (text(HEAD, {key: value for key, value in ROW.items() if key != "why"}), ":2: why is 'None'"),
        (text(HEAD | {"choices": 2}, ROW, CHOICE), "as many lines"),
        (text(HEAD | {"choices": -1}, ROW), ":1: choices is '-1', out of range"),
        (text(HEAD | {"choices": 1}, ROW, CHOICE | {"native": -1.0}), ":3: native is '-1.0', out of range"),
        (text(HEAD | {"choices": 1}, ROW, CHOICE | {"candidate": "a\nb"}), ":3: candidate is"),
        (b"\xff\xfe", "not UTF-8"),
        (b"\0", "NUL"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damaged: str | bytes, complaint: str) -> None:
    with pytest.raises(ReportError) as caught:
        read(tmp_path / "n2-17", damaged)
    assert complaint in str(caught.value) and "\x1b" not in str(caught.value)


@given(st.data())
def test_no_damage_gets_further_than_a_report_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(text(HEAD, ROW).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    try:
        report = read(path, bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    except ReportError:
        return
    assert len(report.rows) == 1 and report.rows[0].calls >= 0


def test_what_can_be_read_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "n2-17").write_text(text(HEAD, ROW))
    (tmp_path / "n1-16").write_text(text(HEAD | {"rank": 1}, ROW))
    (tmp_path / "n3-18").write_text(text(HEAD, ROW)[:50])
    (tmp_path / "n4-19.new").write_text("{")
    (tmp_path / "core").mkdir()
    reports, problems = read_ranks(tmp_path)
    assert [report.rank for report in reports] == [1, 2]
    assert len(problems) == 2 and "core" in problems[0] and "n3-18" in problems[1]
