"""InfiniBand fabrics without hardware: ibsim answers for switches and hosts, opensm routes, the real tools record.

Needs Debian's ``ibsim-utils``, ``opensm`` and ``infiniband-diags``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hocket.network import read_network_description

TOOLS: Final = ("ibsim", "ibsim-run", "opensm", "ibnetdiscover", "dump_fts")
ENGINES: Final = ("minhop", "updn", "ftree", "dfsssp", "dor")
_PATH: Final = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_MOST_PORTS: Final = 64_000


def missing() -> list[str]:
    """The tools that this machine lacks."""
    return [tool for tool in TOOLS if shutil.which(tool, path=_PATH) is None]


@dataclass
class Fabric:
    """Cables in the order in which they take the ports of their ends, from 1 on."""

    hosts: list[str]
    switches: list[str]
    cables: list[tuple[str, str]]
    descriptions: dict[str, str] = field(default_factory=dict)  # of nodes that differ from their names
    speeds: dict[tuple[str, str], str] = field(default_factory=dict)  # of cables, such as 4xEDR
    default_speed: str = "4xHDR"  # the fastest that ibsim 0.10 knows

    def text(self) -> str:
        """Input of ``ibsim``: every cable at both of its ends."""
        ports: dict[str, list[tuple[str, int, str]]] = {name: [] for name in (*self.hosts, *self.switches)}
        for a, b in self.cables:
            speed = self.speeds.get((a, b), self.default_speed)
            at, there = len(ports[a]) + 1, len(ports[b]) + 1
            ports[a].append((b, there, speed))
            ports[b].append((a, at, speed))
        lines = []
        for kind, names in (("Switch", self.switches), ("Hca", self.hosts)):
            for name in names:
                count = max(len(ports[name]), 36 if kind == "Switch" else 1)
                lines.append(f'{kind}\t{count} "{name}"\t\t# "{self.descriptions.get(name, name)}"')
                own = "lid 0 lmc 0 " if kind == "Hca" else ""
                for number, (other, port, speed) in enumerate(ports[name], 1):
                    lines.append(f'[{number}]\t"{other}"[{port}]\t\t# {own}"{other}" lid 0 {speed}')
                lines.append("")
        return "\n".join(lines)


def of_short_form(form: str) -> Fabric:
    """A fat tree, dragonfly or tree as ``hocket`` numbers it."""
    network = read_network_description(form)
    hosts = [node.name for node in network.nodes if node.is_host]
    switches = [node.name for node in network.nodes if not node.is_host]
    cables = []
    for link in network.links:
        wide = round(link.rate / min(other.rate for other in network.links))
        cables += [(link.a, link.b)] * wide
    return Fabric(hosts, switches, cables)


def torus(sides: Sequence[int], hosts: int = 1) -> Fabric:
    """Switches in a torus with ``hosts`` each. The ports of a dimension have the same numbers everywhere, which
    dimension-order routing goes by."""
    places = list(itertools.product(*map(range, sides)))
    names = {place: "s" + "-".join(map(str, place)) for place in places}
    fabric = Fabric([], list(names.values()), [])
    for dimension, side in enumerate(sides):
        # Even ports up, odd ports down: rounds of cables, so that both ends count alike.
        for place in places:
            up = (*place[:dimension], (place[dimension] + 1) % side, *place[dimension + 1 :])
            fabric.cables.append((names[place], names[up]))
    for place in places:
        for _ in range(hosts):
            host = f"n{len(fabric.hosts)}"
            fabric.hosts.append(host)
            fabric.cables.append((names[place], host))
    return fabric


@contextlib.contextmanager
def running(fabric: Fabric, folder: Path) -> Iterator[dict[str, str]]:
    """A simulator of the fabric; the environment of those who ask it."""
    net = folder / "net"
    net.write_text(fabric.text())
    environment = os.environ | {
        "PATH": _PATH,
        "IBSIM_SOCKNAME": f"hocket-{os.getpid()}-{time.monotonic_ns()}",
        "SIM_HOST": fabric.hosts[0],
        "OSM_CACHE_DIR": str(folder),
        "OSM_TMP_DIR": str(folder),
    }
    command = ["ibsim", "-s", "-n", "-N", "4096", "-S", "2048", "-P", str(_MOST_PORTS), str(net)]
    with (
        (folder / "ibsim.log").open("w") as log,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log
        ) as simulator,
    ):
        try:
            time.sleep(0.3)
            yield environment
        finally:
            simulator.kill()


def asked(environment: dict[str, str], command: Sequence[str], limit: float) -> str:
    """Standard output of a tool in the simulated fabric. ``limit``: seconds, after which it is killed."""
    done = subprocess.run(
        ["ibsim-run", *command], env=environment, capture_output=True, text=True, timeout=limit, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def recorded(fabric: Fabric, engine: str, options: Sequence[str] = (), limit: float = 120) -> tuple[str, str]:
    """Output of ``ibnetdiscover`` and ``dump_fts`` after ``opensm`` has routed by ``engine``. ``limit``:
    seconds of each tool; ``options`` are opensm's."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with running(fabric, folder) as environment:
            log = str(folder / "opensm.log")
            asked(environment, ["opensm", "-R", engine, "-e", "-o", "-f", log, *options], limit)
            said = Path(log).read_text(errors="replace")
            if f"{engine} tables configured" not in said:
                raise RuntimeError(f"opensm has not routed by {engine}: {said[-1000:]}")
            cables, tables = (asked(environment, [tool], limit) for tool in ("ibnetdiscover", "dump_fts"))
            if forgets_a_lid(tables):
                asked(
                    environment,
                    ["opensm", "-R", engine, "-e", "-o", "-D", "0x43", "-f", log, *options],
                    limit,
                )
                tables = (folder / "opensm-lfts.dump").read_text()
            return cables, tables


def forgets_a_lid(tables: str) -> bool:
    """dump_fts of rdma-core 44 leaves out a subnet's last lid where it is a multiple of 64; opensm's dump has it."""
    top = re.match(r"Unicast lids \[0x0-0x([0-9a-f]+)\]", tables)
    return top is not None and int(top[1], 16) % 64 == 0
