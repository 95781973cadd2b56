"""Work of every rank under ``hocket calibrate network``. Needs mpi4py; every function is collective."""

import ctypes
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from mpi4py import MPI

from hocket.costs.calibration import MOST_SECONDS, Calibration, Class, Figure, Flows, Transfer
from hocket.costs.model import read_profile
from hocket.errors import UsageError
from hocket.launch.job import Tell
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_library
from hocket.measure.bench_exchanges import nodes_of_ranks
from hocket.measure.calibration_work import Places, Task, What, classes, in_turn, tasks
from hocket.measure.discovery import mpi_version, rest, today
from hocket.measure.memory import cores, transfers
from hocket.measure.memory_sizes import Budget
from hocket.network import read_known_network
from hocket.network.measured import wiring_digest

SECONDS: Final = 50.0  # of measuring
QUICK_SECONDS: Final = 8.0
_LEAST_REPEATS, _MOST_REPEATS = 3, 200
_SHARE = 0.3  # seconds that one task takes at most, if three calls take no longer
_PAUSE = 0.02  # of a receiver that is late; a send that takes less did not wait for it
_ASIDE = 2e-3  # that a message gets to come before it is received
_LEAST_FLOW = 2e-4  # seconds: shorter ones are repeated within a measurement
_MOST_COUNT = 64
_LEAST_SECONDS = 1e-9

Say = Callable[[int, int, str], None]  # measured so far, of how many, what comes next


class Work(ctypes.Structure):
    """``hocket_network_work``."""

    _fields_ = [
        ("what", ctypes.c_int),
        ("to", ctypes.c_int),
        ("source", ctypes.c_int),
        ("count", ctypes.c_int),
        ("source_count", ctypes.c_int),
        ("asleep", ctypes.c_int),
        ("bytes", ctypes.c_int64),
        ("pause", ctypes.c_double),
        ("sources", ctypes.POINTER(ctypes.c_int)),
    ]


class Rank:
    """A rank that measures, on a communicator of its own with the others."""

    def __init__(self, comm: MPI.Intracomm, library: RuntimeLibrary, crowded: bool) -> None:
        self.comm = comm.Dup()
        self.library = library
        self.crowded = crowded  # some host has more ranks than cores

    def times(self, task: Task, repeat: int, count: int = 1) -> list[float]:
        """Seconds of each time, of the slowest leader, or where all do the same of the mean; on all ranks."""
        rank = self.comm.Get_rank()
        sources = [source for source, target in task.sends.items() if target == rank]
        flow = task.what == What.FLOW
        work = Work(
            int(task.what), task.sends.get(rank, -1), sources[0] if sources else -1, count,
            len(sources) if flow else 0, int(self.crowded), task.bytes,
            _ASIDE if task.what == What.RECEIVE else _PAUSE, (ctypes.c_int * max(len(sources), 1))(*sources),
        )  # fmt: skip
        seconds = np.zeros(repeat)
        self.library.check(
            "hocket_measure_network", self.library.handle(self.comm), ctypes.byref(work), repeat,
            ctypes.c_void_p(seconds.ctypes.data),
        )  # fmt: skip
        if rank not in task.leaders:
            seconds[:] = 0
        mean = task.what in (What.STEP, What.SENDRECV)  # no schedule waits for the slowest in every step
        agreed = np.empty_like(seconds)
        rest(self.comm.Iallreduce(seconds, agreed, MPI.SUM if mean else MPI.MAX))
        return [max(float(value) / (len(task.leaders) if mean else 1), _LEAST_SECONDS) for value in agreed]

    def repeated(self, task: Task, share: float) -> tuple[list[float], int]:
        """Repeat a task as often as fits into ``share`` seconds. Returns the times, and the messages of each flow."""
        self.times(task, 1)  # may set up connections
        once, count = self.times(task, 1)[0], 1
        if task.what == What.UNEXPECTED:
            return [once], count
        if task.what == What.FLOW and once < _LEAST_FLOW:
            count = min(max(int(_LEAST_FLOW / once), 1), _MOST_COUNT)
            once = self.times(task, 1, count)[0]
        if task.what == What.RECEIVE:
            once += _ASIDE
        repeat = min(max(int(min(share, _SHARE) / once), _LEAST_REPEATS), _MOST_REPEATS)
        return self.times(task, repeat, count), count


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> dict[str, Any] | None:
    """Do one rank's part of a job; returns the calibration on rank 0."""

    def say(at: int, of: int, now: str) -> None:
        if comm.Get_rank() == 0:
            tell({"at": at, "of": of, "work": now})

    found = measure(comm, what["source"], what["placement"], what["quick"], say)
    return None if found is None else found.as_json()


