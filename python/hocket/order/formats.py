"""Orders as whoever starts the ranks reads them."""

import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hocket.order.job import Ordered

_ADDRESS: Final = re.compile(r"[0-9.]+|.*:.*")  # Open MPI leaves addresses as they are


@dataclass(frozen=True, slots=True)
class Format:
    """``whole_hosts``: it can only list hosts, which ranks fill one after the other. ``tools``: one of them reads it.
    ``use``: how, for FILE and N ranks."""

    whole_hosts: bool
    tools: tuple[str, ...]
    use: str
    text: Callable[[Ordered], str]

    def hint(self, order: Ordered) -> str:
        """A setting that its readers need, which the file tells, too; mostly none."""
        return _cut_names(order) if self.text in (_rankfile, _hostfile) else ""

    @property
    def missing(self) -> str:
        """The tools where none of them is on PATH here; empty if one is, or none is needed."""
        if not self.tools or any(shutil.which(tool) for tool in self.tools):
            return ""
        return " or ".join(self.tools)


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _per_rank(order: Ordered) -> str:
    return _lines(order.hosts)


def _nodes(order: Ordered) -> str:
    return _lines([host for host, _ in order.blocks])


def _cut_names(order: Ordered) -> str:
    """The setting by which Open MPI takes hosts with one first label for several; empty if there are none."""
    names = {name for name in order.hosts if not _ADDRESS.fullmatch(name)}
    if len({name.partition(".")[0] for name in names}) == len(names):
        return ""
    return (
        "Open MPI cuts host names at the first dot, which makes one host of several; set "
        "PRTE_MCA_prte_keep_fqdn_hostnames=1 and PMIX_MCA_pmix_keep_fqdn_hostnames=1 "
        "(Open MPI 4: OMPI_MCA_orte_keep_fqdn_hostnames=1)"
    )


def _for_openmpi(order: Ordered, lines: list[str]) -> str:
    hint = _cut_names(order)
    return _lines([f"# {hint}", *lines] if hint else lines)


def _rankfile(order: Ordered) -> str:
    """Slots of a host are its cores: every rank of a host has its own."""
    taken: Counter[str] = Counter()
    lines = []
    for rank, host in enumerate(order.hosts):
        lines.append(f"rank {rank}={host} slot={taken[host]}")
        taken[host] += 1
    return _for_openmpi(order, lines)


def _hostfile(order: Ordered) -> str:
    return _for_openmpi(order, [f"{host} slots={ranks}" for host, ranks in order.blocks])


FORMATS: Final[dict[str, Format]] = {
    "slurm": Format(False, ("srun",), "SLURM_HOSTFILE=FILE srun --distribution=arbitrary -n N PROGRAM", _per_rank),
    "openmpi-rankfile": Format(
        False, ("mpirun", "mpiexec"),
        "mpirun --hostfile HOSTS --map-by rankfile:file=FILE -n N PROGRAM (Open MPI 4: --rankfile FILE)", _rankfile,
    ),
    "openmpi-hostfile": Format(
        True, ("mpirun", "mpiexec"), "mpirun --hostfile FILE --map-by slot -n N PROGRAM", _hostfile,
    ),
    "mpich-hostfile": Format(
        True, ("mpiexec", "mpiexec.hydra"), "mpiexec -f FILE -n N PROGRAM",
        lambda order: _lines([f"{host}:{ranks}" for host, ranks in order.blocks]),
    ),
    "hydra": Format(
        True, ("mpiexec", "mpiexec.hydra"), "mpiexec -hosts $(cat FILE) -n N PROGRAM",
        lambda order: ",".join(f"{host}:{ranks}" for host, ranks in order.blocks) + "\n",
    ),
    "pbs": Format(False, ("mpiexec", "mpirun"), "PBS_NODEFILE=FILE mpiexec -n N PROGRAM", _per_rank),
    "kubernetes": Format(
        True, (), "mpirun --hostfile FILE --map-by slot -n N PROGRAM in the launcher's pod (MPIJob, JobSet), in place "
        "of /etc/mpi/hostfile", _hostfile,
    ),
    "volcano": Format(
        True, (), "mpiexec --hostfile FILE in the master's task, in place of /etc/volcano/worker.host", _nodes,
    ),
    "torchrun": Format(
        True, (), "torchrun --node-rank R on the host of line R, counted from 0; --master-addr: the first line", _nodes,
    ),
    "ray": Format(
        True, (), "rank R asks for {'node:ADDRESS': 0.001} of line R, counted from 0", _nodes,
    ),
    "plain": Format(False, (), "a host for each rank, as --placement FILE reads it", _per_rank),
}  # fmt: skip
