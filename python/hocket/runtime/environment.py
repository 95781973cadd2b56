"""The environment in which an unmodified MPI program follows Hocket's schedules."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hocket import _core
from hocket.errors import HocketError, PlanError, UsageError
from hocket.runtime.build import build_runtime, cache_dir

MOST_PLANNED_RANKS = 2048  # larger networks travel without rows: ranks plan what they use

_FLOWS = ("token", "barrier", "free")


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What a user may say about a run; None leaves the runtime's own choice.

    ``placement`` is ``names`` (processor names), ``order`` (rank i on the i-th place of the
    network) or a file with one host name per rank. ``flow`` is token, window:K, barrier or free.
    Sizes are bytes.
    """

    placement: str = "names"
    flow: str = "token"
    min_bytes: int | None = None
    segment: int | None = None
    early: int | None = None
    log: int = 0

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
        """The HOCKET_ variables of docs/runtime.md."""
        placement = self.placement
        if placement not in ("names", "order"):
            path = Path(placement)
            if not path.is_file():
                raise UsageError(
                    f"no placement file '{placement}'",
                    remedy="give names, order, or a file with one host name per rank",
                )
            placement = str(path.resolve())
        values = {
            "HOCKET_PLACEMENT": "" if placement == "names" else placement,
            "HOCKET_FLOW": "token" if self.window > 1 else self.flow,
            "HOCKET_MIN_BYTES": self.min_bytes,
            "HOCKET_SEGMENT": self.segment,
            "HOCKET_EARLY": self.early,
            "HOCKET_LOG": self.log or None,
        }
        return {name: str(value) for name, value in values.items() if value not in (None, "")}


def scheduled_environment(
    mpicc: str, network: _core.Network, options: RuntimeOptions, plan: Path | None = None
) -> dict[str, str]:
    """Builds what is missing (runtime, plan) and returns the variables every rank needs.

    ``mpicc`` is the compiler wrapper of the MPI that will run the program. ``plan`` is a plan made
    before; otherwise one is made for the network and kept in the cache.
    """
    environment = options.environment()
    if plan is None:
        plan = _cached_plan(network, options.window)
    else:
        _check_plan(plan)
    return {**build_runtime(mpicc).environment(), **environment, "HOCKET_PLAN": str(plan.resolve())}


def _check_plan(plan: Path) -> None:
    try:
        _core.Plan.decode(plan.read_bytes())
    except OSError as error:
        raise PlanError(
            f"cannot read {plan}: {error.strerror}", remedy="make it with 'hocket plan'"
        ) from None
    except _core.PlanProblem as error:
        raise PlanError(f"{plan}: {error}", remedy="make it again with 'hocket plan'") from None


def _cached_plan(network: _core.Network, window: int) -> Path:
    """A plan of the whole network; a rank in a smaller communicator plans from its network part."""
    demand = _core.Demand(network.ranks, 1)
    bounds = _core.lower_bounds(network, demand)
    if network.ranks <= MOST_PLANNED_RANKS:
        scheduler = _core.choose_scheduler(network, demand)
        schedule = scheduler.make(network, demand)
        name = scheduler.name
    else:
        schedule = _core.Schedule.from_rows(network.ranks, 1, [])
        name = "none"
    waits = _core.derive_waits(network, schedule, window)
    data = _core.Plan(network, schedule, waits, demand, name, bounds.phases, bounds.seconds, 0.0).encode()
    path = cache_dir() / f"plan-{hashlib.sha256(data).hexdigest()[:16]}.hkt"
    if path.exists() and path.stat().st_size == len(data):
        return path
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="plan-", delete=False) as file:
            file.write(data)
        Path(file.name).replace(path)
    except OSError as error:
        raise HocketError(
            f"cannot write {path}: {error.strerror}", remedy="free some space in the cache"
        ) from None
    return path
