"""The verifier rejects every kind of broken schedule, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hocket import _core
from strategies import NetworkPlan, chain, star

BYTES = 10
Row = tuple[int, int, int, int, int, int, int]


def whole(phase: int, src: int, dst: int) -> Row:
    return (phase, src, dst, src, dst, 0, BYTES)


def complete(ranks: int = 3) -> list[Row]:
    """A ring schedule."""
    return [whole(step - 1, src, (src + step) % ranks) for step in range(1, ranks) for src in range(ranks)]


def verify(
    rows: Iterable[Row],
    network: _core.Network | None = None,
    demand: _core.Demand | None = None,
    ports: _core.PortModel = _core.PortModel.one_port,
) -> _core.Certificate:
    network = network or star(3).build()
    schedule = _core.Schedule.from_rows(network.ranks, BYTES, sorted(rows))
    return _core.verify(network, demand or _core.Demand(network.ranks, BYTES), schedule, ports)


def only(certificate: _core.Certificate, kind: str, count: int = 1) -> str:
    """The one kind of violation that there is; the text of its first finding."""
    assert certificate.counts == {kind: count}
    assert not certificate.ok
    assert certificate.findings[0][0] == kind
    return str(certificate.findings[0][2])


def test_a_whole_schedule_is_right() -> None:
    certificate = verify(complete())
    assert certificate.ok
    assert certificate.complete
    assert certificate.contention_free
    assert certificate.counts == {}
    assert (certificate.transfers, certificate.phases, certificate.worst_channel_use) == (6, 2, 1)


def test_rank_out_of_range() -> None:
    text = only(verify([*complete(), whole(2, 0, 3)]), "rank out of range")
    assert "0->3" in text


def test_self_transfer() -> None:
    assert "rank 1" in only(verify([*complete(), whole(2, 1, 1)]), "rank sends to itself")


def test_empty_transfer() -> None:
    assert "0->1" in only(verify([*complete(), (2, 0, 1, 0, 1, 0, 0)]), "transfer without bytes")


def test_messages_of_no_bytes_may_be_scheduled() -> None:
    rows = [(phase, src, dst, src, dst, 0, 0) for phase, src, dst, *_ in complete()]
    schedule = _core.Schedule.from_rows(3, 0, rows)
    assert _core.verify(star(3).build(), _core.Demand(3, 0), schedule).ok


def two_hosts_of_two() -> _core.Network:
    plan = NetworkPlan()
    switch = plan.node(0)
    plan.node(2, switch)
    plan.node(2, switch)
    return plan.build()


def moved(rows: list[Row], src: int, dst: int, phase: int) -> list[Row]:
    return [whole(phase, src, dst) if row[1:3] == (src, dst) else row for row in rows]


SERIAL = [
    whole(phase, src, dst)
    for phase, (src, dst) in enumerate((src, dst) for src in range(4) for dst in range(4) if src != dst)
]


def test_send_port() -> None:
    """0->1 goes through memory, so that only the port is overfull."""
    certificate = verify(moved(SERIAL, 0, 1, 1), two_hosts_of_two())
    assert only(certificate, "send port overfull") == "rank 0 sends 0->1 and 0->2"
    assert certificate.complete
    assert not certificate.contention_free


def test_receive_port() -> None:
    certificate = verify(moved(SERIAL, 0, 1, 9), two_hosts_of_two())  # with 3->0 …
    assert certificate.ok
    certificate = verify(moved(SERIAL, 0, 1, 7), two_hosts_of_two())  # … and with 2->1
    assert only(certificate, "receive port overfull") == "rank 1 receives 0->1 and 2->1"


def test_contention_names_channel_and_messages() -> None:
    """On a chain of two switches, 0->2 and 1->3 meet on the inter-switch link."""
    rows = moved(SERIAL, 1, 3, 1)
    network = chain([2, 2]).build()
    certificate = verify(rows, network)
    text = only(certificate, "channel overfull")
    assert text == "channel s0->s1 (capacity 1) carries 0->2 and 1->3"
    assert certificate.findings[0][1] == 1
    assert certificate.worst_channel_use == 2


def test_a_wide_switch_link_carries_its_capacity_and_no_more() -> None:
    plan = chain([3, 3])
    plan.rates[0] *= 2
    crossing = {(0, 3): 0, (1, 4): 0, (2, 5): 0}
    rows = [
        whole(crossing.get((src, dst), 1 + 6 * src + dst), src, dst)
        for src in range(6)
        for dst in range(6)
        if src != dst
    ]
    assert "(capacity 2) carries" in only(verify(rows, plan.build()), "channel overfull")
    rows = [whole(50, 2, 5) if row[1:3] == (2, 5) else row for row in rows]
    certificate = verify(rows, plan.build())
    assert certificate.ok
    assert certificate.worst_channel_use == 2


def test_all_port_allows_one_message_per_channel() -> None:
    network = _core.Network.grid("torus", [3], 1e9, 0)
    rows = [whole(0, src, dst) for src in range(3) for dst in range(3) if src != dst]
    assert set(verify(rows, network).counts) == {"send port overfull", "receive port overfull"}
    assert verify(rows, network, ports=_core.PortModel.all_port).ok


def test_not_demanded() -> None:
    """A piece of a rank's message to itself: the demand has none."""
    assert "message 0->0" in only(verify([*complete(), (2, 0, 1, 0, 0, 0, 5)]), "not demanded")


