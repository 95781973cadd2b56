"""Tests of the tasks of a calibration: pairs at every distance, flows that share one link."""

from __future__ import annotations

import pytest

from hocket.measure.calibration_work import Places, Task, What, classes, switch_link_pairs, tasks
from hocket.network import read_network


def places(form: str, ranks: int | None = None) -> Places:
    network = read_network(form)
    count = network.ranks if ranks is None else ranks
    return Places.of([network.host_of(rank) for rank in range(count)], network)


def test_distances_of_a_chain() -> None:
    found = classes(places("chain:2,2,2"), quick=False)
    assert list(found) == [2, 3, 4]
    for links, pairs in found.items():
        assert all(places("chain:2,2,2").links(a, b) == links for a, b in pairs) and len(pairs) <= 3


def test_without_a_network_there_are_two_distances() -> None:
    found = classes(Places.of([0, 0, 1, 1], None), quick=False)
    assert list(found) == [None, 0] and found[0] == [(0, 1), (2, 3)] and found[None] == [(0, 2)]


def test_flows_over_a_switch_link_share_it_and_nothing_else() -> None:
    here = places("chain:8,8")
    pairs = switch_link_pairs(here)
    assert len(pairs) == 8 and len({rank for pair in pairs for rank in pair}) == 16
    routes = [set(here.route(a, b)) for a, b in pairs]
    assert len(set.intersection(*routes)) == 1
    assert switch_link_pairs(places("star:8")) == []


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("form", ["star:2", "chain:4,4", "torus:3x3", "tree:(3,(2),(1))"])
def test_everybody_that_sends_is_received(form: str, quick: bool) -> None:
    for task in tasks(places(form), quick):
        check(task, places(form).network.ranks)  # type: ignore[union-attr]


def test_one_host() -> None:
    todo = tasks(Places.of([0] * 4, None), quick=False)
    for task in todo:
        check(task, 4)
    assert {task.kind for task in todo} == {"ping", "send", "receive", "step", "sendrecv", "host", "eager"}


def check(task: Task, ranks: int) -> None:
    """Ranks exist, nobody sends to itself, times are taken where something ends."""
    assert all(0 <= a < ranks and 0 <= b < ranks and a != b for a, b in task.sends.items())
    ends = set(task.sends) | set(task.sends.values())
    assert task.leaders and set(task.leaders) <= ends
    if task.what in (What.PING, What.SEND, What.RECEIVE, What.UNEXPECTED):
        assert len(task.sends) == 1 and task.leaders == tuple(task.sends)
