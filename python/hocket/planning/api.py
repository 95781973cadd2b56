"""Planning from Python: networks, plans, their proof and their prediction (docs/python.md).

Sizes are bytes, times seconds, rates bytes per second; each may also be text with a unit: ``"64KiB"``,
``"5us"``, ``"10Gbit"``. Ranks count from 0, host by host. Everything that a caller can do wrong raises a
:class:`hocket.HocketError`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket.demand.arrays import traffic_of
from hocket.demand.collectives import find, takes_contributions
from hocket.errors import HocketError, NetworkError, PlanError, UsageError
from hocket.network import Defaults, read_network
from hocket.network.graphs import description_of, graph_of, quantity
from hocket.network.parts import MAX_RANKS
from hocket.planning.figures import Figures
from hocket.planning.network_check import check_header, compare_networks
from hocket.planning.plan import AUTO, flow_of, plan_collective, plan_irregular, prove, simulation
from hocket.system.files import read_file
from hocket.units import MAX_SECONDS, parse_bytes, parse_rate, parse_time

EVERYONE: Final = int(_core.EVERYONE)
TRANSFER: Final = np.dtype([
    ("phase", np.uint64), ("src", np.uint32), ("dst", np.uint32),
    ("origin", np.uint32), ("target", np.uint32), ("offset", np.uint64), ("length", np.uint64),
])  # fmt: skip
_MOST_BYTES: Final = 2**50


class Channel(NamedTuple):
    """One direction of a link."""

    number: int
    name: str
    rate: float
    """Bytes per second."""
    latency: float
    """Seconds."""


class Network:
    """Hosts, switches and links, and the route of every message. Immutable.

    ``source``: the path of a network file, or a short form such as ``"chain:2,2"`` (docs/networks.md).
    ``rate`` and ``latency`` are those of links, ``ranks_per_host`` that of hosts, where the source says none;
    by default 1 Gbit/s, 5 us and 1. ``forwarding``: a file with the forwarding tables of the switches. Raises
    :class:`hocket.NetworkError`.
    """

    def __init__(
        self,
        source: str | PathLike[str],
        *,
        rate: float | str | None = None,
        latency: float | str | None = None,
        ranks_per_host: int | None = None,
        forwarding: str | PathLike[str] | None = None,
    ) -> None:
        defaults = _defaults(rate, latency, ranks_per_host)
        if forwarding is not None:
            defaults = replace(defaults, forwarding=_path(forwarding, "forwarding"))
        text = _path(source, "a network's source")
        self._set(read_network(text, defaults), text)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        rate: float | str | None = None,
        latency: float | str | None = None,
        ranks_per_host: int | None = None,
    ) -> Self:
        """The network of an undirected networkx graph, named by the texts of its nodes.

        Nodes: ``ranks`` of 1 or more makes a host with as many ranks, 0 or nothing a switch. If no node of
        the graph has it, nodes with at most one link are hosts of ``ranks_per_host`` ranks. Edges: ``rate``
        (bytes/s) and ``latency`` (seconds), or text with a unit. Hosts and with them ranks are numbered in
        the order of the nodes. Messages take the only path of a tree, else a shortest one.
        """
        network = cls.__new__(cls)
        network._set(description_of(graph, _defaults(rate, latency, ranks_per_host)).build(), "the graph")
        return network

    @classmethod
    def _of_core(cls, core: _core.Network, source: str) -> Self:
        network = cls.__new__(cls)
        network._set(core, source)
        return network

    def _set(self, core: _core.Network, source: str) -> None:
        self._core = core
        self._source = source

    def __repr__(self) -> str:
        return f"<hocket.Network {self._source}: {len(self.hosts)} hosts, {self.ranks} ranks>"

    @property
    def ranks(self) -> int:
        """The number of MPI ranks on all hosts."""
        return int(self._core.ranks)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The names of the hosts, in the order of their ranks."""
        names = self._core.names
        return tuple(names[host] for host in self._core.hosts)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """All directed channels; channel 2i and 2i + 1 are the two directions of link i."""
        return tuple(self._channel(index) for index in range(self._core.channels))

    @property
    def host_rate(self) -> float:
        """Full speed of a host, in bytes per second."""
        return float(self._core.host_rate)

    def host_of(self, rank: int) -> str:
        """The name of the host that a rank is on."""
        return str(self._core.names[self._core.host_of(self._rank(rank))])

    def route(self, src: int, dst: int) -> tuple[Channel, ...]:
        """The channels that a message from rank ``src`` to rank ``dst`` takes, in order; none within a host."""
        return tuple(self._channel(index) for index in self._core.route(self._rank(src), self._rank(dst)))

    def to_networkx(self) -> Any:
        """A networkx graph with the attributes that :meth:`from_networkx` reads, without the routes.

        A ``MultiGraph`` where several links join the same two nodes, else a ``Graph``.
        """
        return graph_of(self._core)

    def _channel(self, index: int) -> Channel:
        core = self._core
        return Channel(index, core.channel_name(index), core.rate(index), core.latency(index))

    def _rank(self, rank: int) -> int:
        return _whole(rank, "rank", 0, self.ranks - 1)


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A schedule of an exchange on a network. Plans come from :func:`plan` and :meth:`load`.

    ``bound_phases``: no schedule under the scheduler's port model has fewer phases. ``bound_seconds``: none
    takes less time. ``predicted_seconds``: what the model says of this one, waits included.
    """

    network: Network
    scheduler: str
    bound_phases: int
    bound_seconds: float
    predicted_seconds: float
    _demand: _core.Demand
    _schedule: _core.Schedule
    _waits: _core.Waits
    _bounds: _core.Bounds
    _report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The plan in a file. Raises :class:`hocket.PlanError` if it is damaged or no plan.

        The file is whole; :func:`verify` tells whether the schedule in it is right.
        """
        name = _path(path, "a plan's path")
        try:
            data = read_file(name)
        except (OSError, ValueError) as problem:
            what = getattr(problem, "strerror", None) or problem
            raise PlanError(f"cannot read {name}: {what}", remedy="check its name") from None
        try:
            file = _core.Plan.decode(data)
            core = file.build_network()
            bounds = _core.lower_bounds(core, file.header.demand)
        except _core.InputError as problem:
            raise PlanError(f"{name}: {problem}", remedy="make it again") from None
        header = file.header
        check_header(header, core, bounds, name)
        return cls(
            Network._of_core(core, name), header.scheduler, header.bound_phases, header.bound_seconds,
            header.predicted_seconds, header.demand, file.schedule, file.waits, bounds,
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<hocket.Plan {self.pattern} of {self.network.ranks} ranks by '{self.scheduler}': "
            f"{self.phases} phases, ratio {self.ratio:.3f}>"
        )

    @property
    def pattern(self) -> str:
        """``all-to-all``, ``all-gather`` or ``irregular``."""
        return str(self._demand.pattern)

    @property
    def phases(self) -> int:
        """The number of phases; messages of one phase do not wait for each other."""
        return int(self._schedule.phases)

    @property
    def window(self) -> int:
        """Messages in flight that the waits allow on a channel."""
        return int(self._waits.window)

    @property
    def ratio(self) -> float:
        """What the plan takes over the least possible, 1.0 is optimal. Of an all-to-all phases over
        ``bound_phases``; of an all-gather seconds over ``bound_seconds``; of an irregular exchange the time of
        its phases one after the other over the bound. ``predicted_seconds / bound_seconds`` also counts
        latencies."""
        return self._figures.ratio

    @cached_property
    def _figures(self) -> Figures:
        return Figures.of(
            self.network._core, self._demand, self.scheduler, self._schedule, self._waits, self._bounds,
            self.bound_phases, self.bound_seconds, self.predicted_seconds,
        )  # fmt: skip

    @cached_property
    def transfers(self) -> NDArray[np.void]:
        """A read-only structured array of shape (pieces,), in order of phases.

        Fields: ``phase``, ``src`` and ``dst`` (ranks of this transfer), ``origin`` and ``target`` (ranks whose
        message it carries; a target of ``hocket.EVERYONE`` is every rank), ``offset`` and ``length``
        (bytes of that message). Several pieces of one all-gather transfer follow each other.
        """
        table = np.array(self._schedule.rows(), TRANSFER)
        table.setflags(write=False)
        return table

    def report(self) -> dict[str, Any]:
        """Plain numbers and texts, as ``hocket plan … --json`` prints them.

        Of a plan from a file: without what only planning knows, such as ``startup`` and ``plan_seconds``.
        """
        return dict(self._report) or self._figures.as_json()

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the plan file that ``hocket run --plan`` takes; it is written whole or not at all."""
        from hocket.system.files import replaced

        plan = _core.Plan(
            self.network._core, self._schedule, self._waits, self._demand, self.scheduler,
            self.bound_phases, self.bound_seconds, self.predicted_seconds,
        )  # fmt: skip
        name = _path(path, "a plan's path")
        with _typed():
            data = plan.encode()
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
    scheduler: str = AUTO,
    window: int | None = None,
    startup: float | str | None = None,
    seed: int = 1,
    root: int = 0,
) -> Plan:
    """Schedules an exchange on a network, derives the waits of its messages, verifies and predicts it.

    ``network``: a :class:`Network`, or what it is made from.
    ``demand``: ``"all-to-all"`` with ``bytes`` per message; ``"all-gather"`` with ``bytes`` per rank or
    ``contributions``, one size for each rank; or a matrix of shape (ranks, ranks) whose entry [i, j] is the
    bytes that rank i sends to rank j: a numpy array, nested lists, or a sparse array of scipy. Numbers are
    integers, or floats that are whole. What a rank has for itself, on the diagonal, is no message.
    ``scheduler``: one of ``hocket schedulers``, or ``"auto"``. ``window``: messages in flight on a channel;
    None: as many as ``hocket run`` allows.
    ``startup``: seconds that a message costs its sender (matrices, and where ranks pass on what they get); None: 50 µs
    where there is a root, as in a running program, else 0. ``seed``: of schedulers
    that draw lots; the same seed gives the same plan on every machine. ``root``: of collectives that have one.

    Raises :class:`hocket.DemandError` for a matrix that is not square, of another number of ranks, or has
    negative, fractional or infinite entries; :class:`hocket.UsageError` for what no scheduler serves;
    :class:`hocket.NetworkError` for a network that cannot exist.
    """
    net = _network(network)
    core = net._core
    window = None if window is None else _whole(window, "window", 1, 1024)
    seconds = None if startup is None else _seconds(startup, "startup")
    collective = find(demand) if isinstance(demand, str) else None
    if not isinstance(scheduler, str):
        raise UsageError(f"scheduler {scheduler!r}", remedy="give 'auto' or a name of 'hocket schedulers'")
    if contributions is not None and not (collective is not None and takes_contributions(collective)):
        raise UsageError("contributions belong to an all-gather or a reduce-scatter", remedy="leave them out")
    if bytes is not None and (collective is None or contributions is not None):
        raise UsageError("the demand says all sizes already", remedy="leave bytes out")
    with _typed():
        if collective is None:
            traffic = traffic_of(demand)
            traffic.check_ranks(core.ranks, "the matrix")
            lots = _whole(seed, "seed", 0, 2**63 - 1)
            planned = plan_irregular(core, traffic.demand(), scheduler, window, seconds or 0.0, lots)
        else:
            sizes = None if contributions is None else _contributions(contributions, core.ranks)
            size = 0 if sizes is not None else _size(bytes, 0 if collective.forwards else 1)
            seconds = seconds if collective.forwards else None
            origin = _whole(root, "root", 0, core.ranks - 1)
            planned = plan_collective(
                demand, core, size, scheduler, window, seconds, root=origin, contributions=sizes
            )
    return Plan(
        net, planned.scheduler, planned.bound_phases, planned.bound_seconds, planned.predicted_seconds,
        planned.demand, planned.schedule, planned.waits, planned.bounds, planned.report(),
    )  # fmt: skip


def verify(plan: Plan, network: Network | str | PathLike[str] | None = None) -> _core.Certificate:
    """Checks a plan phase by phase and byte by byte; shares no code with the schedulers.

    Returns an object with ``ok``, ``complete``, ``contention_free``, ``worst_channel_use``, ``counts``
    (violations by kind) and ``findings`` (kind, phase and text of the first few). ``network``: also whether
    the plan was made for it; if not, raises :class:`hocket.PlanError`.
    """
    core = _made_for(plan, network)
    with _typed():
        return prove(core, plan._demand, plan.scheduler, plan._schedule, plan._waits)


def simulate(
    plan: Plan,
    network: Network | str | PathLike[str] | None = None,
    *,
    flow: str | None = None,
    startup: float | str = 0.0,
    token: float | str = 0.0,
    barrier: float | str = 0.0,
    overhead: float = 1.0,
) -> _core.Simulation:
    """Predicts times and loads, message by message.

    ``flow``: what holds a message back: ``token``, ``window:K``, ``barrier`` or ``free``; None: as planned.
    Seconds: ``startup`` per message of its sender, ``token`` per token besides latency, ``barrier`` between
    phases. ``overhead``: bytes on the wire per byte. ``network``: as of :func:`verify`.

    Returns an object with ``seconds`` (all of it), ``tokens``, and numpy arrays: ``phase``, ``posted``,
    ``start``, ``end`` of shape (transfers,), ``channel_bytes`` and ``channel_busy`` (seconds) of shape
    (channels,), ``phase_start`` and ``phase_end`` of shape (phases,).
    """
    core = _made_for(plan, network)
    if flow is not None and not isinstance(flow, str):
        raise UsageError(f"flow {flow!r}", remedy="give 'token', 'window:K', 'barrier' or 'free'")
    if not isinstance(overhead, float | int) or not 1 <= overhead <= 1000:
        raise UsageError(f"overhead {overhead!r}", remedy="give 1 or more bytes on the wire per byte")
    costs = _core.ModelParameters(
        startup=_seconds(startup, "startup"),
        token=_seconds(token, "token"),
        barrier=_seconds(barrier, "barrier"),
        overhead=float(overhead),
    )
    with _typed():
        return simulation(core, plan._schedule, plan._waits, flow or flow_of(plan._waits), costs)


@contextmanager
def _typed() -> Iterator[None]:
    """What the core refuses, as an error of Hocket's."""
    try:
        yield
    except _core.InputError as problem:
        raise UsageError(str(problem.args[0])) from None