def test_beyond_the_end_of_the_message() -> None:
    rows = [row if row[1:3] != (0, 1) else (0, 0, 1, 0, 1, 0, BYTES + 1) for row in complete()]
    certificate = verify(rows)
    assert certificate.counts == {"beyond the end of the message": 1, "never delivered": 1}
    rows = [*complete(), (2, 0, 1, 0, 1, 2**64 - 1, 5)]
    assert "beyond the end of the message" in verify(rows).counts


def test_not_held() -> None:
    """2 sends a piece of the message 0->1 that it never had."""
    rows = [row for row in complete() if row[1:3] != (0, 1)]
    certificate = verify([*rows, (2, 2, 1, 0, 1, 0, BYTES)])
    assert "rank 2 sends bytes 0..10 of message 0->1" in only(certificate, "sent before it is held")


def test_delivered_twice() -> None:
    assert only(verify([*complete(), whole(2, 0, 1)]), "delivered twice") == "message 0->1"


def test_missing() -> None:
    rows = [row for row in complete() if row[1:3] != (2, 0)]
    assert only(verify(rows), "never delivered") == "message 2->0"
    assert verify([]).counts == {"never delivered": 6}


def test_wrong_number_of_ranks() -> None:
    network = star(3).build()
    schedule = _core.Schedule.from_rows(4, BYTES, complete())
    assert "the schedule 4" in only(
        _core.verify(network, _core.Demand(3, BYTES), schedule), "wrong number of ranks"
    )
    schedule = _core.Schedule.from_rows(3, BYTES, complete())
    certificate = _core.verify(network, _core.Demand(5, BYTES), schedule)
    assert "the demand 5" in only(certificate, "wrong number of ranks")
    assert not certificate.complete
    assert not certificate.contention_free


def waits_checked(
    before: list[list[int]], window: int = 1, rows: list[Row] | None = None
) -> _core.Certificate:
    network = star(3).build()
    schedule = _core.Schedule.from_rows(3, BYTES, rows or complete())
    certificate = _core.verify(network, _core.Demand(3, BYTES), schedule)
    _core.verify_waits(network, schedule, _core.Waits.from_lists(before, window), certificate)
    return certificate


NEEDED = [[], [], [], [1], [2], [0]]  # 0->2 follows 1->2, and so on round the ring


def test_waits_that_order_everything() -> None:
    assert waits_checked(NEEDED).ok


def test_unordered() -> None:
    text = only(waits_checked([[], [], [], [], [2], [0]]), "not ordered by waits")
    assert text == "0->2 may start before 1->2 is over on s0->n3"
    assert only(waits_checked([[]] * 6), "not ordered by waits", 3)
    assert "another number of transfers" in only(waits_checked([[]] * 5), "not ordered by waits")


def test_circular_wait() -> None:
    before = [list(row) for row in NEEDED]
    before[0] = [3]  # a later phase
    assert "0->1 waits" in only(waits_checked(before), "circular wait")
    before[0] = [0]  # itself
    assert "0->1 waits" in only(waits_checked(before), "circular wait")
    before[0] = [1]  # the same phase
    assert "0->1 waits" in only(waits_checked(before), "circular wait")


