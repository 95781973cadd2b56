"""Check that no other order of the job's hosts is much better for the MPI library's own calls."""

from __future__ import annotations

from collections.abc import Iterator

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok
from hocket.errors import HocketError
from hocket.launch.mpi import MpiFamily
from hocket.network.chosen import slurm_lists
from hocket.order import JobHosts, listed_job, slurm_job
from hocket.order.better import WORTH, better_order, command_for
from hocket.order.formats import FORMATS


def check_order(case: Case) -> Iterator[Finding]:
    if case.network is None or case.network_file is None or case.placement not in ("names", "slurm", "order"):
        return
    slurm = case.hostfile is None and len(slurm_lists(case.environment)) == 1
    nodes = _nodes(case, slurm)
    if len(set(nodes)) < 3:
        return
    better = better_order(case.network, nodes)
    if better is None:
        yield ok(
            "order",
            f"no other order of the {len(set(nodes))} hosts makes native calls {WORTH:g} times as fast",
        )
        return
    form = "slurm" if slurm else "openmpi-hostfile"
    if not slurm and (case.mpi is None or case.mpi.family is MpiFamily.MPICH):
        form = "mpich-hostfile"
    command = command_for(
        case.network_file, form, hostfile=case.hostfile, slurm=slurm,
        hosts=[] if case.placement == "order" else sorted(better.hosts), ranks_per_host=len(nodes) // len(set(nodes)),
    )  # fmt: skip
    yield note("order", better.sentence(), f"{command} > FILE; {FORMATS[form].use}")


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
