"""A plan's transfers and what each must wait for, in the form that exporters write down."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final, NamedTuple

from hocket import _core
from hocket.errors import UsageError
from hocket.planning.plan import flow_of, simulation

# An all-to-all of 1,024 ranks.
MOST_TRANSFERS: Final = 1_048_576
TOKEN_BYTES: Final = 1


class Piece(NamedTuple):
    """A part of what ``target`` gets from ``origin``; ``target`` may be everyone (``_core.EVERYONE``)."""

    origin: int
    target: int
    offset: int  # bytes, as the next
    length: int


class Transfer(NamedTuple):
    """A message of the schedule."""

    phase: int
    src: int
    dst: int
    bytes: int
    pieces: tuple[Piece, ...]


class Token(NamedTuple):
    """A message without data: ``src`` has received ``cause`` and tells ``dst``, whose send ``effect`` waits for it."""

    src: int
    dst: int
    cause: int  # transfers, by their number, as the next
    effect: int


@dataclass(slots=True)
class Transfers:
    """Transfers in the schedule's order, numbered from 0, and their order in time.

    Transfer ``t`` starts when all of ``before[t]``, transfers of other senders or to its own, have arrived, its
    sender's own ``over[t]`` have arrived, too, and its sender's send before it, ``started[t]`` (-1: none), has started.
    """

    plan: _core.Plan
    network: _core.Network
    demand: _core.Demand
    algorithm: str
    window: int
    phases: int
    transfers: list[Transfer]
    sends: list[list[int]]  # per rank, in order
    receives: list[list[int]]
    before: list[list[int]]
    over: list[list[int]]
    started: list[int]

    @property
    def ranks(self) -> int:
        return len(self.sends)

    def simulated(self) -> _core.Simulation:
        """Simulate the plan as it is, without per-message costs."""
        return simulation(self.network, self.plan.schedule, self.plan.waits, flow_of(self.plan.waits))

    def tokens(self) -> list[Token]:
        """A message for every wait for what another rank receives."""
        return [
            Token(self.transfers[cause].dst, transfer.src, cause, effect)
            for effect, transfer in enumerate(self.transfers)
            for cause in self.before[effect]
            if self.transfers[cause].dst != transfer.src
        ]


def transfers_of(plan: _core.Plan) -> Transfers:
    """The transfers of a plan. Raises UsageError where there are too many to be written as text."""
    schedule, waits = plan.schedule, plan.waits
    if len(schedule) > MOST_TRANSFERS:
        raise UsageError(
            f"the plan has {len(schedule):,} messages; plans of up to {MOST_TRANSFERS:,} are exported",
            remedy="plan for fewer hosts",
        )
    transfers = in_order(schedule)
    sends: list[list[int]] = [[] for _ in range(schedule.ranks)]
    receives: list[list[int]] = [[] for _ in range(schedule.ranks)]
    for number, transfer in enumerate(transfers):
        sends[transfer.src].append(number)
        receives[transfer.dst].append(number)
    over: list[list[int]] = [[] for _ in transfers]
    started = [-1] * len(transfers)
    for own in sends:
        _own_order(own, transfers, waits.window, over, started)
    return Transfers(
        plan, plan.network, plan.demand, plan.algorithm, waits.window, schedule.phases, transfers, sends,
        receives, causes_of(transfers, waits), over, started,
    )  # fmt: skip


def in_order(schedule: _core.Schedule) -> list[Transfer]:
    """Rows are pieces; those of a transfer follow each other and add up to its length."""
    transfers = []
    rows = iter(schedule.rows())
    for (src, dst), length in zip(schedule.hops(), schedule.lengths(), strict=True):
        pieces: list[Piece] = []
        carried, phase = 0, 0
        while not pieces or carried < length:
            phase, *_, origin, target, offset, bytes = next(rows)
            pieces.append(Piece(origin, target, offset, bytes))
            carried += bytes
        transfers.append(Transfer(phase, src, dst, length, tuple(pieces)))
    return transfers


def _own_order(
    own: list[int], transfers: list[Transfer], window: int, over: list[list[int]], started: list[int]
) -> None:
    """A send waits for its sender's sends `window` or more places earlier; those of one phase go together
    (core/schedule/waits.cpp)."""
    done = 0  # so many of them are over when the send before starts
    first = 0  # of the phase
    for place, number in enumerate(own):
        if place and transfers[own[place - 1]].phase != transfers[number].phase:
            first = place
        started[number] = own[place - 1] if place else -1
        least = max(first - window + 1, done)
        over[number] = own[done:least]
        done = least


def causes_of(transfers: list[Transfer], waits: _core.Waits | None) -> list[list[int]]:
    """Transfers that each waits for: the waits of the plan; and whoever passes on or adds to what it received waits for
    that."""
    before: list[list[int]] = []
    arrivals: dict[tuple[int, int, int], list[tuple[int, int, int]]] = defaultdict(list)
    direct = all(t.pieces[0].origin == t.src and len(t.pieces) == 1 for t in transfers)
    for number, transfer in enumerate(transfers):
        needed: set[int] = set() if waits is None else {int(other) for other in waits.of(number)}
        if not direct:
            for piece in transfer.pieces:
                end = piece.offset + piece.length
                needed.update(
                    earlier
                    for earlier, begin, stop in arrivals[transfer.src, piece.origin, piece.target]
                    if begin < end and piece.offset < stop and transfers[earlier].phase < transfer.phase
                )
            for piece in transfer.pieces:
                arrivals[transfer.dst, piece.origin, piece.target].append(
                    (number, piece.offset, piece.offset + piece.length)
                )
        before.append(sorted(needed))
    return before