def measure(
    comm: MPI.Intracomm, source: str | None, placement: str, quick: bool, say: Say
) -> Calibration | None:
    """Measure everything; returns the calibration on rank 0. Raises HocketError on all ranks alike."""
    library = load_library(comm)
    began = time.monotonic()  # compiling does not count
    if comm.Get_size() < 2:
        raise UsageError("one rank sends no messages", remedy="start two or more")
    asked = source if comm.Get_rank() == 0 else None
    known = everywhere(comm, lambda: [None, None] if asked is None else _network(asked))
    processors = comm.allgather(MPI.Get_processor_name())
    nodes: list[int] | None = None
    if comm.Get_rank() == 0:
        nodes = _nodes(known[0], processors, placement)
    if (nodes := comm.bcast(nodes)) is None:
        raise UsageError(
            f"the ranks are not on the hosts of {source}",
            remedy="name the job's network, give --placement order, or leave --network out",
        )
    places = Places.of(nodes, known[0])
    cores_here = comm.allreduce(cores(), MPI.MIN)
    rank = Rank(comm, library, comm.bcast(places.most_ranks_on_a_host) > cores_here)
    todo: list[Task] = comm.bcast(tasks(places, quick) if comm.Get_rank() == 0 else None)

    def first_ranks(value: float) -> float:
        told = np.array([value])
        rest(comm.Ibcast(told, 0))
        return float(told[0])

    budget = Budget(QUICK_SECONDS if quick else SECONDS, first_ranks)
    times: dict[Any, list[tuple[Task, list[float], int]]] = defaultdict(list)
    done = 0
    for done, task in enumerate(todo):
        if (left := budget.left()) <= 0 and done > len(todo) // 8:
            break
        say(done, len(todo), task.kind)
        values, count = rank.repeated(task, max(left, 0) / (len(todo) - done))
        times[task.kind].append((task, values, count))
    else:
        done = len(todo)
    if comm.Get_rank() != 0:
        return None
    return _calibration(
        places, quick, known[1], times, cores_here, time.monotonic() - began, len(todo) - done
    )


def _network(source: str) -> list[Any]:
    known = read_known_network(source)
    return [known.network, wiring_digest(known.description)]


def _nodes(network: Any, processors: list[str], placement: str) -> list[int] | None:
    if network is None:
        numbers: dict[str, int] = {}
        return [numbers.setdefault(name, len(numbers)) for name in processors]
    found = nodes_of_ranks(network, processors, placement)
    return None if found is None else list(found)


def _calibration(
    places: Places, quick: bool, wiring: str | None, times: Any, cores: int, seconds: float, left_out: int
) -> Calibration:
    found = tuple(
        _class(number, links, len(pairs), times)
        for number, (links, pairs) in enumerate(classes(places, quick).items())
        if any(task.number == number for task, *_ in times["ping"])
    )
    steps = {task.bytes: values for task, values, _ in times["step"]}
    n = len(places.nodes)
    of_steps = _class_of(places, found)
    loaded, per_byte = _loaded(steps, of_steps)
    profile = read_profile()
    return Calibration(
        date=today(), mpi=mpi_version(),
        ranks=n, hosts=len(places.first), cores=cores, ranks_per_host=places.most_ranks_on_a_host,
        host_rate=None if places.network is None else places.network.host_rate, wiring=wiring,
        classes=found, eager=_eager(times["eager"]),
        token=_beyond(steps.get(1, []), of_steps.seconds(1)), token_loaded=loaded,
        token_bytes=min((size for size in steps if size > 1), default=1), per_byte_loaded=per_byte,
        sendrecv=Figure.of([v for _, values, _ in times["sendrecv"] for v in values] or [of_steps.seconds(1)]),
        host_flows=_flows(times["host"], found), switch_link_flows=_flows(times["switch_link"], found),
        memory=transfers(profile, 8), memory_origin=profile.origin, seconds=seconds, left_out=left_out,
    )  # fmt: skip


