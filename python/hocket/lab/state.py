"""Options and state of a lab, kept outside its process so that anyone can remove the lab.

A lab's directory (``/run/hocket/ID``) is written before the first namespace is made and deleted after the last is gone.
"""

import json
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from hocket.errors import UsageError
from hocket.lab import namespaces
from hocket.network import Defaults, NetworkDescription
from hocket.network.uplinks import apply_options
from hocket.system.files import make_folders, write_new

BURST = 10_240  # bytes that a link may send at once; the shaper's token bucket
MAX_RATE = 4e9  # bytes/s: the shaper's rate is a 32-bit number
MOST_HOSTS = 512  # every host knows every other: 512 take a minute to build, and it grows by the square
MOST_RANKS = 1024  # processes of one machine


@dataclass(frozen=True, slots=True)
class LabOptions:
    """Parameters of the emulated links.

    ``rate``: bytes/s of every link, or None for the rates of the network. ``uplink_rate`` and ``oversubscription``: of
    links between switches, as in :class:`hocket.network.Defaults`. ``buffer``: bytes that each port may queue.
    ``congestion_control``: TCP's, set in each host. ``mtu``: bytes of an IP packet. ``ecmp``: switches are routers, and
    a hash of addresses and ports chooses among equally short ways; ``ecmp_seed``: of the hash, or None for the kernel's
    own."""

    rate: float | None = None
    buffer: int = 60_000
    congestion_control: str = "cubic"
    mtu: int = 1500
    uplink_rate: float | None = None
    oversubscription: tuple[float, ...] | Literal["auto"] = "auto"
    ecmp: bool = False
    ecmp_seed: int | None = None

    def check(self) -> None:
        """Raise :class:`UsageError` on values that no switch could have."""
        if not 576 <= self.mtu <= 9216:
            raise UsageError(f"--mtu {self.mtu} is out of range", remedy="choose 576 to 9216 bytes")
        if self.rate is not None:
            check_rate(self.rate, "the lab's rate")
        if not self.mtu + 18 <= self.buffer <= 1 << 30:
            raise UsageError(
                f"--buffer: a port of {self.buffer} bytes is out of range",
                remedy=f"choose at least one packet ({self.mtu + 18} bytes) and at most 1 GiB",
            )
        if self.ecmp_seed is not None and not self.ecmp:
            raise UsageError("--ecmp-seed: bridges do not hash", remedy="say --ecmp, too")
        if not re.fullmatch(r"[a-z0-9_]+", self.congestion_control):
            raise UsageError(
                f"--cc: '{self.congestion_control}' is not a known congestion control",
                remedy="choose for example cubic or reno",
            )

    def wired(self, network: NetworkDescription) -> NetworkDescription:
        """The network with the rates of the lab's wires."""
        links = [replace(link, rate=self.rate or link.rate) for link in network.links]
        wired = replace(network, links=links)
        says = Defaults(uplink_rate=self.uplink_rate, oversubscription=self.oversubscription)
        apply_options(wired, says)
        return wired


def check_ranks(ranks: int | None, held: int) -> int:
    """Number of ranks to start on hosts that hold ``held``. Raises :class:`UsageError` if that is impossible."""
    count = held if ranks is None else ranks
    most = min(held, MOST_RANKS)
    if 1 <= count <= most:
        return count
    if count > MOST_RANKS:
        raise UsageError(
            f"{count:,} ranks are too many for a lab, which is one machine",
            remedy=f"start at most {most:,} ranks with -n",
        )
    raise UsageError(f"{count:,} ranks do not fit", remedy=f"the lab's hosts hold 1 to {held:,} ranks")


def check_rate(rate: float, what: str) -> None:
    """Raise :class:`UsageError` unless the shaper can do ``rate`` bytes/s."""
    if not 1e3 <= rate <= MAX_RATE:
        raise UsageError(
            f"{what}, {rate:g} bytes/s, is out of the lab's range",
            remedy="use --rate with 8Kbit to 32Gbit (50Mbit suits 32 hosts on two cores)",
        )


STATE_DIR = Path("/run/hocket")
STATE_FILE = "lab.json"


@dataclass(frozen=True, slots=True)
class LabNode:
    """A host (``ranks`` >= 1, with its IP ``address``) or a switch (``ranks`` == 0) of a lab."""

    name: str
    ranks: int = 0
    address: str = ""


