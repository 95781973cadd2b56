"""The runtime keeps to its plan: what each rank did, in its order, against what it was to wait for.

HOCKET_TRACE records events per rank without times. Events of different ranks are ordered by the signals
between them only: a token or acknowledgement that is in was sent before. So a wait is kept if its sender
had the token before it began, and the token's releaser had the whole message before it released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from forwarding_hosts import FOUR, network_file
from gathers import Row, both_ways, doubling, plan_of, random_gossip, ring
from hocket import _core
from hocket.network import read_network
from scheduled_calls import ALL, thirds

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., str]
Event = tuple[str, tuple[int, ...]]

ROUNDS = 3


@dataclass
class Kept:
    """A plan with what its ranks say they did in one call."""

    plan: _core.Plan
    bytes: int
    segment: int
    events: list[list[Event]]  # per rank

    def __post_init__(self) -> None:
        # Per transfer: origin and target of messages, and range, as it travelled.
        self.pieces: list[list[tuple[tuple[int, int], int, int]]] = []
        self.transfers: list[tuple[int, int, int]] = []  # phase, src, dst
        in_pieces = self.plan.demand.pattern != "irregular"
        whole = self.plan.demand.bytes
        for phase, src, dst, origin, target, offset, length in self.plan.schedule.rows():
            begin, end = offset * self.bytes // whole, (offset + length) * self.bytes // whole
            part = ((origin, target), begin, end)
            if in_pieces and self.transfers and self.transfers[-1] == (phase, src, dst):
                self.pieces[-1].append(part)
            else:
                self.transfers.append((phase, src, dst))
                self.pieces.append([part])
        self.send_of, self.receive_of = self._places(1), self._places(2)
        self.carries = [{of for of, _, _ in pieces} for pieces in self.pieces]  # per transfer: messages
        # Per rank: where an event comes first.
        self.first = [
            dict(zip(reversed(events), reversed(range(len(events))), strict=True)) for events in self.events
        ]

    def _places(self, end: int) -> list[int]:
        """Per transfer: its place among the sends (end 1) or receives (end 2) of its rank."""
        seen: Counter[int] = Counter()
        places = []
        for transfer in self.transfers:
            places.append(seen[transfer[end]])
            seen[transfer[end]] += 1
        return places

    def when(self, rank: int, what: str, *numbers: int) -> int:
        """Place of an event among those of its rank."""
        return self.first[rank][what, numbers]

    def segments(self, transfer: int) -> int:
        size = sum(end - begin for _, begin, end in self.pieces[transfer])
        return max(1, -(-size // self.segment))

    def began(self, transfer: int) -> int:
        src = self.transfers[transfer][1]
        return min(self.when(src, "send", self.send_of[transfer], i) for i in range(self.segments(transfer)))

    def over(self, transfer: int) -> int:
        """When the receiver had all of it, in the receiver's order."""
        dst = self.transfers[transfer][2]
        return max(
            self.when(dst, "received", self.receive_of[transfer], i) for i in range(self.segments(transfer))
        )

    def check_all_happened_once(self) -> None:
        for rank, events in enumerate(self.events):
            counts = Counter(event for event in events)
            assert max(counts.values()) == 1, counts.most_common(1)
            for what, end, places in (("send", 1, self.send_of), ("received", 2, self.receive_of)):
                wanted = {
                    (what, (places[t], i))
                    for t, transfer in enumerate(self.transfers)
                    if transfer[end] == rank
                    for i in range(self.segments(t))
                }
                assert {event for event in events if event[0] == what} == wanted

    def check_waits(self) -> int:
        """Every wait of the plan; returns how many there are between ranks."""
        between = 0
        for later, (_, src, _) in enumerate(self.transfers):
            awaited = len(self.plan.waits.of(later))
            assert self.when(src, "tokens", self.send_of[later], awaited) < self.began(later)
            for earlier in self.plan.waits.of(later):
                releaser = self.transfers[earlier][2]
                if releaser == src:
                    assert self.over(earlier) < self.began(later)
                    continue
                between += 1
                released = self.when(releaser, "release", self.receive_of[earlier], src, self.send_of[later])
                assert self.over(earlier) < released
        return between

    def check_window(self) -> None:
        """Sends of earlier phases have begun, and all but the last ``window`` - 1 of them are over."""
        window = self.plan.waits.window
        sends: list[list[int]] = [[] for _ in self.events]
        for transfer, (phase, src, _) in enumerate(self.transfers):
            before = [t for t in sends[src] if self.transfers[t][0] < phase]
            assert all(self.began(t) < self.began(transfer) for t in before)
            for earlier in before[: max(0, len(before) + 1 - window)]:
                to = self.transfers[earlier][2]
                acknowledged = self.when(to, "acknowledge", self.receive_of[earlier])
                assert self.over(earlier) < acknowledged
                assert self.when(src, "acknowledged", self.send_of[earlier]) < self.began(transfer)
            sends[src].append(transfer)

    def check_signals_go_first(self) -> int:
        """Signals for a rank, after messages of earlier phases, are out before a message for it begins; how many."""
        awaited = {
            (earlier, self.transfers[later][1])
            for later in range(len(self.transfers))
            for earlier in self.plan.waits.of(later)
        }
        checked = 0
        for later, (phase, src, dst) in enumerate(self.transfers):
            for earlier, (before, sender, receiver) in enumerate(self.transfers):
                if receiver == src and before < phase and (sender == dst or (earlier, dst) in awaited):
                    assert self.when(src, "acknowledge", self.receive_of[earlier]) < self.began(later)
                    checked += 1
        return checked

    def check_nothing_is_sent_before_it_is_held(self) -> int:
        """Segment by segment; returns how many were sent on before the message they came in was over."""
        early = 0
        for rank, events in enumerate(self.events):
            sent = {self.send_of[t]: t for t, (_, src, _) in enumerate(self.transfers) if src == rank}
            got = {self.receive_of[t]: t for t, (_, _, dst) in enumerate(self.transfers) if dst == rank}
            held = {  # 1: there
                of: bytearray(bytes([of[0] == rank]) * self.bytes) for of in set().union(*self.carries)
            }
            missing = {t: self.segments(t) for t in got.values()}
            for what, numbers in events:
                if what not in ("send", "received"):
                    continue
                transfer = (sent if what == "send" else got)[numbers[0]]
                for of, begin, end in self.part(transfer, numbers[1]):
                    if what == "send":
                        assert held[of].count(1, begin, end) == end - begin
                        early += any(missing[t] > 0 for t in got.values() if of in self.carries[t])
                    else:
                        held[of][begin:end] = b"\1" * (end - begin)
                if what == "received":
                    missing[transfer] -= 1
        return early

    def part(self, transfer: int, segment: int) -> list[tuple[tuple[int, int], int, int]]:
        """Bytes of a segment: ((origin, target), begin, end)."""
        at, cut = 0, []
        first, last = segment * self.segment, (segment + 1) * self.segment
        for of, begin, end in self.pieces[transfer]:
            lower, upper = max(first, at), min(last, at + end - begin)
            if lower < upper:
                cut.append((of, begin + lower - at, begin + upper - at))
            at += end - begin
        return cut


