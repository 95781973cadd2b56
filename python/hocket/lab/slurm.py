"""A real Slurm in a lab: munged, slurmctld on the first host, a slurmd on every host.

Nothing of the machine's own configuration is read or changed: key, sockets, spool and logs lie in the lab's temporary
directory. The daemons live in the lab's namespaces and end with it."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hocket.errors import MissingToolError, NetworkError
from hocket.lab.cluster import Lab
from hocket.launch.mpi import MpiFamily
from hocket.network.description import NetworkDescription
from hocket.network.parts import beside
from hocket.system.files import make_folders, write_new

TOOLS: Final = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
START_LIMIT: Final = 60.0  # seconds until every host must be idle
CONTROLLER_PORT, DAEMON_PORT = 6817, 6818  # Slurm's own defaults: every host has its own address
PMI: Final = {MpiFamily.MPICH: "pmi2", MpiFamily.OPENMPI: "pmix"}  # srun --mpi=
# Slurm's pmi2 reads lines of about a thousand characters. Over UCX MPICH's ranks tell each other more than fits, and
# wait for ever in MPI_Init, or do not, as it happens: what follows the addresses in memory is sent, too.
NETMOD: Final = ("MPIR_CVAR_CH4_NETMOD", "ofi")
_TREES: Final = "give a tree of switches with hosts at the leaf switches only, such as star:8 or tree:4x8"
_SYSTEM: Final = ("/usr/sbin", "/sbin")


def tool(name: str) -> str:
    """The path of one of Slurm's programs. Raises :class:`MissingToolError`."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *_SYSTEM]))
    if found is None:
        raise MissingToolError(
            f"{name} was not found", remedy="install Slurm (Debian: slurmctld, slurmd, slurm-client, munge)"
        )
    return found


def topology(network: NetworkDescription) -> str:
    """``topology.conf`` of a tree: hosts at the leaf switches.

    Raises :class:`NetworkError` where Slurm has no form for it: a switch with hosts and switches below it, a cycle."""
    if len(network.links) >= len(network.nodes):
        raise NetworkError("with --slurm switches are wired as a tree", remedy=_TREES)
    hosts = {node.name for node in network.nodes if node.is_host}
    around = beside(network.nodes, network.links)
    switches = [node.name for node in network.nodes if not node.is_host]
    leaves = {name for name in switches if any(peer in hosts for peer in around[name])}
    upper = [name for name in switches if name not in leaves]
    root = _root(switches, upper, around)
    lines, above, queue = [], {root: ""}, [root]
    for name in queue:
        below = [peer for peer in around[name] if peer != above[name]]
        nodes = [peer for peer in below if peer in hosts]
        further = [peer for peer in below if peer not in hosts]
        if nodes and further:
            raise NetworkError(
                f"switch {name} has hosts and switches below it, which Slurm's topology.conf cannot say",
                remedy=_TREES,
            )
        above.update(dict.fromkeys(further, name))
        queue += further
        lines.append(f"SwitchName={name} {'Nodes' if nodes else 'Switches'}={','.join(nodes or further)}")
    return "\n".join(lines) + "\n"


def _root(switches: list[str], upper: list[str], around: dict[str, list[str]]) -> str:
    """The middle of the tree of switches: the last that is left when ends are taken off."""
    if not switches:
        raise NetworkError("a network without a switch", remedy="give a network with a switch")
    left = set(switches)
    degree = {name: sum(peer in left for peer in around[name]) for name in switches}
    while len(left) > 2 or (len(left) == 2 and left & set(upper) and left - set(upper)):
        ends = [name for name in left if degree[name] <= 1]
        if len(left) <= 2:  # a leaf switch and one above it
            ends = [name for name in ends if name not in upper]
        for name in ends:
            left.discard(name)
            for peer in around[name]:
                if peer in left:
                    degree[peer] -= 1
    return next(name for name in switches if name in left)


def configuration(cluster: Lab, folder: Path) -> str:
    """``slurm.conf``: no cgroups, no accounting, no user but root."""
    hosts = cluster.state.hosts
    lines = [
        "ClusterName=lab",
        f"SlurmctldHost={hosts[0].name}({hosts[0].address.partition('/')[0]})",
        "SlurmUser=root",
        "SlurmdUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge.socket",
        "CredType=cred/munge",
        f"SlurmctldPort={CONTROLLER_PORT}",
        f"SlurmdPort={DAEMON_PORT}",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool-%n",
        f"TmpFS={folder}/spool-%n",  # where PMIx keeps what the hosts of a step must not share
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid",
        f"SlurmctldLogFile={folder}/slurmctld.log",
        f"SlurmdLogFile={folder}/slurmd-%n.log",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU",
        "TopologyPlugin=topology/tree",
        "SwitchType=switch/none",
        "MpiDefault=none",
        "SlurmdParameters=config_overrides",  # a host has as many cores as ranks, whatever the machine has
        "EnforcePartLimits=ALL",  # what can never run is refused; it would wait for ever
        "ReturnToService=2",
        "SchedulerType=sched/builtin",
    ]
    lines += [
        f"NodeName={host.name} NodeAddr={host.address.partition('/')[0]} CPUs={host.ranks} State=UNKNOWN"
        for host in hosts
    ]
    names = ",".join(host.name for host in hosts)
    lines.append(f"PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP")
    return "\n".join(lines) + "\n"


