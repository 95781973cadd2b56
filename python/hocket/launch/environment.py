"""The environment in which an unmodified MPI program follows Hocket's schedules."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from hocket import _core
from hocket.demand.collectives import (
    ALL_TO_ALL,
    COLLECTIVES,
    EQUAL,
    IRREGULAR,
    PLANNED_FOR_JOBS,
    call_of,
    some_call_follows,
)
from hocket.errors import PlanError, UsageError
from hocket.launch.placement import VARIABLES as PATHS_VARIABLES
from hocket.launch.placement import hosts_by_coordinates, paths_environment
from hocket.launch.runtime.ready import find_runtime
from hocket.network import KnownNetwork
from hocket.network.measured import kept_path
from hocket.planning.network_check import check_same_network
from hocket.planning.plan import AUTO, certificate_of
from hocket.system.cache import choices_dir, keep
from hocket.system.files import as_error, read_file, real_path

_VARIABLES = {variable.name: variable for variable in _core.Variable.all()}

# Variables that decide who serves calls, refused before anything starts where they hold what they may not.
_WITHOUT_OPTION = {"HOCKET_DISABLE", "HOCKET_REORDER", "HOCKET_SUMS", "HOCKET_REPRODUCIBLE"}

# Rules for where ranks are, and what HOCKET_PLACEMENT says for them.
_PLACEMENTS = {"names": "", "slurm": "slurm", "order": "order"}


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """User's settings for a run. None: not set; then the variable of the same name counts
    (``HOCKET_MIN_BYTES`` for ``min_bytes``), then the runtime's default.

    ``placement`` is ``names`` (processor names), ``slurm`` (the names that Slurm gave), ``order`` (rank i
    on the i-th place of the network) or a file with one host name per rank, or one host's coordinates
    where the network is a torus, mesh or hypercube. ``flow_control`` is token, window:K, barrier or free. Sizes are
    bytes. ``choose`` is learn, predict, off or a candidate. ``algorithm``: of irregular exchanges. ``report``:
    directory that all hosts see, for what the ranks tell of their calls.
    """

    placement: str | None = None
    flow_control: str | None = None
    choose: str | None = None
    min_bytes: int | None = None
    algorithm: str | None = None
    segment: int | None = None
    log: int = 0
    report: Path | None = None

    def completed(self, environment: Mapping[str, str]) -> RuntimeOptions:
        """Settings completed by the variables of an environment.

        Raises UsageError for a variable that counts and holds what it may not.
        """
        said: dict[str, Any] = {}
        for option, (variable, given) in self._by_option().items():
            known = _VARIABLES[variable]
            if (value := environment.get(variable)) and given in (None, ""):
                _check_variable(variable, value)
                number = known.kind == "number"
                said[option] = int(value) if number else Path(value) if option == "report" else value
        return replace(self, **said)

    @property
    def window(self) -> int | None:
        """Transfers allowed in flight on a channel; None, what plans have, unless the flow is ``window:K``."""
        flow = self.flow_control or "token"
        kind, _, count = flow.partition(":")
        if kind == "window" and re.fullmatch("[0-9]{1,2}", count) and 1 <= int(count) <= 64:
            return int(count)
        if flow in _VARIABLES["HOCKET_FLOW_CONTROL"].words:
            return None
        raise UsageError(
            f"no flow control is called '{flow}'",
            remedy="choose token, window:K (K from 1 to 64), barrier or free",
        )

    def environment(self) -> dict[str, str]:
        """The HOCKET_ variables of docs/commands.md, except for the plans and where the ranks are."""
        values = dict(self._by_option().values()) | {
            "HOCKET_FLOW_CONTROL": "token" if self.window else self.flow_control or "token",
            "HOCKET_ALGORITHM": self._irregular_algorithm(),
        }
        del values["HOCKET_PLACEMENT"]
        if self.choose is not None:
            _check_variable("HOCKET_CHOOSE", self.choose)
        return {name: str(value) for name, value in values.items() if value not in (None, "")}

    def _by_option(self) -> dict[str, tuple[str, object]]:
        """The variable that tells each option to the ranks, and what was said."""
        said = {field.name: getattr(self, field.name) for field in fields(self)} | {"log": self.log or None}
        return {option: (variable_of(option), value) for option, value in said.items()}

    def _irregular_algorithm(self) -> str | None:
        if self.algorithm not in (None, AUTO):
            try:
                _core.Algorithm.find(self.algorithm, IRREGULAR)
            except _core.InputError as error:
                raise UsageError(str(error), remedy="choose one of these") from None
        return self.algorithm

    def where_ranks_are(self, network: _core.Network, ranks: int) -> str:
        """Value of HOCKET_PLACEMENT for this many ranks: nothing, a rule, or a file of host names.

        Coordinates become names, in a file of the cache.
        """
        placement = self.placement or "names"
        if placement in _PLACEMENTS:
            return _PLACEMENTS[placement]
        path = Path(placement)
        if not path.is_file():
            raise UsageError(
                f"no placement file '{placement}'",
                remedy="give names, slurm, order, or a file with one host name, or one host's coordinates, "
                "per rank",
            )
        hosts = hosts_by_coordinates(path, network, ranks)
        if hosts is None:
            return str(real_path(path))
        return str(keep("placement", "".join(f"{host}\n" for host in hosts).encode(), ".txt"))


def variable_of(option: str) -> str:
    return f"HOCKET_{option.upper()}"


def _check_variable(name: str, value: str) -> None:
    """Raises UsageError, naming the variable, for a value that the runtime would not take."""
    wrong = _core.Variable.complaints([f"{name}={value}"])
    if name == "HOCKET_ALGORITHM" and value != AUTO and not wrong:
        try:
            _core.Algorithm.find(value, IRREGULAR)
        except _core.InputError as error:
            wrong = [f"{name}: {error}"]
    if name == "HOCKET_PLACEMENT" and value not in _PLACEMENTS and not Path(value).is_file():
        wrong = [f"{name}='{value}' is not slurm, order or a file"]
    if wrong:
        raise UsageError(wrong[0].partition("; using")[0], remedy=f"correct or unset {name}")


def is_disabled(environment: Mapping[str, str]) -> bool:
    """Return true if HOCKET_DISABLE passes every call of these ranks on to the MPI library.

    Raises UsageError for a value that says neither.
    """
    value = environment.get("HOCKET_DISABLE", "")
    _check_variable("HOCKET_DISABLE", value)
    return value == "1"


def scheduled_variables() -> list[str]:
    """The names of all variables that :func:`scheduled_environment` may set, but for ``LD_PRELOAD``."""
    return [
        *dict(RuntimeOptions()._by_option().values()),
        "HOCKET_SWITCH_LINKS",
        "HOCKET_CHOICES",
        "HOCKET_RUNTIME",
        "HOCKET_PLAN",
        *PATHS_VARIABLES,
    ]


def scheduled_environment(
    mpicc: str,
    network: _core.Network | KnownNetwork,
    options: RuntimeOptions,
    plans: Sequence[Path] = (),
    ranks: int | None = None,
) -> dict[str, str]:
    """Builds what is missing (runtime, plans) and returns the variables every rank needs.

    ``mpicc`` is the compiler wrapper of the MPI that will run the program. Of a network of which it is known
    that uplinks are assumed the ranks measure them. ``plans`` were made before, one per pattern and all for
    this network; what is missing is planned and kept in the cache.
    ``ranks``: how many will start; all that the network has places for, unless given.
    Variables of this process count where the options say nothing.
    """
    options = options.completed(os.environ)
    without_option = {name: os.environ[name] for name in _WITHOUT_OPTION & os.environ.keys()}
    for name, value in without_option.items():
        _check_variable(name, value)
    environment = options.environment() | without_option
    if options.choose != "off":
        environment["HOCKET_CHOICES"] = os.environ.get("HOCKET_CHOICES", str(choices_dir()))
    if not isinstance(network, _core.Network):
        if switch_links := switch_links_to_measure(network):
            environment["HOCKET_SWITCH_LINKS"] = str(switch_links)
        measured = network.is_measured
        environment |= paths_environment(network.description)
        given, network = network.description.source, network.network
    else:
        given, measured = "the network's file", False
    paths = _given_plans(plans, network, given, measured)
    placement = options.where_ranks_are(network, network.ranks if ranks is None else ranks)
    for pattern in PLANNED_FOR_JOBS:
        if pattern not in paths and (made := _cached_plan(network, pattern, options)):
            paths[pattern] = made
    listed = ":".join(str(real_path(path)) for path in paths.values())
    if placement or os.environ.get(
        "HOCKET_PLACEMENT"
    ):  # --placement=names beside a variable that says otherwise
        environment["HOCKET_PLACEMENT"] = placement
    return {**find_runtime(mpicc).environment(), **environment, "HOCKET_PLAN": listed}


def switch_links_to_measure(known: KnownNetwork) -> Path | None:
    """Folder in which ranks keep the widths of uplinks that they measure; None: they measure nothing."""
    assumed = known.uplinks.assumed and len(known.network.switch_links()) > 0
    return kept_path(known.description) if assumed else None


def _given_plans(
    plans: Sequence[Path], network: _core.Network, given: str, measured: bool
) -> dict[str, Path]:
    """Plan files by pattern; calls with a root by their root, too. Raises PlanError for a plan that is made
    for another network or is invalid."""
    paths: dict[str, Path] = {}
    for path in plans:
        plan = read_plan(path)
        pattern = plan.demand.pattern
        if call := call_of(plan.demand):
            name, root = call
            pattern = f"{name} with root {root}"
        elif pattern == IRREGULAR:
            raise PlanError(f"{path}: a program's calls cannot follow a plan of an {pattern} exchange",
                            remedy=f"give plans of {' or '.join(entry.name for entry in EQUAL)}")  # fmt: skip
        elif len(plan.schedule) > 0 and not some_call_follows(plan.demand):
            raise PlanError(f"{path}: calls of any size follow a plan, and in this {pattern} the ranks' blocks differ "
                            "or are empty", remedy="plan it with --bytes, at least one for every rank")  # fmt: skip
        if pattern in paths:
            raise PlanError(f"{path}: a second {pattern} plan", remedy=f"give it or {paths[pattern]}")
        check_same_network(plan, network, str(path), given, measured)
        _check_holds(plan, path)
        paths[pattern] = path
    return paths


def _check_holds(plan: _core.Plan, path: Path) -> None:
    found = certificate_of(plan)
    if not found.ok:
        kind, phase, text = found.findings[0]
        raise PlanError(f"{path}: the plan does not hold: {kind}, phase {phase}: {text}",
                        remedy="make it again with 'hocket plan'; see 'hocket verify'")  # fmt: skip


def read_plan(path: Path) -> _core.Plan:
    """Raises PlanError for a file that cannot be read or is damaged."""
    with as_error(f"cannot read {path}", "make it with 'hocket plan'", PlanError):
        if ":" in str(real_path(path)):
            raise PlanError(f"{path}: the path of a plan cannot contain ':'", remedy="move the plan")
        data = read_file(path, again=True)
    try:
        return _core.Plan.decode(data)
    except _core.InputError as error:
        raise PlanError(f"{path}: {error}", remedy="make it again with 'hocket plan'") from None


def run_demand(network: _core.Network, pattern: str) -> _core.Demand:
    """Demand for which a run's plan is chosen. It has a reference size, since message sizes are not known
    yet."""
    return COLLECTIVES[pattern].demand(network.ranks, _core.limits.reference_bytes)


def _cached_plan(network: _core.Network, pattern: str, options: RuntimeOptions) -> Path | None:
    """None where no algorithm serves an all-gather of this network: the ranks say why when they need it."""
    try:
        plan = plan_for_run(network, pattern, options.window)
    except _core.InputError:
        if pattern == ALL_TO_ALL:
            raise
        return None
    return keep("plan", plan.encode(), ".hkt")


def plan_for_run(network: _core.Network, pattern: str, window: int | None = None) -> _core.Plan:
    """A plan of the whole network; a rank in a smaller communicator plans from its network part.

    A large network's has no rows: ranks plan what they use. Raises ``_core.InputError``.
    """
    demand = run_demand(network, pattern)
    if network.ranks > _core.limits.most_ranks_planned_for_run:
        schedule = _core.Schedule.from_rows(network.ranks, demand.bytes, [])
        bounds = _core.lower_bounds(network, demand)
        waits = _core.Waits.derive(network, schedule, window or demand.run_window)
        return _core.Plan(network, schedule, waits, demand, "none", bounds.phases, bounds.seconds)
    return _core.plan(network, demand, window)
