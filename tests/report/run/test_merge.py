"""The accounts of several ranks as one."""

from __future__ import annotations

from dataclasses import replace

from hocket.report.advice import Place, advice
from hocket.report.ranks import Line, RankReport, RankRow, Site, merge
from hocket.report.summary import call_cells, document

SITE = Site("/bin/solver", 4711, "turn", 3)
LARGE = RankRow(
    call="MPI_Alltoall", site=SITE, communicator=3, least=4096, most=4096, scheduled=True, why="", detail="tree",
    calls=2, exchanges=2, bytes=16384, seconds=1.0, under_way=0.0, predicted=0.0, bound=0.0,
)  # fmt: skip
SMALL = replace(
    LARGE, least=8, most=12, scheduled=False, why="small", detail="", calls=5, exchanges=5, bytes=100
)


def rank(number: int, *rows: RankRow, spawned: bool = False, finished: bool = True) -> RankReport:
    return RankReport(number, f"n{number}", 100 + number, spawned, finished, rows)


def lines(*reports: RankReport) -> tuple[Line, ...]:
    return merge(reports, len(reports)).lines


def test_sums_means_and_most() -> None:
    first = replace(LARGE, seconds=3.0, predicted=0.5, bound=0.25)
    ranks = rank(0, first), rank(1, LARGE), rank(2, replace(LARGE, seconds=2.0))
    (line,) = lines(*ranks)
    assert (line.calls, line.exchanges, line.bytes, line.ranks) == (2, 2, 3 * 16384, 3)
    assert line.seconds == (1.0, 2.0, 3.0)
    assert (line.predicted, line.bound) == (0.5, 0.25)
    (told,) = document(merge(ranks, 3), {SITE: Place()}, 3)["lines"]
    assert call_cells(told)[-1] == "8"  # times the bound


def test_what_nobody_predicts_stays_open() -> None:
    (line,) = lines(rank(0, SMALL), rank(1, SMALL))
    assert line.predicted is None and line.bound is None


def test_contributions_that_differ_have_a_prediction_and_no_bound() -> None:
    first = replace(LARGE, call="MPI_Allgatherv", predicted=1.0, bound=0.5)
    (equal,) = lines(rank(0, first), rank(1, replace(first, predicted=0.0, bound=0.0)))
    assert (equal.predicted, equal.bound) == (1.0, 0.5)
    second = replace(first, bytes=3 * first.bytes, predicted=0.0, bound=0.0)
    (unequal,) = lines(rank(0, first), rank(1, second))
    assert (unequal.predicted, unequal.bound) == (2.0, None)  # on average they contribute twice as much


def test_requests_take_from_start_to_end() -> None:
    (line,) = lines(rank(0, replace(LARGE, seconds=0.1, under_way=4.0, calls=1, exchanges=7)))
    assert line.mean == 4.0 and (line.calls, line.exchanges) == (1, 7)


def test_places_communicators_and_reasons_stay_apart_and_the_longest_comes_first() -> None:
    elsewhere = replace(LARGE, site=replace(SITE, offset=1), seconds=5.0)
    smaller = replace(LARGE, communicator=2, seconds=0.5)
    found = lines(*(rank(number, LARGE, SMALL, elsewhere, smaller) for number in range(2)))
    assert [line.mean for line in found] == [5.0, 1.0, 1.0, 0.5]
    assert [line.why for line in found if line.site == SITE and line.communicator == 3] == ["small", ""]


def test_sizes_of_another_order_have_lines_of_their_own() -> None:
    larger = replace(LARGE, least=9000, most=9000)
    found = lines(rank(0, LARGE, larger), rank(1, larger, LARGE))
    assert sorted(line.least for line in found) == [4096, 9000]
    assert all(line.calls == 2 for line in found)


def test_places_that_are_one_to_people_share_lines() -> None:
    unrolled = replace(LARGE, site=replace(SITE, offset=5000))
    reports = [rank(0, LARGE, unrolled), rank(1, unrolled, LARGE)]
    assert len(merge(reports, 2).lines) == 2
    (line,) = merge(reports, 2, same={unrolled.site: SITE}).lines
    assert (line.site, line.calls, line.bytes, line.mean) == (SITE, 4, 4 * 16384, 2.0)


def test_sizes_that_differ_between_ranks_share_a_line() -> None:
    (line,) = lines(rank(0, LARGE), rank(1, replace(LARGE, least=100, most=100)))
    assert (line.least, line.most, line.calls) == (100, 4096, 2)


def test_silent_ranks_and_those_cut_short() -> None:
    account = merge([rank(0, LARGE), rank(3, LARGE, finished=False), rank(1, LARGE, spawned=True)], 4, ["x"])
    assert account.silent == (1, 2) and account.cut_short == (3,)
    assert account.told == 3 and account.problems == ("x",)


def test_no_calls() -> None:
    account = merge([], 2)
    assert account.lines == () and account.silent == (0, 1)
    assert advice(account) == []


def test_advice_names_what_took_time_and_can_be_helped() -> None:
    slow = replace(SMALL, seconds=8.0, most=2048)
    (told,) = advice(merge([rank(0, LARGE, slow)], 1))
    assert "89%" in told and "2 KiB" in told and "--min-bytes" in told
    vector = replace(slow, call="MPI_Neighbor_alltoall_c")
    assert "--min-bytes" in advice(merge([rank(0, vector)], 1))[0]
    gather = replace(slow, call="MPI_Allgatherv_init")
    assert "--min-bytes" in advice(merge([rank(0, gather)], 1))[0]
    assert advice(merge([rank(0, LARGE, replace(slow, seconds=0.001))], 1)) == []
    assert advice(merge([rank(0, LARGE, replace(slow, most=8))], 1)) == []
    assert advice(merge([rank(0, replace(slow, why="few_ranks"))], 1)) == []
    assert "--placement" in advice(merge([rank(0, replace(slow, why="no_place"))], 1))[0]


def test_advice_gives_the_reason_that_ranks_have_found() -> None:
    """Each for itself; nothing points to a warning that may never have been printed."""
    slow = replace(SMALL, seconds=8.0, why="no_plan")
    reasons = ["too many communicators", "rank 3 sends 5 bytes to rank 1, which expects 4"]
    told = advice(merge([rank(0, *(replace(slow, detail=reason) for reason in reasons))], 1))
    assert len(told) == 2
    assert all(any(reason in sentence for sentence in told) for reason in reasons)
    told += advice(merge([rank(0, slow, replace(slow, why="no_place"))], 1))
    assert not any("above" in sentence for sentence in told)