def test_a_wait_for_a_transfer_that_does_not_exist_is_circular() -> None:
    before = [list(row) for row in NEEDED]
    before[1] = [2**32 - 2]
    assert "circular wait" in waits_checked(before).counts


def test_window_of_zero_counts_as_one() -> None:
    assert waits_checked(NEEDED, window=0).ok
    assert not waits_checked([[]] * 6, window=0).ok


def test_wider_windows_need_fewer_waits() -> None:
    assert waits_checked([[]] * 6, window=2).ok


def test_waits_of_a_schedule_with_stray_ranks() -> None:
    certificate = waits_checked([*NEEDED, []], rows=[*complete(), whole(2, 99, 1)])
    assert certificate.counts == {"rank out of range": 1}


def replaced(*pieces: Row) -> list[Row]:
    """The ring schedule with the message 0->1 sent otherwise."""
    return [row for row in complete() if row[1:3] != (0, 1)] + list(pieces)


def test_a_split_message_is_right() -> None:
    assert verify(replaced((0, 0, 1, 0, 1, 0, 4), (2, 0, 1, 0, 1, 4, 6))).ok
    assert verify(replaced((2, 0, 1, 0, 1, 4, 6), (3, 0, 1, 0, 1, 0, 4))).ok


def test_a_split_message_with_a_gap() -> None:
    certificate = verify(replaced((2, 0, 1, 0, 1, 0, 4), (3, 0, 1, 0, 1, 5, 5)))
    assert only(certificate, "never delivered") == "part of message 0->1"


def test_pieces_that_overlap_are_delivered_twice() -> None:
    certificate = verify(replaced((2, 0, 1, 0, 1, 0, 6), (3, 0, 1, 0, 1, 5, 5)))
    assert only(certificate, "delivered twice") == "bytes 5..10 of message 0->1"


def test_a_forwarded_message_is_right() -> None:
    assert verify(replaced((2, 0, 2, 0, 1, 0, BYTES), (3, 2, 1, 0, 1, 0, BYTES))).ok


def test_forwarded_in_pieces_by_two_ways() -> None:
    rows = replaced((2, 0, 2, 0, 1, 0, 5), (3, 0, 1, 0, 1, 5, 5), (4, 2, 1, 0, 1, 0, 5))
    assert verify(rows).ok


def test_forwarded_too_early() -> None:
    rows = replaced((3, 0, 2, 0, 1, 0, BYTES), (3, 2, 1, 0, 1, 0, BYTES))
    assert "rank 2 sends" in only(verify(rows), "sent before it is held")
    rows = replaced((2, 2, 1, 0, 1, 0, BYTES), (3, 0, 2, 0, 1, 0, BYTES))
    assert set(verify(rows).counts) == {"sent before it is held"}


def test_forwarding_more_than_came() -> None:
    rows = replaced((2, 0, 2, 0, 1, 0, 4), (3, 2, 1, 0, 1, 0, BYTES))
    only(verify(rows), "sent before it is held")


def test_held_by_the_wrong_rank() -> None:
    rows = [*complete(), (2, 0, 2, 0, 1, 0, 5)]
    assert verify(rows).ok  # a copy that is never used does no harm
    assert set(verify([*rows, (3, 2, 1, 0, 1, 0, 5)]).counts) == {"delivered twice"}


def test_findings_are_limited_and_counts_are_not() -> None:
    certificate = verify([whole(0, 0, 1)] * 50)
    assert certificate.counts["delivered twice"] == 49
    assert sum(kind == "delivered twice" for kind, *_ in certificate.findings) == 3


def test_rows_must_come_by_phase() -> None:
    with pytest.raises(_core.InputError, match="sorted by phase"):
        _core.Schedule.from_rows(3, BYTES, [whole(1, 0, 1), whole(0, 1, 0)])
    with pytest.raises(_core.InputError, match="absurd"):
        _core.Schedule.from_rows(3, BYTES, [whole(10**12, 0, 1)])


def test_rows_round_trip() -> None:
    rows = replaced((2, 0, 2, 0, 1, 0, BYTES), (3, 2, 1, 0, 1, 0, BYTES))
    schedule = _core.Schedule.from_rows(3, BYTES, rows)
    assert schedule.rows() == rows
    assert (schedule.ranks, schedule.message_bytes, schedule.phases, len(schedule)) == (3, BYTES, 4, 7)
