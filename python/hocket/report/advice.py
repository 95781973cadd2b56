"""Advice about calls that the MPI library served."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hocket import _core
from hocket.demand.collectives import COLLECTIVES
from hocket.launch.process import answer_of
from hocket.order import DEFAULT_CALLS
from hocket.order.formats import FORMATS
from hocket.order.gains import better_order, command_for
from hocket.report.ranks import Account, Line, RankReport, Site
from hocket.system.text import picked
from hocket.units import format_bytes

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Place:
    function: str = ""
    file: str = ""
    line: int = 0


def places(sites: Iterable[Site]) -> dict[Site, Place]:
    """Asks addr2line, if there is one; else what the process itself could tell."""
    found = {site: Place(function=site.function) for site in sites}
    if (tool := shutil.which("addr2line")) is None:
        return found
    by_object: defaultdict[str, list[Site]] = defaultdict(list)
    for site in found:
        by_object[site.object].append(site)
    for path, of_object in by_object.items():
        if path.startswith("/") and Path(path).is_file():
            found |= _asked(tool, path, of_object)
    return found


def same_places(found: Mapping[Site, Place]) -> dict[Site, Site]:
    """Map sites on the same line to one of them: compilers unroll loops."""
    first: dict[Place, Site] = {}
    return {site: first.setdefault(place, site) for site, place in found.items() if place.file}


def _asked(tool: str, path: str, sites: list[Site]) -> dict[Site, Place]:
    command = [tool, "--functions", "--demangle", f"--exe={path}"]
    offsets = "".join(f"{site.offset:#x}\n" for site in sites)
    done = answer_of(command, _SECONDS, offsets)
    answers = done.stdout.splitlines() if done else []
    if done is None or done.returncode != 0 or len(answers) != 2 * len(sites):
        return {}
    return {
        site: _place(function, where, site)
        for site, function, where in zip(sites, answers[::2], answers[1::2], strict=True)
    }


def _place(function: str, where: str, site: Site) -> Place:
    known = site.function if function == "??" else function
    file, _, line = where.partition(" (")[0].rpartition(":")  # "fft.c:120 (discriminator 2)"
    if file in ("", "??") or not line.isdecimal():
        return Place(known)
    return Place(known, file, int(line))


_NOTEWORTHY: Final = 0.05  # of the time in all calls
_LEAST_WORTH_TRYING: Final = 1024  # bytes; the time of smaller messages is that of their way, not their bytes

# Values of `why` in a report, as the column of the table shows them.
REASONS: Final = {
    "small": "small",
    "few_ranks": "few ranks or one host",
    "intercommunicator": "intercommunicator",
    "erroneous": "arguments",
    "no_place": "no place in the network",
    "no_plan": "no plan",
    "new_sizes": "sizes seen first",
    "not_asked": "has not gained",
    "sizes_unknown": "sizes unknown",
    "not_ready": "not planned yet",
    "forwards": "single-threaded MPI",
    "topology": "topology",
    "left_alone": "left alone",
    "operation": "the operation",
    "two_level": "aggregated if blocking",
    "faster": "the library's is faster",
    "untold": "unknown",
}

_REMEDIES: Final = {
    "no_place": "a rank has no place in the network; see --placement and 'hocket doctor'",
    "no_plan": "Hocket has no plan for them; 'hocket plan' shows why",
    "new_sizes": "their sizes changed from call to call, and schedules are made for sizes that repeat",
    "not_asked": "earlier exchanges did not gain, so these calls are checked with exponential back-off",
    "sizes_unknown": "a call that need not wait for other ranks cannot learn their sizes; make blocking ones of the "
    "kind before it, or persistent ones (MPI_…_init) if it has a root",
    "not_ready": "a nonblocking call is scheduled once its communicator has a plan; make a blocking "
    "all-to-all, all-gather or barrier on it first",
    "two_level": "blocking calls of this kind are aggregated by host; nonblocking calls cannot be",
    "forwards": "ranks would have to forward messages while the program computes; initialise MPI with "
    "MPI_THREAD_MULTIPLE",
}


def _group(line: Line) -> tuple[str, str]:
    """The reason, and what is to be said of it."""
    return line.why, "--min-bytes" if line.why == "small" else line.detail


def advice(account: Account) -> list[str]:
    """A sentence for each reason that much of the time went to and that a user can remedy, the most first."""
    total = sum(line.mean for line in account.lines)
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    largest: defaultdict[tuple[str, str], int] = defaultdict(int)
    for line in account.lines:
        if line.scheduled:
            continue
        seconds[_group(line)] += line.mean
        largest[_group(line)] = max(largest[_group(line)], line.most)
    told = []
    for group, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        why, more = group
        helps = largest[group] >= _LEAST_WORTH_TRYING if why == "small" else why in _REMEDIES
        if spent < _NOTEWORTHY * total or not helps:
            continue
        remedy = _REMEDIES.get(why) or (
            f"their messages, of up to {format_bytes(largest[group])}, are below the limit: "
            f"try a smaller {more}"
        )
        if why != "small" and more:
            remedy = f"{more} ({remedy})"
        told.append(f"{spent / total:.0%} of the time went to calls that the MPI library served: {remedy}")
    return told


_CALLS: Final = {
    call: name for name in DEFAULT_CALLS for call in COLLECTIVES[name].mpi_calls.split(", ")
}  # of a rank's report, to the collective


@dataclass(frozen=True, slots=True)
class Launched:
    """``source``: the file or short form of ``network``; ``form``: the format that the job's launcher reads; ``slurm``:
    its hosts are those of a Slurm job, else of ``hostfile``, else those that ranks tell."""

    network: _core.Network
    source: str
    form: str
    hostfile: str | None
    slurm: bool


@dataclass(frozen=True, slots=True)
class OrderAdvice:
    """``gain``: of native calls, by link rates; ``hosts``: in the better order; ``command``: prints it, for ``use``."""

    gain: float
    call: str
    call_gain: float
    hosts: list[str]
    command: str
    use: str
    text: str

    def as_json(self) -> dict[str, Any]:
        return picked(self, "gain", "call", "call_gain", "hosts", "command", "use")


def order_advice(
    reports: Sequence[RankReport], account: Account, ranks: int, job: Launched
) -> OrderAdvice | None:
    """A better order for the collectives that the MPI library has served among all ranks, as scheduled calls do not
    depend on it; None if they took little time, if a rank tells no host of the network, or if no order is better."""
    if not (calls := _native(account, ranks)):
        return None
    hosts = {report.rank: job.network.match_host([report.host]) for report in reports if not report.spawned}
    if set(hosts) != set(range(ranks)) or any(len(one) != 1 for one in hosts.values()):
        return None
    nodes = [hosts[rank][0] for rank in range(ranks)]
    if (better := better_order(job.network, nodes, calls)) is None:
        return None
    command = command_for(
        job.source, job.form, hostfile=job.hostfile, slurm=job.slurm, hosts=sorted(better.hosts),
        ranks_per_host=ranks // len(better.hosts),
    )  # fmt: skip
    use = FORMATS[job.form].use
    text = f"{better.sentence()}: {command} > FILE; {use}"
    return OrderAdvice(better.gain, better.call, better.most, better.hosts, command, use, text)


def _native(account: Account, ranks: int) -> list[str]:
    """Collectives of all ranks that the library has served, if they took a noteworthy part of the time."""
    seconds: dict[str, float] = {}
    for line in account.lines:
        name = _CALLS.get(_blocking(line.call))
        if name is not None and not line.scheduled and line.communicator == ranks:
            seconds[name] = seconds.get(name, 0.0) + line.mean
    total = sum(line.mean for line in account.lines)
    return [name for name in DEFAULT_CALLS if seconds.get(name, 0.0) > _NOTEWORTHY * total]


def _blocking(call: str) -> str:
    """``MPI_Allgather`` for ``MPI_Iallgather``, ``MPI_Allgather_init_c``, ``MPI_Allgather_c``."""
    plain = call.removesuffix("_c").removesuffix("_init")
    return f"MPI_{plain[5:].capitalize()}" if plain.startswith("MPI_I") else plain
