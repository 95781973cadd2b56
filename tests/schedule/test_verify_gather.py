"""The verifier rejects every kind of broken all-gather, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hocket import _core
from strategies import NetworkPlan, chain, star

BYTES = 10
EVERYONE = _core.EVERYONE
Row = tuple[int, int, int, int, int, int, int]


def whole(phase: int, src: int, dst: int, origin: int, length: int = BYTES) -> Row:
    return (phase, src, dst, origin, EVERYONE, 0, length)


def ring(ranks: int = 3) -> list[Row]:
    return [
        whole(step, src, (src + 1) % ranks, (src - step) % ranks)
        for step in range(ranks - 1)
        for src in range(ranks)
    ]


def verify(
    rows: Iterable[Row],
    network: _core.Network | None = None,
    parts: list[int] | None = None,
    ports: _core.PortModel = _core.PortModel.one_port,
) -> _core.Certificate:
    network = network or star(3).build()
    schedule = _core.Schedule.from_rows(network.ranks, BYTES, sorted(rows))
    return _core.verify(
        network, _core.Demand(network.ranks, BYTES, "all-gather", parts or []), schedule, ports
    )


def only(certificate: _core.Certificate, kind: str, count: int = 1) -> str:
    """The one kind of violation that there is; the text of its first finding."""
    assert certificate.counts == {kind: count}
    assert not certificate.ok
    assert certificate.findings[0][0] == kind
    return str(certificate.findings[0][2])


def replaced(rows: list[Row], old: Row, *new: Row) -> list[Row]:
    assert old in rows
    return [row for row in rows if row != old] + list(new)


def test_a_ring_is_right() -> None:
    certificate = verify(ring())
    assert certificate.ok, certificate.findings
    assert (certificate.transfers, certificate.phases, certificate.worst_channel_use) == (6, 2, 1)


def test_forwarded_too_early() -> None:
    """Bytes that arrive in a phase may be sent on in the next one, not in the same."""
    rows = [(max(0, row[0] - 1), *row[1:]) if row == whole(1, 1, 2, 0) else row for row in ring()]
    certificate = verify(rows, ports=_core.PortModel.all_port, network=chain_of_pairs())
    assert "not held" not in certificate.counts
    text = next(text for kind, _, text in certificate.findings if kind == "sent before it is held")
    assert text == "rank 1 sends bytes 0..10 of the contribution of 0"
    assert certificate.counts["sent before it is held"] == 1


def chain_of_pairs() -> _core.Network:
    """Three hosts wired to a fast switch, so that only the order can be wrong."""
    plan = star(3)
    plan.rates = [rate * 4 for rate in plan.rates]
    return plan.build()


def test_a_aggregate_may_not_hold_what_is_not_there() -> None:
    rows = replaced(ring(), whole(0, 0, 1, 0), whole(0, 0, 1, 0), whole(0, 0, 1, 2))
    rows = [row for row in rows if row != whole(1, 0, 1, 2)]
    text = only(verify(rows), "sent before it is held")
    assert text == "rank 0 sends bytes 0..10 of the contribution of 2"


def test_a_part_must_be_there_in_full() -> None:
    """Rank 1 has the first half of 0's contribution when it hands on all of it."""
    rows = replaced(ring(), whole(0, 0, 1, 0), (0, 0, 1, 0, EVERYONE, 0, 5))
    rows += [(2, 0, 1, 0, EVERYONE, 5, 5)]
    text = only(verify(rows), "sent before it is held")
    assert text == "rank 1 sends bytes 0..10 of the contribution of 0"


def test_never_delivered() -> None:
    rows = [row for row in ring() if row != whole(1, 1, 2, 0)]
    assert only(verify(rows), "never delivered") == "part of the contribution of 0 at rank 2"


def test_a_missing_byte() -> None:
    rows = replaced(ring(), whole(1, 1, 2, 0), (1, 1, 2, 0, EVERYONE, 0, 9))
    assert only(verify(rows), "never delivered") == "part of the contribution of 0 at rank 2"


def test_delivered_twice() -> None:
    text = only(verify([*ring(), whole(2, 0, 2, 0)]), "delivered twice")
    assert text == "bytes 0..10 of the contribution of 0 to rank 2"


def test_delivered_twice_in_part() -> None:
    rows = replaced(ring(), whole(1, 1, 2, 0), (1, 1, 2, 0, EVERYONE, 0, 6), (2, 1, 2, 0, EVERYONE, 5, 5))
    assert only(verify(rows), "delivered twice") == "bytes 5..10 of the contribution of 0 to rank 2"


def test_twice_in_one_phase() -> None:
    rows = [*ring(), whole(2, 1, 2, 1), whole(2, 0, 2, 1)]
    certificate = verify(rows, ports=_core.PortModel.all_port, network=chain_of_pairs())
    assert certificate.counts["delivered twice"] == 2


def test_brought_back_to_its_origin() -> None:
    text = only(verify([*ring(), whole(2, 2, 0, 0)]), "delivered twice")
    assert text == "bytes 0..10 of the contribution of 0 to rank 0"


@pytest.mark.parametrize(("offset", "length"), [(0, 11), (5, 6), (10, 1), (2**64 - 5, 10)])
def test_beyond_the_contribution(offset: int, length: int) -> None:
    rows = [*ring(), (2, 0, 1, 0, EVERYONE, offset, length)]
    assert "of the contribution of 0" in only(verify(rows), "beyond the end of the message")


def test_each_contribution_has_its_own_end() -> None:
    parts = [10, 4, 7]
    rows = [(*row[:6], parts[row[3]]) for row in ring()]
    assert verify(rows, parts=parts).ok
    rows = [row if row[:4] != (0, 1, 2, 1) else (*row[:6], 5) for row in rows]
    certificate = verify(rows, parts=parts)
    assert certificate.counts["beyond the end of the message"] == 1
    assert not certificate.complete


