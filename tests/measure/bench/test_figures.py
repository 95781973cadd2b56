"""Statistics, and the three forms in which they are shown."""

from __future__ import annotations

import csv
import itertools
import json
import statistics
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.measure.bench_rows import (
    COLUMNS,
    Row,
    Times,
    as_csv,
    as_json,
    choice_and_regret,
    columns_of,
    comment_lines,
    paired_ratio,
    row_line,
    served_by,
    title_line,
)
from hocket.system.records import record

SECONDS = st.lists(st.floats(1e-7, 1e3), min_size=1, max_size=40)
TIMES = st.lists(st.floats(1e-7, 1), min_size=1, max_size=40).map(Times.of)
ROWS = st.builds(
    Row,
    bytes=st.integers(1, 1 << 30),
    native=TIMES,
    scheduled=st.none() | TIMES,
    ratio=st.none() | st.floats(1e-3, 1e3),
    bound=st.none() | st.floats(0, 1),
    served=st.none() | st.sampled_from(["schedule", "MPI library", "partly"]),
    wrong=st.sampled_from(["", "native call: byte 3"]),
)
HEADER = {"Hocket": "bench all-to-all", "Ranks": "4 on 4 machines", "Bound": None}


@given(SECONDS)
def test_percentiles_are_in_order(seconds: list[float]) -> None:
    times = Times.of(seconds)
    ordered = [times.least, times.p10, times.median, times.p90, times.p99, times.most]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(ordered))
    assert times.median == pytest.approx(statistics.median(seconds))
    assert (times.least, times.most, times.calls) == (min(seconds), max(seconds), len(seconds))


def test_percentiles_of_known_numbers() -> None:
    times = Times.of([float(i) for i in range(101)])
    assert (times.p10, times.median, times.p90, times.p99) == (10, 50, 90, 99)


def test_the_ratio_is_of_pairs_not_of_medians() -> None:
    # A machine that is ten times slower for a while: each pair says 2.
    assert paired_ratio([2, 20, 2, 20, 2], [1, 10, 1, 10, 1]) == 2
    # Median of ratios 1/5, 2, 6; that of the medians would be 2 / 3.
    assert paired_ratio([1, 2, 18], [5, 1, 3]) == 2


def test_who_has_served() -> None:
    assert [served_by(n, 6) for n in (0, 3, 6, 12)] == ["MPI library", "partly", "schedule", "partly"]


@given(ROWS)
def test_columns_are_aligned(row: Row) -> None:
    title, line = title_line(), row_line(row)
    assert len(line) == len(title)
    end = 10
    for column in (c for c in COLUMNS if c.shown):
        end += column.width
        assert title[:end].endswith(column.title)
        assert line[:end].endswith(column.cell(row))
        assert line[end - len(column.cell(row)) - 1] == " "
    assert line.split()[0] == str(row.bytes)
    assert line.split()[-1] == ("Fail" if row.wrong else "Pass")


def test_the_table_says_in_which_column_what_is() -> None:
    row = Row(4096, Times.of([2e-3]), Times.of([1e-3]), 2.0, 5e-4, "schedule")
    assert title_line().split()[:7] == [
        "#",
        "Size",
        "Native(us)",
        "Scheduled(us)",
        "Ratio",
        "Bound(us)",
        "Served",
    ]
    assert row_line(row).split()[:6] == ["4096", "2000.00", "1000.00", "2.000", "500.00", "schedule"]
    assert row_line(Row(8, Times.of([1.0]))).split()[2:6] == ["-", "-", "-", "-"]


def test_comments_leave_out_what_does_not_apply() -> None:
    assert comment_lines(HEADER) == ["# Hocket  bench all-to-all", "# Ranks   4 on 4 machines"]


@given(st.lists(ROWS, max_size=4))
def test_csv_reads_back(rows: list[Row]) -> None:
    lines = as_csv(HEADER, rows).splitlines()
    assert lines[:2] == comment_lines(HEADER)
    found = list(csv.DictReader(lines[2:]))
    assert len(found) == len(rows)
    for row, cells in zip(rows, found, strict=True):
        assert int(cells["bytes"]) == row.bytes
        assert float(cells["native_us"]) == pytest.approx(1e6 * row.native.median)
        assert float(cells["native_p99_us"]) == pytest.approx(1e6 * row.native.p99)
        expected = "" if row.scheduled is None else 1e6 * row.scheduled.least
        assert (float(cells["scheduled_least_us"]) if expected else "") == pytest.approx(expected)
        assert cells["validation"] == ("Fail" if row.wrong else "Pass")


@given(st.lists(ROWS, max_size=4))
def test_json_reads_back(rows: list[Row]) -> None:
    read = json.loads(as_json(HEADER, rows))
    assert read["Ranks"] == "4 on 4 machines"
    assert [record(Row, row) for row in read["rows"]] == rows


def test_choices_follow_the_times_and_regret_is_what_they_leave() -> None:
    times = {"native": [1.0, 1.01, 0.99], "good": [0.5, 0.51, 0.49], "bad": [2.0, 2.01, 1.99]}
    assert choice_and_regret(times) == ("good", 0.0)
    choice, regret = choice_and_regret({"native": [1.0] * 8, "hardly better": [0.99] * 8})
    assert regret == pytest.approx({"native": 1 / 0.99 - 1, "hardly better": 0}[choice])


def test_a_table_of_candidates() -> None:
    candidates = {"native": Times.of([2e-6]), "order": Times.of([1e-6])}
    row = Row(8, candidates["native"], candidates=candidates, choice="order", regret=0.25)
    columns = columns_of({**HEADER, "Candidates": "native order large"})
    assert row_line(row, columns).split() == ["8", "2.00", "1.00", "-", "-", "order", "25.0", "1", "Pass"]
    assert record(Row, asdict(row)) == row
    assert columns_of(HEADER) == COLUMNS
