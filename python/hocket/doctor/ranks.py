"""A few ranks that are started, without Hocket and with it: whether they run, where they are, whether data arrive."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from hocket import _core
from hocket.doctor.case import Case, Finding, Rank, note, ok, problem
from hocket.doctor.installation import ENABLE
from hocket.errors import HocketError
from hocket.launch import Done, TimedOutError, captured
from hocket.launch.environment import RuntimeOptions, is_disabled, scheduled_environment
from hocket.launch.mpi import launch_command, mpi4py_environment
from hocket.launch.runtime.build import PRELOAD, digest_of, others
from hocket.launch.runtime.compiling import Wrapper, compile_native
from hocket.network import read_network
from hocket.system.cache import build_once
from hocket.system.text import and_more, counted

FEW_RANKS = 16  # unless the user says how many
_NAME = "hocket-probe"
_SOURCE = Path(__file__).with_name("probe.c")


def probe_of(case: Case) -> list[str] | None:
    """The command of the probe: probe.c, or probe.py where there is no compiler; None where mpi4py lacks, too."""
    assert case.mpi is not None
    if case.wrapper is not None:
        return [str(_build_probe(case.wrapper))]
    if find_spec("mpi4py") is None:
        return None
    library = [f"{name}={value}" for name, value in mpi4py_environment(case.mpi).items()]
    return ["env", *library, sys.executable, str(_SOURCE.with_suffix(".py"))]


def _build_probe(wrapper: Wrapper) -> Path:
    """The MPI program of probe.c, where all hosts see it."""

    def build(folder: Path, work: Path) -> None:
        command = [wrapper.path, "-x", "c", "-O1", str(_SOURCE), "-o", str(folder / _NAME)]
        compile_native(command, wrapper.environment, work)

    return build_once(f"probe-{digest_of([wrapper.identity], [_SOURCE])}", [_NAME], build) / _NAME


def rank_count(case: Case) -> int:
    if case.ranks is not None:
        return case.ranks
    return min(case.network.ranks, FEW_RANKS) if case.network else 4


def start(case: Case, variables: Mapping[str, str], argv: Sequence[str]) -> Done:
    """Runs ``argv`` in every rank, with ``variables`` and without what ``hocket env`` has preloaded. Raises HocketError
    if the launcher fails or is not done in time."""
    assert case.mpi is not None
    count = rank_count(case)
    command = launch_command(case.mpi, count, (), variables, argv, hostfile=case.hostfile)
    try:
        done = captured(command, {**case.environment, PRELOAD: ":".join(others())}, case.seconds)
    except TimedOutError:
        raise HocketError(
            f"{count} ranks of {Path(argv[0]).name} were not done in {case.seconds:g} s",
            remedy="check that the hosts can be reached without a password and that their names resolve; "
            f"try by hand: {command[0]} -n {count} {argv[0]}; or give more time: --seconds",
        ) from None
    if done.returncode != 0:
        last = [
            line for line in (done.stderr.strip() or done.stdout.strip()).splitlines() if line.strip(" -=")
        ]
        raise HocketError(
            f"{Path(command[0]).name} failed with code {done.returncode}: {' '.join(last[:3])[:300]}",
            remedy=f"make this work first: {command[0]} -n {count} {argv[0]}",
        )
    return done


def ranks_in(output: str) -> list[Rank]:
    """The probe's lines, in the order of the ranks; what else the launcher prints does not count."""
    found = []
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and fields[0] == _NAME and fields[1].isdecimal():
            found.append(Rank(int(fields[1]), fields[2] == "right", fields[3], fields[4]))
    return sorted(found, key=lambda rank: rank.rank)


def check_launcher(case: Case) -> Iterator[Finding]:
    if case.mpi is None:
        return
    start(case, {}, ["uname", "-n"])
    if (probe := probe_of(case)) is None:
        yield note("starts ranks; without a compiler and mpi4py none was started that calls MPI",
                   "pip install 'hocket[mpi4py]', or install a C++ compiler")  # fmt: skip
        return
    told = ranks_in(start(case, {}, probe).stdout)
    count = rank_count(case)
    again = "check that mpiexec, mpicc and the MPI library that ranks load are of one installation"
    if [rank.rank for rank in told] != list(range(count)):
        singles = (
            "each rank believes it is alone"
            if told and not any(rank.rank for rank in told)
            else "some are missing"
        )
        yield problem(f"{count} ranks were started, {len(told)} told of themselves: {singles}", again)
        return
    if not all(rank.right for rank in told):
        yield problem("an all-to-all of the MPI library delivers wrong bytes", again)
        return
    case.probe = probe
    case.ranks_told = told
    hosts = counted(len({rank.name for rank in told}), "host")
    yield ok(f"starts {count} ranks on {hosts}, and their all-to-all is right")