def _network(given: Network | str | PathLike[str]) -> Network:
    if isinstance(given, Network):
        return given
    if isinstance(given, str | PathLike):
        return Network(given)
    raise NetworkError(
        f"{type(given).__name__} is not a network",
        remedy="give a hocket.Network; its from_networkx() makes one of a graph",
    )


def _made_for(plan: Plan, network: Network | str | PathLike[str] | None) -> _core.Network:
    """The network of a plan; refused if it is not the one that it should be for."""
    if not isinstance(plan, Plan):
        raise UsageError(
            f"{type(plan).__name__} is not a plan",
            remedy="give what hocket.plan() or hocket.Plan.load() returns",
        )
    if network is not None:
        given = _network(network)
        compare_networks(plan.network._core, given._core, "the plan", given._source)
    return plan.network._core


def _defaults(rate: float | str | None, latency: float | str | None, ranks_per_host: int | None) -> Defaults:
    known = Defaults()
    return Defaults(
        known.rate if rate is None else quantity(rate, parse_rate, "rate"),
        known.latency if latency is None else quantity(latency, parse_time, "latency"),
        known.ranks if ranks_per_host is None else _whole(ranks_per_host, "ranks_per_host", 1, MAX_RANKS),
        latency_given=latency is not None,
    )


def _path(value: str | PathLike[str], what: str) -> str:
    path = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(path, str):
        raise UsageError(f"{what} is {value!r}", remedy="give a str or a pathlib.Path")
    return path


def _seconds(value: float | str, name: str) -> float:
    seconds = parse_time(value) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, float | int) or not 0 <= seconds <= MAX_SECONDS:
        raise UsageError(
            f"{name} {value!r}", remedy=f"give 0 to {MAX_SECONDS:.0f} seconds, or text such as '5us'"
        )
    return float(seconds)


def _size(value: int | str | None, least: int) -> int:
    if value is None:
        raise UsageError("the demand needs a size", remedy="give bytes=65536, or text such as '64KiB'")
    return _whole(parse_bytes(value) if isinstance(value, str) else value, "bytes", least, _MOST_BYTES)


def _contributions(sizes: Sequence[int], ranks: int) -> list[int]:
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Iterable):
        raise UsageError(f"contributions {sizes!r}", remedy="give a list of sizes, one for each rank")
    checked = [
        _whole(size, f"contribution of rank {rank}", 0, _MOST_BYTES) for rank, size in enumerate(sizes)
    ]
    if len(checked) != ranks:
        raise UsageError(f"{len(checked)} contributions for {ranks} ranks", remedy="give one for each rank")
    return checked


def _whole(value: int, name: str, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise UsageError(f"{name} {value!r}", remedy=f"give a whole number from {least} to {most}")
    return number
