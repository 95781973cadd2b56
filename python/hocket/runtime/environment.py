"""The environment in which an unmodified MPI program follows Hocket's schedules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hocket import _core
from hocket.errors import PlanError, UsageError
from hocket.runtime.build import build_runtime
from hocket.runtime.cache import keep
from hocket.runtime.placement import hosts_by_coordinates

MOST_PLANNED_RANKS = 2048  # larger networks travel without rows: ranks plan what they use

PATTERNS = ("all-to-all", "all-gather")

# What an all-gather is planned for (pieces are scaled to what a call contributes), and how many messages
# a rank may have unacknowledged: it has the next one for the same wire at once. As in plan_store.cpp.
_GATHER_BYTES = 1 << 20
_GATHER_WINDOW = 2

_FLOWS = ("token", "barrier", "free")

# Rules for where ranks are, and what HOCKET_PLACEMENT says for them.
_PLACEMENTS = {"names": "", "slurm": "slurm", "order": "order"}


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What a user may say about a run; None leaves the runtime's own choice.

    ``placement`` is ``names`` (processor names), ``slurm`` (the names that Slurm gave), ``order`` (rank i
    on the i-th place of the network) or a file with one host name per rank, or one host's coordinates
    where the network is a torus, mesh or hypercube. ``flow`` is token, window:K, barrier or free. Sizes are
    bytes. ``scheduler``: of irregular exchanges. ``report``: directory that all hosts see, for what the ranks
    tell of their calls.
    """

    placement: str = "names"
    flow: str = "token"
    min_bytes: int | None = None
    min_gather_bytes: int | None = None
    min_vector_bytes: int | None = None
    scheduler: str | None = None
    segment: int | None = None
    early: int | None = None
    log: int = 0
    report: Path | None = None

    @property
    def window(self) -> int:
        """Transfers allowed in flight on a channel; 1 unless the flow is ``window:K``."""
        kind, _, count = self.flow.partition(":")
        if kind == "window" and count.isdecimal() and 1 <= int(count) <= 64:
            return int(count)
        if self.flow in _FLOWS:
            return 1
        raise UsageError(
            f"no flow control is called '{self.flow}'",
            remedy="choose token, window:K (K from 1 to 64), barrier or free",
        )

    def environment(self) -> dict[str, str]:
        """The HOCKET_ variables of docs/runtime.md, except for the plans and where the ranks are."""
        return {name: str(value) for name, value in self._values().items() if value not in (None, "")}

    def _values(self) -> dict[str, object]:
        return {
            "HOCKET_FLOW": "token" if self.window > 1 else self.flow,
            "HOCKET_MIN_BYTES": self.min_bytes,
            "HOCKET_MIN_GATHER_BYTES": self.min_gather_bytes,
            "HOCKET_MIN_VECTOR_BYTES": self.min_vector_bytes,
            "HOCKET_SCHEDULER": self._irregular_scheduler(),
            "HOCKET_SEGMENT": self.segment,
            "HOCKET_EARLY": self.early,
            "HOCKET_LOG": self.log or None,
            "HOCKET_REPORT": self.report,
        }

    def _irregular_scheduler(self) -> str | None:
        if self.scheduler is not None:
            try:
                _core.find_scheduler(self.scheduler, "irregular")
            except _core.InputError as error:
                raise UsageError(str(error), remedy="choose one of these") from None
        return self.scheduler

    def where_ranks_are(self, network: _core.Network, ranks: int) -> str:
        """What HOCKET_PLACEMENT says when this many ranks start: nothing, a rule, or a file of host names.

        Coordinates become names, in a file of the cache.
        """
        if self.placement in _PLACEMENTS:
            return _PLACEMENTS[self.placement]
        path = Path(self.placement)
        if not path.is_file():
            raise UsageError(
                f"no placement file '{self.placement}'",
                remedy="give names, slurm, order, or a file with one host name, or one host's coordinates, "
                "per rank",
            )
        hosts = hosts_by_coordinates(path, network, ranks)
        if hosts is None:
            return str(path.resolve())
        return str(keep("placement", "".join(f"{host}\n" for host in hosts).encode(), ".txt").resolve())


