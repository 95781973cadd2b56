"""The network, its paths, plans, and the order of the job's ranks on it."""

import datetime
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from hocket import _core
from hocket.demand.collectives import PLANNED_FOR_JOBS
from hocket.doctor.case import Case, Finding, note, ok, problem
from hocket.errors import HocketError, MissingToolError
from hocket.launch.environment import read_plan, run_demand
from hocket.launch.mpi import MpiFamily
from hocket.network import read_known_network
from hocket.network.chosen import job_hosts, slurm_lists
from hocket.network.path_probe import Probe, answers
from hocket.network.paths import Paths, asked_of, port_of
from hocket.order import JobHosts, listed_job, slurm_job
from hocket.order.formats import FORMATS
from hocket.order.gains import WORTH, better_order, command_for

_SAMPLE: Final = 8  # connections
_A_SECOND: Final = 80  # packets; switches answer 100 and more to a host
_AGAIN: Final = "find them again, a rank on each host: hocket network discover --paths NETWORK -o FILE"


def check_paths(network: _core.Network, paths: Paths, now: datetime.datetime) -> Iterator[Finding]:
    """``network``: without the paths. Asks routers if this is one of the hosts."""
    age = now - datetime.datetime.fromisoformat(paths.found)
    yield ok(f"{len(paths.pairs)} pairs of hosts, found {paths.found}, {_told(age)} ago")
    if paths.spraying:
        yield note("packets of one connection take several ways: no path can be held")
        return
    if (own := next((name for name, address in paths.addresses.items() if _is_own(address)), None)) is None:
        yield note("this is none of their hosts: whether they still hold is not known", "ask on a host")
        return
    expected, probes = [], []
    for to in sorted(to for of, to in paths.pairs if of == own)[:_SAMPLE]:
        index = next((i for i, way in enumerate(paths.pairs[own, to][0]) if way >= 0), None)
        hop, _ = asked_of(network, network.names.index(own), network.names.index(to))
        if index is None or not hop:
            continue
        port = port_of(list(paths.addresses).index(to), paths.ports, index)
        probes.append(Probe(paths.addresses[to], port, paths.listen, hop))
        expected.append((to, paths.ways[paths.pairs[own, to][0][index]]))
    try:
        heard = [paths.routers.get(address or "") for address in answers(probes, _A_SECOND)]
    except MissingToolError as error:
        yield note(error.what, error.remedy)
        return
    answered = sum(by is not None for by in heard)
    changed = [
        f"{own} to {to}: by {by}, was by {way}"
        for (to, way), by in zip(expected, heard, strict=True)
        if by is not None and by != way
    ]
    if not answered:
        yield note(f"no router answered {len(probes)} packets: whether they still hold is not known")
    elif changed:
        yield problem(
            f"{len(changed)} of {answered} connections asked take another way ({changed[0]})", _AGAIN
        )
    else:
        yield ok(f"{answered} of {len(probes)} connections asked take the way that was found")


def _is_own(address: str) -> bool:
    with (
        suppress(OSError),
        socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as handle,
    ):
        handle.bind((address, 0))
        return True
    return False


def _told(age: datetime.timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    return f"{hours // 24} days" if hours >= 48 else f"{hours} hours" if hours >= 2 else "minutes"


def check_network(case: Case) -> Iterator[Finding]:
    if case.network_file is None:
        if not case.plans:
            yield note("no network was given; network and placement were not checked",
                       "give one: --network FILE")  # fmt: skip
        return
    known = read_known_network(case.network_file, case.defaults, job_hosts(case.environment, case.hostfile))
    network = case.network = known.network
    hosts = sum(1 for ranks in network.ranks_per_node if ranks)
    yield ok(f"{case.network_file}: {hosts} hosts for {network.ranks} ranks")
    for warning in known.warnings:
        yield note(warning)
    if known.host_rates.provenance != "none":
        yield (note if known.host_rates.assumed else ok)(known.host_rates.text)
    if known.uplinks.assumed:
        yield note(known.uplinks.text)
    elif known.uplinks.switch_links:
        yield ok(known.uplinks.text)
    if (paths := known.description.paths) is not None:
        now = datetime.datetime.now(datetime.UTC)
        for finding in check_paths(known.without_paths().network, paths, now):
            yield replace(finding, topic="paths")
    if network.ranks > _core.limits.most_ranks_planned_for_run:
        yield note(
            f"with more than {_core.limits.most_ranks_planned_for_run} ranks, each communicator plans what it uses"
        )
        return
    for pattern in PLANNED_FOR_JOBS:
        demand = run_demand(network, pattern)
        try:
            yield ok(f"{pattern}: algorithm {_core.plan_exchange(network, demand).algorithm}")
        except _core.InputError as error:
            yield note(f"{pattern}: the MPI library serves it: {error}")


def check_plans(case: Case) -> Iterator[Finding]:
    for path in case.plans:
        plan = read_plan(path)
        planned = plan.network
        if case.network is None:
            case.network = planned
        elif planned.names != case.network.names or planned.ranks_per_node != case.network.ranks_per_node:
            yield problem(f"{path} was made for other hosts than the network's",
                          "plan again: hocket plan --network FILE -o PLAN")  # fmt: skip
            continue
        yield ok(f"{path}: {plan.demand.pattern} of {planned.ranks} ranks")


def check_order(case: Case) -> Iterator[Finding]:
    if case.network is None or case.network_file is None or case.placement not in ("names", "slurm", "order"):
        return
    slurm = case.hostfile is None and len(slurm_lists(case.environment)) == 1
    nodes = _nodes(case, slurm)
    if len(set(nodes)) < 3:
        return
    if (better := better_order(case.network, nodes)) is None:
        yield ok(f"no other order of the {len(set(nodes))} hosts makes native calls {WORTH:g} times as fast")
        return
    form = "slurm" if slurm else "openmpi-hostfile"
    if not slurm and (case.mpi is None or case.mpi.family is MpiFamily.MPICH):
        form = "mpich-hostfile"
    command = command_for(
        case.network_file, form, hostfile=case.hostfile, slurm=slurm,
        hosts=[] if case.placement == "order" else sorted(better.hosts), ranks_per_host=len(nodes) // len(set(nodes)),
    )  # fmt: skip
    yield note(better.sentence(), f"{command} > FILE; {FORMATS[form].use}")


def _nodes(case: Case, slurm: bool) -> list[int]:
    """The node of each rank: of the hosts that the job has, else of the ranks that were started. None where the
    placement cannot be told, of which other checks speak."""
    assert case.network is not None
    if case.placement == "order":
        return [case.network.host_of(rank) for rank in range(case.network.ranks)]
    job: JobHosts | None = None
    try:
        if case.hostfile is not None:
            job = listed_job(case.network, f"@{case.hostfile}", None)
        elif slurm:
            job = slurm_job(case.network, case.environment, None)
    except HocketError:
        return []
    if job is not None:
        counts = job.network.ranks_per_node
        return [node for node in job.nodes for _ in range(counts[node])]
    found = [
        case.network.match_host([name for name in (rank.name, rank.slurm_name) if name])
        for rank in case.ranks_told
    ]
    return [hosts[0] for hosts in found] if all(len(hosts) == 1 for hosts in found) else []