_REMEDY = (
    "write whole names into the network file; or give --placement FILE with one name of the network per rank"
)


def check_placement(case: Case) -> Iterator[Finding]:
    if case.network is None or not case.ranks_told:
        return
    if case.placement not in ("names", "slurm"):
        return  # 'hocket run' checks files and order before anything starts, and so does the probe
    told, names = case.ranks_told, case.network.names
    hosts_of = {rank.rank: case.network.match_host(_names(rank, case.placement)) for rank in told}
    unknown = [rank for rank in told if not hosts_of[rank.rank]]
    uncertain = [rank for rank in told if len(hosts_of[rank.rank]) > 1]
    torn = _torn(told, hosts_of)
    if uncertain:
        either = " or ".join(names[host] for host in hosts_of[uncertain[0].rank][:2])
        yield problem(f"{_ranks(uncertain, told)} may run on {either}", _REMEDY)
    if torn:
        claimed = and_more([names[host] for host in torn])
        yield problem(f"several machines are called {claimed}", _REMEDY)
    if not (unknown or uncertain or torn):
        yield ok(f"the network knows the hosts of all {len(told)} ranks")
    if not unknown:
        return
    hosts_known = [names[host] for host in case.network.hosts]
    what = "processor names" if case.placement == "names" else "names from Slurm"
    hosts = sorted({_name(rank, case.placement) or "(none)" for rank in unknown})
    yield problem(
        f"{_ranks(unknown, told)} run on hosts that the network does not have: their {what} are "
        f"{and_more(hosts)}; the network has {and_more(hosts_known)}",
        "write these names into the network file; or give --placement FILE with one name of the network per "
        "rank, or --placement order if ranks fill the hosts in order",
    )


def _name(rank: Rank, placement: str) -> str:
    return rank.slurm_name if placement == "slurm" else rank.name


def _names(rank: Rank, placement: str) -> list[str]:
    """The best first, as the runtime asks for them."""
    names = [rank.slurm_name] if placement == "slurm" else [rank.name, rank.slurm_name]
    return [name for name in names if name]


def _torn(told: Sequence[Rank], hosts_of: Mapping[int, Sequence[int]]) -> list[int]:
    """Hosts that machines of different names claim."""
    machines: dict[int, set[str]] = {}
    for rank in told:
        if len(hosts_of[rank.rank]) == 1:
            machines.setdefault(hosts_of[rank.rank][0], set()).add(rank.name)
    return [host for host, claiming in machines.items() if len(claiming) > 1]


def _ranks(some: Sequence[Rank], told: Sequence[Rank]) -> str:
    return f"{len(some)} of {len(told)} ranks ({and_more([str(rank.rank) for rank in some])})"


def check_scheduled(case: Case) -> Iterator[Finding]:
    """Check that an exchange is scheduled. Without a network, one is invented with a host for each rank."""
    if case.mpi is None or case.probe is None or case.runtime is None:
        return
    if is_disabled(case.environment):
        yield note("no call was scheduled, because HOCKET_DISABLE=1 is set", ENABLE)
        return
    count = rank_count(case)
    invented = case.network is None
    network = read_network(f"star:{max(count, 2)}") if case.network is None else case.network
    options = RuntimeOptions(placement="order" if invented else case.placement, min_bytes=1, log=1)
    variables = scheduled_environment(case.mpi.mpicc, network, options, case.plans, count)
    done = start(case, variables, case.probe)
    told = ranks_in(done.stdout)
    said = [line.removeprefix("hocket: ") for line in done.stderr.splitlines() if line.startswith("hocket: ")]
    if len(told) != count or not all(rank.right for rank in told):
        yield problem(
            "with Hocket the probe's all-to-all delivers wrong bytes",
            "do not use Hocket with this MPI, and report this with what 'hocket doctor --json' prints",
        )
        return
    on = " on an invented network" if invented else ""
    for line in said:
        if line.startswith("all-to-all of "):
            yield ok(f"{line}{on}, every byte right")
            return
    told_before = _core.Variable.complaints([f"{name}={value}" for name, value in case.environment.items()])
    if reasons := [line for line in said if line not in told_before]:
        yield problem(f"the MPI library served the all-to-all: {reasons[0]}",
                      "follow the advice of this line and those above")  # fmt: skip
    elif count < 3:
        yield note("with fewer than three ranks there is nothing to schedule", "give more: -n RANKS")
    elif case.placement == "names" and len({rank.name for rank in told}) == 1:
        yield note("all ranks are on one host, so there was nothing to schedule",
                   "start them on several: --hostfile FILE")  # fmt: skip
    else:
        yield problem(
            "the MPI library served the all-to-all, and the preload library said nothing",
            "check that the launcher hands LD_PRELOAD to its ranks",
        )
