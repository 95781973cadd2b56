"""A connection matrix with triggers for htsim (https://github.com/Broadcom/csg-htsim, sim/datacenter).

Each message is a flow. A flow begins at time 0 or by one trigger; when its sender has every acknowledgement it fires
one trigger. (Receivers could be given one, too, but htsim's receivers never fire it.) What waits for several flows
begins by a barrier of them. A flow that sets off one other, of its sender or receiver, fires that. Others do so by
tokens, flows of a byte: from its receiver to who waits, or back to its sender where the receiver itself waits. So every
wait of the plan holds; a token costs a packet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from hocket.errors import UsageError
from hocket.export.transfers import TOKEN_BYTES, Transfers

MOST_BYTES: Final = 2**31 - 1  # of a flow: htsim reads an int


@dataclass(slots=True)
class _Flow:
    src: int
    dst: int
    bytes: int
    trigger: int = 0  # 0: none, as the next
    sent: int = 0


@dataclass(slots=True)
class _Matrix:
    flows: list[_Flow] = field(default_factory=list)
    fired: list[int] = field(default_factory=lambda: [0])  # by trigger: how often before its flows begin

    def trigger(self, times: int) -> int:
        self.fired.append(times)
        return len(self.fired) - 1


def files(plan: Transfers, output: str) -> dict[str, Iterator[str]]:
    """Write one file. Node i is rank i, flow i + 1 message i of the plan; tokens follow.

    Raises UsageError for hosts with several ranks, whose messages to each other no network carries, and for messages
    that htsim cannot count."""
    if len(plan.network.hosts) != plan.ranks:
        raise UsageError(
            "htsim's nodes have one rank each, and the plan's hosts have several",
            remedy="plan with one rank a host",
        )
    if (most := max((transfer.bytes for transfer in plan.transfers), default=0)) > MOST_BYTES:
        raise UsageError(f"htsim's flows have at most {MOST_BYTES:,} bytes, and a message has {most:,}",
                         remedy="plan smaller messages")  # fmt: skip
    return {output: _lines(plan, _matrix(plan))}


def _causes(plan: Transfers) -> list[list[int]]:
    """Transfers that must have arrived before each transfer begins. They include those that the previous send
    waits for, since that send is only known to have started."""
    causes: list[list[int]] = []
    for number, (before, over) in enumerate(zip(plan.before, plan.over, strict=True)):
        own = plan.started[number]
        inherited = set(causes[own]) if own >= 0 and own not in over else set()
        inherited.difference_update(*(causes[done] for done in over))
        causes.append(sorted(inherited.union(before, over)))
    return causes


def _matrix(plan: Transfers) -> _Matrix:
    # A flow without a size would never end.
    matrix = _Matrix([_Flow(t.src, t.dst, max(t.bytes, 1)) for t in plan.transfers])
    effects: list[list[int]] = [[] for _ in plan.transfers]
    for number, causes in enumerate(_causes(plan)):
        if causes:
            matrix.flows[number].trigger = matrix.trigger(len(causes))
            for cause in causes:
                effects[cause].append(number)
    # One that waits alone starts by its trigger, several start by tokens.
    for flow, waiting in zip(matrix.flows[:], effects, strict=True):
        if len(waiting) == 1 and plan.transfers[waiting[0]].src in (flow.src, flow.dst):
            flow.sent = matrix.flows[waiting[0]].trigger
        elif waiting:
            flow.sent = matrix.trigger(1)
            for number in waiting:
                to = plan.transfers[number].src
                end, trigger = to if to != flow.dst else flow.src, matrix.flows[number].trigger
                matrix.flows.append(_Flow(flow.dst, end, TOKEN_BYTES, flow.sent, trigger))
    return matrix


def _lines(plan: Transfers, matrix: _Matrix) -> Iterator[str]:
    yield f"# {plan.demand.pattern} of {plan.ranks} ranks by {plan.algorithm}, window {plan.window}: flows 1 to "
    yield f"{len(plan.transfers)} are its messages, others tokens\n"
    yield f"Nodes {plan.ranks}\nConnections {len(matrix.flows)}\nTriggers {len(matrix.fired) - 1}\n"
    for number, flow in enumerate(matrix.flows, 1):
        begin = f"trigger {flow.trigger}" if flow.trigger else "start 0"
        line = f"{flow.src}->{flow.dst} id {number} {begin} size {flow.bytes}"
        line += f" send_done_trigger {flow.sent}" if flow.sent else ""
        yield line + "\n"
    for number, times in enumerate(matrix.fired[1:], 1):
        yield f"trigger id {number} " + ("oneshot" if times == 1 else f"barrier count {times}") + "\n"
