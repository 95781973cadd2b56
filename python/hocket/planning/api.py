"""Planning from Python: networks, plans, their proof and their prediction (docs/c-and-python.md).

Sizes are bytes, times seconds, rates bytes per second; each may also be text with a unit: ``"64KiB"``,
``"5us"``, ``"10Gbit"``. Ranks count from 0, host by host. Everything that a caller can do wrong raises a
:class:`hocket.HocketError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket.demand.arrays import traffic_of
from hocket.demand.collectives import find, takes_contributions
from hocket.errors import HocketError, PlanError, UsageError
from hocket.planning.bounds import true_bounds
from hocket.planning.network import (
    Network,
    contributions_of,
    network_of,
    path_of,
    seconds_of,
    size_of,
    typed,
    whole,
)
from hocket.planning.network_check import check_header, compare_networks
from hocket.planning.plan import (
    AUTO,
    certificate_of,
    figures_of,
    flow_of,
    plan_collective,
    plan_demand,
    report_of,
    simulation,
    whole_phases,
)
from hocket.system.files import read_file, replaced

EVERYONE: Final = int(_core.EVERYONE)
TRANSFER: Final = np.dtype([
    ("phase", np.uint64), ("src", np.uint32), ("dst", np.uint32),
    ("origin", np.uint32), ("target", np.uint32), ("offset", np.uint64), ("length", np.uint64),
])  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A schedule of an exchange on a network. Plans come from :func:`plan` and :meth:`load`.

    ``bound_phases``: no schedule under the algorithm's port model has fewer phases. ``bound_seconds``: none
    takes less time. ``predicted_seconds``: what the model says of this one, waits included.
    """

    network: Network
    _plan: _core.Plan

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The plan in a file. Raises :class:`hocket.PlanError` if it is damaged or no plan.

        The file is whole; :func:`verify` tells whether the schedule in it is right.
        """
        name = path_of(path, "a plan's path")
        try:
            data = read_file(name)
        except (OSError, ValueError) as problem:
            what = getattr(problem, "strerror", None) or problem
            raise PlanError(f"cannot read {name}: {what}", remedy="check its name") from None
        try:
            plan = _core.Plan.decode(data)
        except _core.InputError as problem:
            raise PlanError(f"{name}: {problem}", remedy="make it again") from None
        check_header(plan, name)
        return cls(Network._of_core(plan.network, name), plan)

    def __repr__(self) -> str:
        return (
            f"<hocket.Plan {self.pattern} of {self.network.ranks} ranks by '{self.algorithm}': "
            f"{self.phases} phases, ratio {self.ratio:.3f}>"
        )

    @property
    def algorithm(self) -> str:
        """The algorithm that made it."""
        return str(self._plan.algorithm)

    @property
    def bound_phases(self) -> int:
        """The fewest phases that the algorithm's port model allows."""
        return int(self._plan.bound_phases)

    @property
    def bound_seconds(self) -> float:
        """The least time of any schedule."""
        return float(self._plan.bound_seconds)

    @property
    def predicted_seconds(self) -> float:
        """Predicted seconds of the plan by the model, waits included."""
        return float(self._plan.predicted_seconds)

    @property
    def pattern(self) -> str:
        """``all-to-all``, ``all-gather`` or ``irregular``."""
        return str(self._plan.demand.pattern)

    @property
    def phases(self) -> int:
        """The number of phases; messages of one phase do not wait for each other. An all-reduce has as many that
        reduce as spread the sums; of the shorter half some are empty."""
        return int(self._plan.schedule.phases)

    @property
    def window(self) -> int:
        """Messages in flight that the waits allow on a channel."""
        return int(self._plan.waits.window)

    @property
    def ratio(self) -> float:
        """Ratio of the plan to its lower bound; 1.0 is optimal. For an all-to-all: phases over
        ``bound_phases``; for an all-gather: seconds over ``bound_seconds``; for an irregular exchange: the
        sum of its phases' times over the bound. ``predicted_seconds / bound_seconds`` also counts
        latencies."""
        return float(figures_of(self._plan)["ratio"])

    @cached_property
    def transfers(self) -> NDArray[np.void]:
        """A read-only structured array of shape (pieces,), in order of phases.

        Fields: ``phase``, ``src`` and ``dst`` (ranks of this transfer), ``origin`` and ``target`` (ranks whose
        message it carries; a target of ``hocket.EVERYONE`` is every rank), ``offset`` and ``length``
        (bytes of that message). Several pieces of one all-gather transfer follow each other.
        """
        table = np.array(self._plan.schedule.rows(), TRANSFER)
        table.setflags(write=False)
        return table

    def report(self) -> dict[str, Any]:
        """Plain numbers and texts, as ``hocket plan … --json`` prints them, but for where rates come from.

        Of a plan from a file: without what only planning knows, such as ``alpha`` and ``plan_seconds``.
        """
        plan = self._plan
        with typed():
            bounds = true_bounds(plan.network, plan.demand, plan.schedule.direct, whole_phases(plan))
        return report_of(plan) | ({} if bounds is None else {"bounds": bounds})

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the plan file that ``hocket run --plan`` takes; it is written whole or not at all."""
        name = path_of(path, "a plan's path")
        with typed():
            data = self._plan.encode()
        try:
            with replaced(Path(name)) as temporary:
                temporary.write_bytes(data)
        except (OSError, ValueError) as problem:
            what = getattr(problem, "strerror", None) or problem
            raise HocketError(f"cannot write {name}: {what}", remedy="choose another path") from None


def plan(
    network: Network | str | PathLike[str],
    demand: Any,
    *,
    bytes: int | str | None = None,
    contributions: Sequence[int] | None = None,
    algorithm: str = AUTO,
    window: int | None = None,
    alpha: float | str | None = None,
    seed: int = 1,
    root: int = 0,
) -> Plan:
    """Schedules an exchange on a network, derives the waits of its messages, verifies and predicts it.

    ``network``: a :class:`Network`, or what it is made from.
    ``demand``: ``"all-to-all"`` with ``bytes`` per message; ``"all-gather"`` with ``bytes`` per rank or
    ``contributions``, one size for each rank; or a matrix of shape (ranks, ranks) whose entry [i, j] is the
    bytes that rank i sends to rank j: a numpy array, nested lists, or a sparse array of scipy. Numbers are
    integers, or floats that are whole. What a rank has for itself, on the diagonal, is no message.
    ``algorithm``: one of ``hocket info``, or ``"auto"``. ``window``: messages in flight on a channel;
    None: as many as ``hocket run`` allows.
    ``alpha``: seconds that a message costs its sender (matrices, and where ranks pass on what they get);
    None: 50 µs where there is a root, as in a running program, else 0. ``seed``: of algorithms
    that draw lots; the same seed gives the same plan on every machine. ``root``: of collectives that have one.

    Raises :class:`hocket.DemandError` for a matrix that is not square, of another number of ranks, or has
    negative, fractional or infinite entries; :class:`hocket.UsageError` for what no algorithm serves;
    :class:`hocket.NetworkError` for a network that cannot exist.
    """
    net = network_of(network)
    core = net._core
    window = None if window is None else whole(window, "window", 1, 1024)
    seconds = None if alpha is None else seconds_of(alpha, "alpha")
    collective = find(demand) if isinstance(demand, str) else None
    if not isinstance(algorithm, str):
        raise UsageError(f"algorithm {algorithm!r}", remedy="give 'auto' or a name of 'hocket info'")
    if contributions is not None and not (collective is not None and takes_contributions(collective)):
        raise UsageError("contributions belong to an all-gather or a reduce-scatter", remedy="leave them out")
    if bytes is not None and (collective is None or contributions is not None):
        raise UsageError("the demand has all sizes", remedy="leave bytes out")
    with typed():
        if collective is None:
            traffic = traffic_of(demand)
            traffic.check_ranks(core.ranks, "the matrix")
            lots = whole(seed, "seed", 0, 2**63 - 1)
            planned = plan_demand(core, traffic.demand(), algorithm, window, seconds or 0.0, lots)
        else:
            sizes = None if contributions is None else contributions_of(contributions, core.ranks)
            size = 0 if sizes is not None else size_of(bytes)
            seconds = seconds if collective.forwards else None
            origin = whole(root, "root", 0, core.ranks - 1)
            planned = plan_collective(
                demand, core, size, algorithm, window, seconds, root=origin, contributions=sizes
            )
    return Plan(net, planned)


def verify(plan: Plan, network: Network | str | PathLike[str] | None = None) -> _core.Certificate:
    """Checks a plan phase by phase and byte by byte; shares no code with the algorithms.

    Returns an object with ``ok``, ``complete``, ``contention_free``, ``worst_channel_use``, ``counts``
    (violations by kind) and ``findings`` (kind, phase and text of the first few). ``network``: also whether
    the plan was made for it; if not, raises :class:`hocket.PlanError`.
    """
    made = _made_for(plan, network)
    with typed():
        return certificate_of(made)


def simulate(
    plan: Plan,
    network: Network | str | PathLike[str] | None = None,
    *,
    flow: str | None = None,
    alpha: float | str = 0.0,
    token: float | str = 0.0,
    barrier: float | str = 0.0,
    overhead: float = 1.0,
) -> _core.Simulation:
    """Predicts times and loads, message by message.

    ``flow``: what holds a message back: ``token``, ``window:K``, ``barrier`` or ``free``; None: as planned.
    Seconds: ``alpha`` per message of its sender, ``token`` per token besides latency, ``barrier`` between
    phases. ``overhead``: bytes on the wire per byte. ``network``: as of :func:`verify`.

    Returns an object with ``seconds`` (all of it), ``tokens``, and numpy arrays: ``phase``, ``posted``,
    ``start``, ``end`` of shape (transfers,), ``channel_bytes`` and ``channel_busy`` (seconds) of shape
    (channels,), ``phase_start`` and ``phase_end`` of shape (phases,).
    """
    made = _made_for(plan, network)
    if flow is not None and not isinstance(flow, str):
        raise UsageError(f"flow {flow!r}", remedy="give 'token', 'window:K', 'barrier' or 'free'")
    if not isinstance(overhead, float | int) or not 1 <= overhead <= 1000:
        raise UsageError(f"overhead {overhead!r}", remedy="give 1 or more bytes on the wire per byte")
    costs = _core.ModelParameters(
        alpha=seconds_of(alpha, "alpha"),
        token=seconds_of(token, "token"),
        barrier=seconds_of(barrier, "barrier"),
        overhead=float(overhead),
    )
    with typed():
        return simulation(made.network, made.schedule, made.waits, flow or flow_of(made.waits), costs)


def _made_for(plan: Plan, network: Network | str | PathLike[str] | None) -> _core.Plan:
    """The core's plan; refused if it was made for another network."""
    if not isinstance(plan, Plan):
        raise UsageError(
            f"{type(plan).__name__} is not a plan",
            remedy="give what hocket.plan() or hocket.Plan.load() returns",
        )
    if network is not None:
        given = network_of(network)
        compare_networks(plan.network._core, given._core, "the plan", given._source)
    return plan._plan