@contextmanager
def slurm(cluster: Lab, network: NetworkDescription) -> Iterator[dict[str, str]]:
    """Slurm on every host of ``cluster`` while the context lasts; yields the variables that its users need.

    Raises :class:`MissingToolError` where Slurm is not installed or does not come up in ``START_LIMIT`` seconds, and
    :class:`NetworkError` as :func:`topology`."""
    paths = {name: tool(name) for name in TOOLS}
    text = topology(network)
    folder = Path(cluster.state.tmp) / "slurm"
    for each in (folder, folder / "state", *(folder / f"spool-{host.name}" for host in cluster.state.hosts)):
        make_folders(each)
    (folder / "munge.key").touch(mode=0o600)
    (folder / "munge.key").write_bytes(os.urandom(128))
    write_new(folder / "topology.conf", text)
    conf = folder / "slurm.conf"
    write_new(conf, configuration(cluster, folder))
    # slurmd loads a cgroup plugin though nothing asks for one; that of version 1 looks at none before it is used.
    write_new(folder / "cgroup.conf", f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={folder}/cgroup\n")
    name, netmod = NETMOD
    variables = {"SLURM_CONF": str(conf), name: os.environ.get(name, netmod)}
    environment = {**os.environ, **cluster.environment(), **variables}
    first = cluster.state.hosts[0].name
    munged = [paths["munged"], "--foreground", "--force", "--num-threads=2"]
    munged += [
        f"--{what}={folder}/munge.{end}"
        for what, end in [
            ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"),
        ]
    ]  # fmt: skip
    commands = [(first, "munged", munged), (first, "slurmctld", [paths["slurmctld"], "-D", "-f", str(conf)])]
    commands += [
        (host.name, f"slurmd-{host.name}", [paths["slurmd"], "-D", "-N", host.name, "-f", str(conf)])
        for host in cluster.state.hosts
    ]
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for host, name, command in commands:
            with (folder / f"{name}.out").open("wb") as output:
                daemons.append(
                    subprocess.Popen(
                        cluster.host_command(host, command),
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        env=environment,
                        start_new_session=True,
                    )
                )
            if name == "munged":
                _wait_for(folder / "munge.socket")
        _wait_until_idle(cluster, [*cluster.host_command(first, [paths["sinfo"], "-h", "-N", "-o", "%N %t"])],
                         environment, folder)  # fmt: skip
        yield variables
    finally:
        # Daemons first hear of it: the lab would kill them anyway, with what they have started.
        for daemon in daemons:
            daemon.terminate()
        cluster.state.kill_processes()
        for daemon in daemons:
            daemon.wait()


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + START_LIMIT
    while not path.exists():
        if time.monotonic() > deadline:
            raise MissingToolError("munged does not come up", remedy=f"see {path.with_suffix('.log')}")
        time.sleep(0.02)


def _wait_until_idle(cluster: Lab, command: list[str], environment: dict[str, str], folder: Path) -> None:
    """Wait until sinfo reports every host idle."""
    deadline = time.monotonic() + START_LIMIT
    wanted = {f"{host.name} idle" for host in cluster.state.hosts}
    while True:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, check=False
        )
        if wanted <= set(done.stdout.splitlines()):
            return
        if time.monotonic() > deadline:
            raise MissingToolError(
                f"Slurm does not come up in {START_LIMIT:.0f} s: {_last(folder, done.stderr)}",
                remedy="look whether its version is 22.05 or later and has auth/munge and topology/tree",
            )
        time.sleep(0.1)


def _last(folder: Path, otherwise: str) -> str:
    """The last error that a daemon has logged."""
    for path in (
        folder / "slurmctld.log",
        *sorted(folder.glob("slurmd-*.log")),
        *sorted(folder.glob("*.out")),
    ):
        if path.exists():
            errors = [
                line for line in path.read_text(errors="replace").splitlines() if "error" in line.lower()
            ]
            if errors:
                return errors[-1][:300]
    return otherwise.strip()[-300:]