def calls_of(path: Path) -> list[tuple[str, list[Event]]]:
    """(pattern, events) of every call that one rank recorded, but for the all-reduce that adds up its checks."""
    calls: list[tuple[str, list[Event]]] = []
    for line in path.read_text().splitlines():
        what, *numbers = line.split()
        if what in ("all-to-all", "all-gather", "irregular", "all-reduce"):
            calls.append((what, []))
        else:
            calls[-1][1].append((what, tuple(map(int, numbers))))
    return [call for call in calls if call[0] != "all-reduce"]


def run(
    check: Check, tmp_path: Path, network: str, size: int, gather: _core.Plan, window: int, segment: int
) -> list[Kept]:
    built = read_network(network)
    demand = _core.Demand(built.ranks, size)
    schedule = _core.plan_exchange(built, demand).schedule
    waits = _core.Waits.derive(built, schedule, window)
    exchange = _core.Plan(built, schedule, waits, demand, "tree", 0, 0.0, 0.0)
    # Plans as the ranks read them: a plan file orders the transfers of a phase by sender.
    plans = {}
    paths = []
    for plan in (exchange, gather):
        pattern = plan.demand.pattern
        path = tmp_path / f"{pattern}.hkt"
        path.write_bytes(plan.encode())
        plans[pattern] = _core.Plan.decode(plan.encode())
        paths.append(str(path))
    trace = tmp_path / "trace"
    env = {
        "HOCKET_TRACE": str(trace),
        "HOCKET_SEGMENT": str(segment),
        "HOCKET_MIN_BYTES": "1",
    }
    # Past the launcher, which refuses plans whose messages collide: the ranks' part is tested here.
    check(f"in_turn {size} {ROUNDS}", network, built.ranks, env=env, exports={"HOCKET_PLAN": ":".join(paths)})
    by_rank = [calls_of(trace.with_name(f"trace.{rank}")) for rank in range(built.ranks)]
    assert [pattern for pattern, _ in by_rank[0]] == ["all-to-all", "all-gather"] * ROUNDS
    return [
        Kept(plans[calls[0][0]], size, segment, [events for _, events in calls])
        for calls in zip(*by_rank, strict=True)
    ]