@dataclass(slots=True)
class LabState:
    """State of a lab. ``owner`` is (process id, its start time in clock ticks), or None: stays until taken down."""

    id: str
    nodes: list[LabNode]
    tmp: str
    owner: tuple[int, int] | None = None
    network: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        """The lab's directory."""
        return STATE_DIR / self.id

    @property
    def hosts(self) -> list[LabNode]:
        """Hosts in rank order."""
        return [node for node in self.nodes if node.ranks]

    def net(self, node: LabNode) -> Path:
        """File of the node's network namespace."""
        return namespaces.NETNS_DIR / f"hkt-{self.id}-{node.name}"

    def uts(self, node: LabNode) -> Path:
        """File of the host's UTS namespace."""
        return self.directory / f"{node.name}.uts"

    def nets(self) -> list[Path]:
        """Files of all network namespaces."""
        return [self.net(node) for node in self.nodes]

    def environment(self) -> dict[str, str]:
        """Environment of the lab's processes, by which the agent finds the lab."""
        return {"HOCKET_LAB": str(self.directory)}

    @property
    def agent(self) -> str:
        """The agent by a path without blanks, at which launchers would split it, wherever Hocket is installed."""
        return str(self.directory / "agent")

    def processes(self) -> list[int]:
        """Ids of all processes of the lab."""
        return namespaces.processes(self.nets(), self._mark())

    def kill_processes(self) -> None:
        """End all processes of the lab; a launcher that is still on its way into its host, too."""
        namespaces.kill_processes(self.nets(), self._mark())

    def _mark(self) -> str:
        return f"HOCKET_LAB={self.directory}"

    def save(self) -> None:
        """Write the state file and the directory for temporary files."""
        make_folders(self.directory)
        part = self.directory / (STATE_FILE + ".part")
        write_new(part, json.dumps(asdict(self)))
        part.rename(self.directory / STATE_FILE)
        write_new(self.directory / "tmp", self.tmp + "\n")
        with suppress(FileExistsError):
            Path(self.agent).symlink_to(Path(__file__).with_name("agent.sh"))
        names = "".join(f"{host.address.split('/')[0]} {host.name}\n" for host in self.nodes if host.address)
        write_new(self.directory / "hosts", "127.0.0.1 localhost\n" + names)
        for host in self.hosts:
            make_folders(Path(self.tmp) / host.name)

    def is_stale(self) -> bool:
        """Return true if the process that owns the lab is gone."""
        return self.owner is not None and start_time(self.owner[0]) != self.owner[1]


def start_time(pid: int) -> int:
    """Start time of process ``pid``, in clock ticks since boot; 0 if there is none."""
    with suppress(OSError, ValueError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[19])
    return 0


def load(lab_id: str) -> LabState:
    """The lab ``lab_id``; raises :class:`UsageError` when there is none."""
    try:
        if not re.fullmatch("[0-9a-f]+", lab_id):
            raise ValueError(lab_id)
        data = json.loads((STATE_DIR / lab_id / STATE_FILE).read_text(encoding="utf-8"))
        nodes = [LabNode(**node) for node in data.pop("nodes")]
        owner = data.pop("owner")
        return LabState(nodes=nodes, owner=tuple(owner) if owner else None, **data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"there is no lab '{lab_id}'", remedy="'hocket lab status' lists the labs of this machine"
        ) from error


def all_labs() -> list[LabState]:
    """Every lab of this machine."""
    labs = []
    if STATE_DIR.is_dir():
        for entry in sorted(STATE_DIR.iterdir()):
            with suppress(UsageError):
                labs.append(load(entry.name))
    return labs


def take_down(state: LabState) -> None:
    """Kill everything inside the lab and remove it. May be repeated."""
    state.kill_processes()
    for node in state.nodes:
        namespaces.remove(state.net(node))
        namespaces.remove(state.uts(node))
    shutil.rmtree(state.tmp, ignore_errors=True)
    shutil.rmtree(state.directory, ignore_errors=True)


def down_all(*, only_stale: bool = False) -> list[str]:
    """Remove every lab (or every one whose owner is dead); returns their ids."""
    gone = []
    for state in all_labs():
        if not only_stale or state.is_stale():
            take_down(state)
            gone.append(state.id)
    return gone