def test_a_rank_is_no_target() -> None:
    """A message for one rank has no place in an all-gather."""
    rows = replaced(ring(), whole(1, 1, 2, 0), (1, 1, 2, 0, 2, 0, BYTES))
    certificate = verify(rows)
    assert certificate.counts == {"not demanded": 1, "never delivered": 1}
    assert certificate.findings[0][2] == "bytes 0..10 of message 0->2 sent 1->2"


def test_everyone_is_no_target_of_an_all_to_all() -> None:
    schedule = _core.Schedule.from_rows(3, BYTES, ring())
    certificate = _core.verify(star(3).build(), _core.Demand(3, BYTES), schedule)
    assert certificate.counts == {"not demanded": 6, "never delivered": 6}


def test_an_unknown_origin() -> None:
    assert "of 7 sent 0->1" in only(verify([*ring(), whole(2, 0, 1, 7)]), "not demanded")


def test_an_unknown_rank() -> None:
    assert only(verify([*ring(), whole(2, 0, 3, 0)]), "rank out of range") == "0->3"


def test_self_transfer() -> None:
    assert only(verify([*ring(), whole(2, 1, 1, 1)]), "rank sends to itself") == "rank 1"


def test_empty_transfer() -> None:
    assert only(verify([*ring(), whole(2, 0, 1, 0, 0)]), "transfer without bytes") == "0->1"


def test_who_contributes_nothing_may_send_nothing() -> None:
    parts = [10, 0, 10]
    rows = [(*row[:6], parts[row[3]]) for row in ring()]
    assert verify(rows, parts=parts).ok
    assert verify([row for row in rows if row[6]], parts=parts).ok


def two_hosts_of_two() -> _core.Network:
    plan = NetworkPlan()
    switch = plan.node(0)
    plan.node(2, switch)
    plan.node(2, switch)
    return plan.build()


def test_ports() -> None:
    """Ranks 0 and 1 share a host: between them only the ports count."""
    serial = [whole(p, *hop) for p, hop in enumerate(
        (src, dst, src) for src in range(4) for dst in range(4) if src != dst)]  # fmt: skip
    assert verify(serial, two_hosts_of_two()).ok
    rows = replaced(serial, whole(0, 0, 1, 0), whole(1, 0, 1, 0))  # beside 0->2
    certificate = verify(rows, two_hosts_of_two())
    assert only(certificate, "send port overfull") == "rank 0 sends 0->1 and 0->2"
    assert verify(rows, two_hosts_of_two(), ports=_core.PortModel.all_port).ok
    rows = replaced(serial, whole(0, 0, 1, 0), whole(7, 0, 1, 0))  # beside 2->1
    assert only(verify(rows, two_hosts_of_two()), "receive port overfull") == "rank 1 receives 0->1 and 2->1"


def test_contention() -> None:
    network = chain([2, 2]).build()
    rows = [whole(0, 0, 2, 0), whole(0, 1, 3, 1)]
    certificate = verify(rows, network)
    assert certificate.counts["channel overfull"] == 1
    text = next(text for kind, _, text in certificate.findings if kind == "channel overfull")
    assert text == "channel s0->s1 (capacity 1) carries 0->2 and 1->3"


def test_pieces_of_one_message_are_one_use_of_a_channel() -> None:
    rows = [whole(0, 0, 1, 0), whole(0, 1, 0, 1), whole(1, 0, 2, 0), whole(1, 0, 2, 1), whole(2, 2, 0, 2)]
    rows += [whole(3, 0, 1, 2)]
    certificate = verify(rows)
    assert certificate.ok, certificate.findings
    assert certificate.transfers == 5


def test_waits() -> None:
    """On a chain the hops of 0->2 and 1->3 share the inter-switch link, one phase after the other."""
    network = chain([2, 2]).build()
    rows = [whole(0, 0, 2, 0), whole(1, 1, 3, 1)]
    schedule = _core.Schedule.from_rows(4, BYTES, rows)
    demand = _core.Demand(4, BYTES, "all-gather")

    def judged(waits: _core.Waits) -> dict[str, int]:
        certificate = _core.verify(network, demand, schedule)
        _core.verify_waits(network, schedule, waits, certificate)
        return {kind: n for kind, n in certificate.counts.items() if kind != "never delivered"}

    assert judged(_core.Waits.derive(network, schedule)) == {}
    assert judged(_core.Waits.from_lists([[], []])) == {"not ordered by waits": 1}
    assert judged(_core.Waits.from_lists([[1], [0]])) == {"circular wait": 1}
    assert judged(_core.Waits.from_lists([[]])) == {"not ordered by waits": 1}


def test_all_sends_of_an_earlier_phase_are_over_before_the_next() -> None:
    """All-port: a rank that sends over two links in every phase needs no token for its own channels."""
    network = _core.Network.grid("torus", [5], 1e9, 0.0)
    demand = _core.Demand(5, BYTES, "all-gather")
    schedule = _core.Algorithm.find("rails", "all-gather").make(network, demand)
    waits = _core.Waits.derive(network, schedule)
    assert len(waits) == 0
    certificate = _core.verify(network, demand, schedule, _core.PortModel.all_port)
    _core.verify_waits(network, schedule, waits, certificate)
    assert certificate.ok, certificate.findings


def test_sends_of_one_phase_do_not_order_each_other() -> None:
    """Two sends of one phase over one channel of capacity 1 are contention, with or without waits."""
    rows = [whole(0, 0, 1, 0), whole(0, 0, 2, 0)]
    certificate = verify(rows, ports=_core.PortModel.all_port)
    assert certificate.counts["channel overfull"] == 1