def drawn(network: _core.Network, demand: _core.Demand, algorithm: str) -> _core.Schedule:
    """Schedule that the ranks agree on: the first one's if it is close to the bound; else each draws with a
    seed of its own, and the fastest counts, the first of equals."""
    make = _core.Algorithm.find(algorithm, "irregular").make
    schedules = [make(network, demand, seed=1 + rank) for rank in range(network.ranks)]
    times = [schedule.token_seconds(network) for schedule in schedules]
    enough = 1.02 * _core.lower_bounds(network, demand).seconds
    return schedules[0 if times[0] <= enough else times.index(min(times))]


@pytest.mark.parametrize(
    ("network", "algorithm", "window"),
    [
        ("chain:3,3", "RS_NL", 1),
        ("chain:3,3", "RS_NLH", 1),
        ("star:3*2", "RS_NLH", 2),
        ("torus:3x2", "list", 1),
        ("chain:2,2,2", "critical", 1),
    ],
)
def test_irregular_exchanges_keep_to_their_plan(
    check: Check, tmp_path: Path, network: str, algorithm: str, window: int
) -> None:
    built = read_network(network)
    demand = thirds(built.ranks, 30000)
    schedule = drawn(built, demand, algorithm)
    waits = _core.Waits.derive(built, schedule, window)
    plan = _core.Plan(built, schedule, waits, demand, algorithm, 0, 0.0, 0.0)
    env = {"HOCKET_MIN_BYTES": "1", "HOCKET_ALGORITHM": algorithm}
    env |= {"HOCKET_SEGMENT": "4096", "HOCKET_TRACE": str(tmp_path / "trace")}
    check(f"vector_rounds 30000x{ROUNDS + 1}", network, built.ranks, "--flow", f"window:{window}", env=env)
    by_rank = [
        [call for call in calls_of(tmp_path / f"trace.{rank}") if call[0] == "irregular"]
        for rank in range(built.ranks)
    ]
    for calls in zip(*by_rank, strict=True):
        kept = Kept(plan, demand.bytes, 4096, [events for _, events in calls])
        kept.check_all_happened_once()
        assert kept.check_waits() > 0
        kept.check_window()
        kept.check_signals_go_first()
    assert len(by_rank[0]) == ROUNDS  # the first call was not planned


def port_waits(schedule: _core.Schedule, window: int) -> list[list[int]]:
    """Message before each one at its receiver, ``window`` places earlier."""
    received: dict[int, list[int]] = {}
    waits = []
    for message, (_, _, dst, *_) in enumerate(schedule.rows()):
        before = received.setdefault(dst, [])
        waits.append(before[-window:][:1] if len(before) >= window else [])
        before.append(message)
    return waits


@pytest.mark.parametrize(("network", "window"), [("star:7", 1), ("star:6", 2), ("fat-tree:2x3x1x3", 1)])
def test_messages_wait_for_ports_where_partners_agree_on_phases(
    check: Check, tmp_path: Path, network: str, window: int
) -> None:
    """Each receiver releases its senders one after the other. Waits that follow from others, by way of ranks that a
    receiver knows nothing of, are kept, too."""
    built = read_network(network)
    demand = thirds(built.ranks, 30000)
    schedule = _core.Algorithm.find("proposals", "irregular").make(built, demand)
    waits = port_waits(schedule, window)
    if network.startswith("star"):
        fewest = _core.Waits.derive(built, schedule, window)
        assert all(set(fewest.of(i)) <= set(kept) for i, kept in enumerate(waits))
    by_ports = _core.Waits.from_lists(waits, window)
    plan = _core.Plan(built, schedule, by_ports, demand, "proposals", 0, 0.0, 0.0)
    env = {**ALL, "HOCKET_ALGORITHM": "proposals", "HOCKET_SEGMENT": "4096"}
    env |= {"HOCKET_TRACE": str(tmp_path / "trace")}
    flow = ["--flow", f"window:{window}"]
    said = check(f"vector_rounds 30000x{ROUNDS + 1}", network, built.ranks, *flow, env=env)
    assert "rounds between partners" in said
    by_rank = [
        [call for call in calls_of(tmp_path / f"trace.{rank}") if call[0] == "irregular"]
        for rank in range(built.ranks)
    ]
    assert len(by_rank[0]) == ROUNDS  # the first call was not planned
    for calls in zip(*by_rank, strict=True):
        kept = Kept(plan, demand.bytes, 4096, [events for _, events in calls])
        kept.check_all_happened_once()
        assert kept.check_waits() == sum(map(len, waits))
        kept.check_window()


