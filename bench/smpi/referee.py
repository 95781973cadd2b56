"""SimGrid's SMPI as referee: the program of a schedule, for exchange.c, run on a network; the simulated seconds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hocket._core import Network, Schedule, Waits

from hocket.export.smpi_trace import hostfile, platform_xml
from hocket.export.transfers import causes_of, in_order
from hocket.launch import captured

SOURCE = Path(__file__).with_name("exchange.c")

# A fluid model without distortions: what computes costs nothing, the latency is paid once, up front, and
# the acknowledgements of the way back take no bandwidth.
SETTINGS = (
    "smpi/simulate-computation:no",
    "smpi/wtime:0",
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/weight-S:0",
    "network/TCP-gamma:1e15",
)


class RefereeError(Exception):
    """The simulation did not come to an end."""


def missing_tools() -> list[str]:
    """The commands that are needed and not there."""
    return [tool for tool in ("smpicc", "smpirun") if shutil.which(tool) is None]


def need_tools() -> None:
    """Ends the program with exit code 2 if SimGrid is not installed."""
    if missing := missing_tools():
        print(f"{' and '.join(missing)} not found: install SimGrid (Debian: libsimgrid-dev)", file=sys.stderr)
        sys.exit(2)


def tell_missed(problems: Sequence[str]) -> int:
    """Exit code."""
    for problem in problems:
        print(f"target missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


def simgrid_version() -> str:
    output = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=False).stdout
    return next(iter(output.splitlines()), "unknown")


def compiled(source: Path, folder: Path) -> Path:
    """The program of a source, compiled once in a folder. Raises RefereeError."""
    binary = folder / source.stem
    if not binary.exists():
        command = ["smpicc", "-O2", "-o", str(binary), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RefereeError(f"smpicc failed: {done.stderr.strip()}")
    return binary


class Referee:
    """Runs programs on one network, in a folder of its own."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.ranks = network.ranks
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "platform.xml").write_text(platform_xml(network), encoding="utf-8")
        (folder / "hosts").write_text(hostfile(network), encoding="utf-8")
        self.binary = compiled(SOURCE, folder)

    def program(self, text: str) -> float:
        """Seconds of an exchange by program (``program_text``); every byte is checked on arrival."""
        path = self.folder / "program.txt"
        path.write_text(text, encoding="utf-8")
        return self._run([], str(path))

    def native(self, size: int, algorithm: str) -> float:
        """Seconds of an all-to-all by one of SMPI's algorithms, or the one that a library would select."""
        return self._run([f"--cfg=smpi/alltoall:{algorithm}"], "alltoall", str(size))

    def barrier(self) -> float:
        """Seconds of an MPI_Barrier."""
        return self._run([], "barrier", "20")

    def _run(self, options: list[str], *arguments: str) -> float:
        done = captured([
            "env", "-C", str(self.folder), "smpirun", "-np", str(self.ranks),
            "-platform", str(self.folder / "platform.xml"), "-hostfile", str(self.folder / "hosts"),
            *[f"--cfg={setting}" for setting in SETTINGS], *options, str(self.binary), *arguments,
        ])  # fmt: skip
        found = re.search(r"^seconds ([\d.]+)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 or found is None:
            lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
            lines = [line for line in lines if "/INFO]" not in line] or lines
            thrown = [line.partition("Uncaught exception ")[2] for line in lines if "Uncaught" in line]
            said = [line for line in lines if line.startswith("exchange: ")]
            raise RefereeError((said or thrown or lines)[0][:300])
        return float(found[1])


_OFFSET_WIDTH = 11  # digits and the end of the line


def program_text(schedule: Schedule, waits: Waits | None, window: int, *, barrier: bool = False) -> str:
    """The program of a schedule. ``window``: sends that a rank has in flight at once.

    A send that passes on what its rank received, or added up, waits for these receives, as for tokens of its own rank.
    """
    messages = in_order(schedule)
    if barrier and any(piece.origin != message.src for message in messages for piece in message.pieces):
        raise ValueError("the SMPI program forwards nothing between barriers")
    sends: list[list[int]] = [[] for _ in range(schedule.ranks)]
    receives: list[list[int]] = [[] for _ in range(schedule.ranks)]
    number: list[int] = []  # of a transfer among its sender's
    for transfer, message in enumerate(messages):
        number.append(len(sends[message.src]))
        sends[message.src].append(transfer)
        receives[message.dst].append(transfer)
    causes = causes_of(messages, waits)
    released: list[list[int]] = [[] for _ in messages]  # let go on arrival: rank, its send number, and so on
    for transfer, message in enumerate(messages):
        for cause in causes[transfer]:
            released[cause] += (message.src, number[transfer])
    parts = []
    for rank in range(schedule.ranks):
        lines = [f"rank {rank} {len(sends[rank])} {len(receives[rank])}"]
        for transfer in sends[rank]:
            message, awaited = messages[transfer], [messages[cause].dst for cause in causes[transfer]]
            lines.append(_line("s", message.phase, message.dst, message.bytes, len(awaited), *awaited))
        for transfer in receives[rank]:
            message, free = messages[transfer], released[transfer]
            lines.append(_line("r", message.phase, message.src, message.bytes, len(free) // 2, *free))
        parts.append("\n".join(lines) + "\n")
    head = f"hocket-smpi 3 {schedule.ranks} {window} {int(barrier)}\n"
    offsets, offset = [], len(head) + _OFFSET_WIDTH * schedule.ranks
    for part in parts:
        offsets.append(f"{offset:{_OFFSET_WIDTH - 1}d}\n")
        offset += len(part)
    return "".join([head, *offsets, *parts])


def _line(kind: str, *values: int) -> str:
    return " ".join([kind, *map(str, values)])