def scheduled_variables() -> list[str]:
    """The names of all variables that :func:`scheduled_environment` may set, but for ``LD_PRELOAD``."""
    return [
        *RuntimeOptions()._values(),
        "HOCKET_PLACEMENT",
        "HOCKET_RUNTIME",
        "HOCKET_RUNTIME_MPI",
        "HOCKET_PLAN",
    ]


def scheduled_environment(
    mpicc: str,
    network: _core.Network,
    options: RuntimeOptions,
    plans: Sequence[Path] = (),
    ranks: int | None = None,
) -> dict[str, str]:
    """Builds what is missing (runtime, plans) and returns the variables every rank needs.

    ``mpicc`` is the compiler wrapper of the MPI that will run the program. ``plans`` were made before,
    one per pattern and all for the same network; what is missing is planned and kept in the cache.
    ``ranks``: how many will start; all that the network has places for, unless given.
    """
    environment = options.environment()
    paths: dict[str, Path] = {}
    for path in plans:
        plan = read_plan(path)
        if (pattern := plan.header.demand.pattern) in paths:
            raise PlanError(f"{path}: a second {pattern} plan", remedy=f"give it or {paths[pattern]}")
        if pattern not in PATTERNS:
            raise PlanError(f"{path}: no call of a program follows a plan of an {pattern} exchange",
                            remedy=f"give plans of {' or '.join(PATTERNS)}")  # fmt: skip
        paths[pattern] = path
        network = plan.build_network()
    placement = options.where_ranks_are(network, network.ranks if ranks is None else ranks)
    for pattern in PATTERNS:
        if pattern not in paths and (made := _cached_plan(network, pattern, options)):
            paths[pattern] = made
    listed = ":".join(str(path.resolve()) for path in paths.values())
    if placement:
        environment["HOCKET_PLACEMENT"] = placement
    return {**build_runtime(mpicc).environment(), **environment, "HOCKET_PLAN": listed}


def read_plan(path: Path) -> _core.Plan:
    """Raises PlanError for a file that cannot be read or is damaged."""
    if ":" in str(path.resolve()):
        raise PlanError(f"{path}: the path of a plan cannot contain ':'", remedy="move the plan")
    try:
        return _core.Plan.decode(path.read_bytes())
    except OSError as error:
        raise PlanError(
            f"cannot read {path}: {error.strerror}", remedy="make it with 'hocket plan'"
        ) from None
    except _core.PlanProblem as error:
        raise PlanError(f"{path}: {error}", remedy="make it again with 'hocket plan'") from None


def _cached_plan(network: _core.Network, pattern: str, options: RuntimeOptions) -> Path | None:
    """A plan of the whole network; a rank in a smaller communicator plans from its network part.

    None where no scheduler serves an all-gather of this network: the ranks say why when they need it.
    """
    gather = pattern == "all-gather"
    demand = _core.Demand(network.ranks, _GATHER_BYTES if gather else 1, pattern)
    if network.ranks <= MOST_PLANNED_RANKS:
        try:
            scheduler = _core.choose_scheduler(network, demand)
            schedule = scheduler.make(network, demand)
        except _core.InputError:
            if not gather:
                raise
            return None
        name = scheduler.name
    else:
        schedule = _core.Schedule.from_rows(network.ranks, demand.bytes, [])
        name = "none"
    window = _GATHER_WINDOW if gather and options.window == 1 else options.window
    waits = _core.derive_waits(network, schedule, window)
    bounds = _core.lower_bounds(network, demand)
    plan = _core.Plan(network, schedule, waits, demand, name, bounds.phases, bounds.seconds, 0.0)
    return keep("plan", plan.encode(), ".hkt")
