"""The verifier rejects every kind of broken exchange in two levels, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hocket import _core
from hocket.network import read_network

MEMORY = 1 << 20


class Case:
    """Two hosts with two ranks each."""

    def __init__(self, pattern: str = "all-to-all") -> None:
        self.network = read_network("star:2")
        groups = _core.group_by_host([0, 0, 1, 1])
        demand = _core.Demand(4, 8, pattern)
        planned = _core.plan_exchange(self.network, groups.scheduled_between(demand))
        self.exchange = _core.TwoLevelExchange(groups, demand, planned.schedule)

    def counts(self, bound: int = MEMORY) -> dict[str, int]:
        certificate = _core.verify_two_level(self.network, self.exchange, None, bound)
        counts: dict[str, int] = certificate.counts
        assert certificate.ok == (not counts)
        assert all(text for _, _, text in certificate.findings)
        return counts

    def change(self, rows: str, place: int, **values: int) -> None:
        """Other values in one row of puts or takes."""
        names = ("rank", "at", "origin", "target", "offset", "length")
        changed = [list(row) for row in getattr(self.exchange, rows)]
        for name, value in values.items():
            changed[place][names.index(name)] = value
        setattr(self.exchange, rows, [tuple(row) for row in changed])


@pytest.fixture(params=["all-to-all", "all-gather", "all-reduce"])
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_whole_exchanges_are_accepted(case: Case) -> None:
    assert case.counts() == {}


def test_too_large_for_the_memory_bound(case: Case) -> None:
    most = max(case.exchange.memory)
    assert case.counts(bound=most) == {}
    assert case.counts(bound=most - 1) == {"beyond the memory of the host": 2}


def test_a_missing_row(case: Case) -> None:
    case.exchange.puts = case.exchange.puts[1:]
    counts = case.counts()
    assert counts and not counts.keys() & {"two copies into one place", "taken twice"}
    assert "never taken" in counts or "copy of other bytes" in counts


def test_a_wrong_offset_of_a_put(case: Case) -> None:
    place = next(i for i, put in enumerate(case.exchange.puts) if put[1] == 0)
    case.change("puts", place, at=4)
    assert set(case.counts()) & {
        "two copies into one place",
        "copy of other bytes",
        "copied before it is there",
    }


def test_a_wrong_offset_of_a_take(case: Case) -> None:
    case.change("takes", 0, at=case.exchange.takes[0][1] + 4)
    assert set(case.counts()) & {"copy of other bytes", "copied before it is there"}


def test_a_wrong_offset_between_hosts(case: Case) -> None:
    begin, *others = case.exchange.carries
    case.exchange.carries = [(begin[0] + 4, begin[1], begin[2]), *others]
    assert set(case.counts()) & {"copy of other bytes", "copied before it is there"}


def test_a_short_message(case: Case) -> None:
    begin, *others = case.exchange.carries
    case.exchange.carries = [(begin[0], begin[1], begin[2] - 1), *others]
    assert "copy of other bytes" in case.counts()


def test_a_take_too_many(case: Case) -> None:
    case.exchange.takes = [*case.exchange.takes, case.exchange.takes[0]]
    assert case.counts() == {"taken twice": 1}


def test_a_take_too_few(case: Case) -> None:
    case.exchange.takes = case.exchange.takes[:-1]
    assert case.counts() == {"never taken": 1}


def test_a_put_beyond_the_memory(case: Case) -> None:
    case.change("puts", 0, at=max(case.exchange.memory) - 1)
    assert "beyond the memory of the host" in case.counts()


def test_a_rank_twice(case: Case) -> None:
    groups = case.exchange.groups
    groups.ranks = [[0, 1], [1, 3]]
    case.exchange.groups = groups
    counts = case.counts()
    assert set(counts) == {"rank not on one host"} and counts["rank not on one host"] >= 2


def test_a_rank_that_there_is_not(case: Case) -> None:
    case.change("puts", 0, rank=9)
    assert case.counts() == {"rank not on one host": 1}


def test_the_put_of_another_rank(case: Case) -> None:
    """A rank can put in only what it has."""
    row = case.exchange.puts[0]
    case.change("puts", 0, rank=1 - row[0])
    assert "copy not demanded" in case.counts()


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
def test_two_puts_into_one_place(pattern: str) -> None:
    case = Case(pattern)
    at = case.exchange.puts[1][1]
    same_host = [i for i, put in enumerate(case.exchange.puts) if put[0] < 2 and i != 1]
    case.change("puts", same_host[0], at=at)
    assert "two copies into one place" in case.counts()


def test_a_take_for_somebody_else() -> None:
    case = Case()
    case.change("takes", 0, rank=case.exchange.takes[0][0] ^ 1)
    assert set(case.counts()) == {"copy not demanded", "never taken"}


def test_bytes_that_nobody_asked_for() -> None:
    case = Case()
    case.change("takes", 0, length=9)
    assert "copy not demanded" in case.counts()


def test_messages_sent_before_they_have_come() -> None:
    """Both messages of an all-gather in a ring of three hosts, in one phase: the second passes on what is not there."""
    network = read_network("torus:3")
    groups = _core.group_by_host([0, 0, 1, 2])
    demand = _core.Demand(4, 8, "all-gather")
    ring = _core.Algorithm.find("neighbor-ring", "all-gather").make(
        network, _core.demand_between(groups, demand)
    )
    rows = [(0, *row[1:]) for row in ring.rows()]
    at_once = _core.Schedule.from_rows(3, ring.message_bytes, rows)
    exchange = _core.TwoLevelExchange(groups, demand, at_once)
    counts = _core.verify_two_level(network, exchange, None, MEMORY).counts
    assert "copied before it is there" in counts and "sent before it is held" in counts


def test_messages_that_meet_between_hosts() -> None:
    network = read_network("chain:2,2")
    groups = _core.group_by_host([0, 0, 1, 2, 3])
    demand = _core.Demand(5, 8)
    rows = [
        (step - 1, src, (src + step) % 4, src, (src + step) % 4, 0, 32)
        for step in (1, 2, 3)
        for src in range(4)
    ]
    exchange = _core.TwoLevelExchange(groups, demand, _core.Schedule.from_rows(4, 32, sorted(rows)))
    certificate = _core.verify_two_level(network, exchange, None, MEMORY)
    assert "channel overfull" in certificate.counts and not certificate.contention_free


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        (lambda sums: sums[1:], "never taken"),
        (lambda sums: [*sums, (sums[0][0], sums[0][1], sums[0][2], sums[0][3])], "two copies into one place"),
        (lambda sums: [(*sums[0][:3], [sums[0][3][0]] * 2), *sums[1:]], "copy of other bytes"),
        (lambda sums: [(*sums[0][:3], [sums[0][3][0], sums[0][3][1] + 1]), *sums[1:]], "copy of other bytes"),
        (lambda sums: [(*sums[0][:3], sums[0][3][:1]), *sums[1:]], "copy of other bytes"),
    ],
)
def test_sums_of_hosts(changed: Callable[[list[tuple[int, int, int, list[int]]]], object], kind: str) -> None:
    case = Case("all-reduce")
    case.exchange.sums = changed(case.exchange.sums)
    assert kind in case.counts()