def _class(number: int, links: int | None, pairs: int, times: Any) -> Class:
    def of(name: str) -> list[tuple[Task, list[float], int]]:
        return [entry for entry in times[name] if entry[0].number == number]

    by_size: dict[int, list[float]] = defaultdict(list)
    for task, values, _ in of("ping"):
        by_size[task.bytes] += [value / 2 for value in values]
    send = Figure.of([v for _, values, _ in of("send") for v in values] or [0.0])
    receive = Figure.of([v for _, values, _ in of("receive") for v in values] or [0.0])
    transfers = tuple(Transfer(size, Figure.of(by_size[size])) for size in sorted(by_size))
    # A receive by itself finds its caches cold: no more than all of a message.
    short = transfers[0].seconds.median
    receive = Figure(min(receive.median, max(short - send.median, 0.0)), receive.spread)
    latency = max(short - send.median - receive.median, 0.0)
    return Class(links, pairs, send, receive, latency, transfers)


def _class_of(places: Places, found: tuple[Class, ...]) -> Class:
    """The distance at which most steps were made."""
    counts = Counter(places.links(rank, after) for rank, after in in_turn(places).items())
    links = max(counts, key=lambda one: counts[one])
    return next((one for one in found if one.links == links), found[0])


def _beyond(steps: list[float], known: float) -> Figure:
    """Time that a step takes beyond the known time."""
    rest = [min(max(value - known, 0.0), MOST_SECONDS) for value in steps]
    return Figure.of(rest or [0.0])


def _loaded(steps: dict[int, list[float]], of: Class) -> tuple[Figure, float]:
    """Fit a line through two sizes of a step. Returns the cost of a token while all exchange, and seconds per byte."""
    sizes = sorted(size for size in steps if size > 1)
    if len(sizes) < 2:
        return _beyond(steps.get(1, []), of.seconds(1)), of.per_byte
    short, long = (Figure.of(steps[size]).median for size in (sizes[0], sizes[-1]))
    per_byte = max((long - short) / (sizes[-1] - sizes[0]), of.per_byte)
    return _beyond(steps[sizes[0]], of.seconds(1) + sizes[0] * per_byte), per_byte


def _eager(entries: list[tuple[Task, list[float], int]]) -> int:
    """The longest message that was sent before its receiver asked."""
    eager = 0
    for task, values, _ in sorted(entries, key=lambda entry: entry[0].bytes):
        if min(values) >= _PAUSE / 2:
            break
        eager = task.bytes
    return eager


def _flows(entries: list[tuple[Task, list[float], int]], found: tuple[Class, ...]) -> tuple[Flows, ...]:
    """The rate of all flows over that of a long message, or over one flow's if that is slower."""
    near = next((one for one in found if one.links != 0), found[0])
    start = 2 * near.transfers[0].seconds.median  # told to begin; the first byte is there
    alone: dict[int, float] = {}
    rows = []
    for task, values, count in entries:
        flows, size = task.number, task.bytes
        taken = Figure.of([max(value - start, 0.1 * value) for value in values])
        part = flows * count * size * near.per_byte / taken.median
        if flows == 1:
            alone[size] = min(part, 1.0)
        part = min(max(part / alone.get(size, 1.0), 1e-6), 1.0)
        rows.append(Flows(flows, size, part, taken.spread))
    return tuple(rows)