def gossip(ranks: int, size: int) -> list[Row]:
    return random_gossip(Random(ranks), [size] * ranks)


@pytest.mark.parametrize(
    ("network", "rows", "window"),
    [
        ("chain:2,3", ring, 1),
        ("chain:2,2,2", both_ways, 1),
        ("chain:2,2,2", both_ways, 3),
        ("chain:4,4", doubling, 1),
        ("chain:4,4", doubling, 3),
        ("chain:2,1,2", gossip, 1),
        ("torus:4x4", doubling, 3),
        ("mesh:3x2*2", ring, 3),
    ],
)
def test_nothing_starts_before_its_time(
    check: Check, tmp_path: Path, network: str, rows: Callable[[int, int], list[Row]], window: int
) -> None:
    built = read_network(network)
    size = 30001
    gather = plan_of(built, rows(built.ranks, 1 << 20), 1 << 20, window=window)
    for kept in run(check, tmp_path, network, size, gather, window, 4096):
        kept.check_all_happened_once()
        tokens = kept.check_waits()
        kept.check_window()
        if kept.plan.demand.pattern == "all-to-all":
            assert tokens > 0 and kept.check_signals_go_first() > 0
            continue
        kept.check_nothing_is_sent_before_it_is_held()


@pytest.mark.parametrize("window", [1, 2])
def test_parts_of_messages_are_passed_on_when_they_are_in(check: Check, tmp_path: Path, window: int) -> None:
    network = network_file(tmp_path / "four.toml", FOUR)
    gather = plan_of(read_network(network), ring(4, 1 << 20), 1 << 20, window=window)
    calls = run(check, tmp_path, network, 30001, gather, window, 4096)[::2]
    for kept in calls:
        assert not kept.plan.schedule.direct and kept.plan.demand.pattern == "all-to-all"
        kept.check_all_happened_once()
        kept.check_waits()
        kept.check_window()
        kept.check_nothing_is_sent_before_it_is_held()
    assert len(calls) == ROUNDS


def bus(path: Path, hosts: int) -> str:
    """Hosts on one wire that carries one message at a time, whatever its direction."""
    names = [f"h{i}" for i in range(hosts)]
    lines = ["<?xml version='1.0'?>", '<platform version="4.1"><zone id="z" routing="Full">']
    lines += [f'<host id="{name}" speed="1Gf"/>' for name in names]
    lines += ['<link id="bus" bandwidth="125MBps" latency="1us" sharing_policy="SHARED"/>']
    for i, a in enumerate(names):
        lines += [f'<route src="{a}" dst="{b}"><link_ctn id="bus"/></route>' for b in names[i + 1 :]]
    path.write_text("\n".join([*lines, "</zone></platform>"]))
    return str(path)


def test_a_rank_waits_for_what_it_receives_itself(check: Check, tmp_path: Path) -> None:
    """On one wire a rank's send often follows its own receive: it gives itself the token."""
    network = bus(tmp_path / "bus.xml", 4)
    built = read_network(network)
    gather = plan_of(built, random_gossip(Random(1), [1 << 20] * 4), 1 << 20, window=1)
    for kept in run(check, tmp_path, network, 30001, gather, 1, 4096):
        kept.check_all_happened_once()
        kept.check_waits()
        kept.check_window()
        if kept.plan.demand.pattern == "all-to-all":
            waits, rows = kept.plan.waits, kept.plan.schedule.rows()
            assert any(rows[b][2] == row[1] for i, row in enumerate(rows) for b in waits.of(i))


def test_a_segment_goes_on_before_the_message_is_in(check: Check, tmp_path: Path) -> None:
    """Cut-through: some ranks forward parts of messages of which more is to come."""
    built = read_network("chain:2,2")
    gather = plan_of(built, ring(4, 10), 10, window=4)
    calls = run(check, tmp_path, "chain:2,2", 2_000_000, gather, 1, 16384)
    early = [kept.check_nothing_is_sent_before_it_is_held() for kept in calls[1::2]]
    assert sum(early) > 0
