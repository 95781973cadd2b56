"""Every reader of files, valid inputs for each, and seeded alterations of them.

A reader may accept what it gets or refuse it by one HocketError; anything else is a fault. Used by tests/readers.
"""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from hocket import _core
from hocket.costs.calibration import read_file_of
from hocket.costs.model import read_profile
from hocket.demand import read_traffic
from hocket.demand.recorded import RecordedCall, write
from hocket.errors import HocketError, PlanError
from hocket.measure.kept import read as read_choices
from hocket.network import Defaults, read_network_description
from hocket.network.neighbours import Choice, merge
from hocket.network.readers.lldp import read_record
from hocket.network.source import load
from hocket.report import measured_part
from measure.calibration.conftest import made
from plans import forwarding, gathering, small
from report_files import tuned

ROOT: Final = Path(__file__).parents[1]
NETWORKS: Final = ROOT / "examples" / "networks"
RECORDED: Final = ROOT / "tests" / "network" / "recorded"
TRAPS: Final = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"9" * 400, b"[" * 300, b"{" * 300, b"(" * 300, b"-1", b"0", b"1e999", b"nan",
    b"inf", b'"', b"'", b"\\", b"\r", b"\n", b"\t", b"*", b"&a ", b"<!ENTITY a 'b'>", b"n[1-99999999]", b"null",
    b"true", b"[]", b"{}", b"18446744073709551616", b"0x1F", b"\xe2\x80\xa8", b"!!python/name:os ", b"]]>", b",", b":",
    b"=", b"%", b"#", b"@all",
]  # fmt: skip


_BUILT_UP_TO: Final = 2_000  # nodes


@dataclass(frozen=True, slots=True)
class Reader:
    """``read`` gets the path of an altered file in a folder that ``prepare`` has filled."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    prepare: Callable[[Path], None] = lambda folder: None
    file: str = "altered"


def altered(seed: bytes, choose: random.Random) -> bytes:
    """One to four alterations: bytes, words, lines replaced, left out or doubled; or the end cut off."""
    data = seed
    for _ in range(choose.choice((1, 1, 1, 2, 3, 4))):
        way = choose.randrange(6)
        at = choose.randrange(len(data) + 1)
        if way == 0:
            data = data[:at]
        elif way == 1:
            data = data[:at] + bytes([choose.randrange(256)]) + data[at + 1 :]
        elif way == 2:
            data = data[:at] + choose.choice(TRAPS) + data[at + choose.choice((0, 0, 1, 5)) :]
        elif way == 3:
            end = min(len(data), at + choose.randrange(1, 40))
            data = data[:at] + choose.choice((b"", data[at:end] * 2)) + data[end:]
        else:
            data = _other_piece(data, rb"[\w.-]+|[^\w.-]+" if way == 4 else rb"[^\n]*\n?", choose)
    return data


def _other_piece(data: bytes, pattern: bytes, choose: random.Random) -> bytes:
    """A word or line replaced by another, doubled or left out."""
    pieces = re.findall(pattern, data)
    if not pieces:
        return data
    at = choose.randrange(len(pieces))
    pieces[at] = choose.choice((choose.choice(pieces), b"", pieces[at] * 2, choose.choice(TRAPS)))
    return b"".join(pieces)


def network(path: Path) -> object:
    """Read, and built where that is quick."""
    description = read_network_description(str(path))
    grid = description.grid
    few = len(description.nodes) < _BUILT_UP_TO
    return (
        description.build()
        if few and (grid is None or np.prod(grid.sides, dtype=float) < _BUILT_UP_TO)
        else None
    )


def forwarded(cables: Path) -> Callable[[Path], object]:
    return lambda path: read_network_description(str(cables), Defaults(forwarding=str(path))).build()


def lldp(path: Path) -> object:
    return merge(
        [read_record(load(str(file))) for file in sorted(path.parent.iterdir())], Defaults(), Choice()
    ).build()


def _other_records(folder: Path) -> None:
    for file in (RECORDED / "lldp").iterdir():
        if file.name != "s1.json":
            (folder / file.name).write_bytes(file.read_bytes())


def _beside(*names: str) -> Callable[[Path], None]:
    def copy(folder: Path) -> None:
        for name in names:
            (folder / name).write_bytes((NETWORKS / name).read_bytes())

    return copy


def traffic(path: Path) -> object:
    found = read_traffic(str(path))
    return found.demand() if found.ranks < _BUILT_UP_TO else None


def plan(path: Path) -> object:
    data = path.read_bytes()
    try:
        for rank in (0, 1):
            _core.decode_program(data, rank)
        decoded = _core.Plan.decode(data)
        net = decoded.network
        return _core.verify(net, decoded.demand, decoded.schedule)
    except _core.InputError as problem:
        raise PlanError(f"{path}: {problem}", remedy="make it again with 'hocket plan'") from None


def measured(path: Path) -> object:
    from hocket.errors import Where
    from hocket.system.files import decode

    where = Where(str(path))
    text = decode(path.read_bytes(), where, HocketError)
    if not measured_part.looks_like(text):
        return None
    return list(measured_part.measured_sections("title", measured_part.read(text, where)))


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([[0, 1], [2, 0]]))
    return stream.getvalue()


def _examples(*endings: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(NETWORKS.iterdir()) if path.suffix in endings)


def _recorded(*names: str) -> tuple[bytes, ...]:
    return tuple((RECORDED / name).read_bytes() for name in names)


def readers(folder: Path) -> list[Reader]:
    """All of them; ``folder`` is for files that are made by other parts of Hocket."""
    kept = tuned(folder / "choices.txt").read_bytes()
    tables = (NETWORKS / "infiniband-fts.txt").read_bytes()
    result = (ROOT / "bench" / "results" / "short-lived.csv").read_bytes()
    calls = [RecordedCall("MPI_Alltoallv", (0, 2), 4, (((2, 9),), ()))]
    demands = {
        "csv": (b"# sizes\n0,64KiB,3\n1,0,2\n4,5,0\n",),
        "mtx": (
            b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 10\n2 3 1e3\n3 1 7\n",
            b"%%MatrixMarket matrix array integer symmetric\n% c\n2 2\n1\n2\n3\n",
        ),
        "npy": (_npy(),),
        "json": (b"".join(write(3, calls)),),
    }
    found = [
        Reader("TOML", _examples(".toml"), network, _beside("forwarding.csv", "coordinates.txt"), "altered.toml"),
        Reader("topology.conf", _examples(".conf"), network),
        Reader("topology.yaml", _examples(".yaml"), network, file="altered.yaml"),
        Reader("SimGrid XML", _examples(".xml"), network),
        Reader("ibnetdiscover", _recorded("star-disc.txt", "lmc-disc.txt"), network),
        Reader("AWS, JGF", _examples(".json"), network),
        Reader("dump_fts", _recorded("star-fts.txt"), forwarded(RECORDED / "star-disc.txt")),
        Reader("dump_fts of two levels", (tables,), forwarded(NETWORKS / "infiniband-disc.txt")),
        Reader("forwarding.csv", ((NETWORKS / "forwarding.csv").read_bytes(),),
               lambda path: network(path.parent / "forwarding.toml"), _beside("forwarding.toml"), "forwarding.csv"),
        Reader("coordinates", ((NETWORKS / "coordinates.txt").read_bytes(),),
               lambda path: network(path.parent / "ties.toml"), _beside("ties.toml"), "coordinates.txt"),
        Reader("LLDP", _recorded("lldp/s1.json", "lldp0/s1.json"), lldp, _other_records, "s1.json"),
        *(Reader(f"demand .{ending}", seeds, traffic, file=f"altered.{ending}") for ending, seeds in demands.items()),
        Reader("plan", (small(), forwarding().encode(), gathering().encode()), plan),
        Reader("learned choices", (kept,), read_choices),
        Reader("calibration", (json.dumps(made().as_json(), indent=1).encode(),), read_file_of),
        Reader("memory profile", (_core.memory.Profile.built_in().text().encode(),), read_profile),
        Reader("table of measurements", (result,), measured),
    ]  # fmt: skip
    return found


def complaint(problem: HocketError, folder: Path) -> str:
    """Problem of a refusal; empty if it is one clear line."""
    text = str(problem).replace(str(folder), "")
    if "\n" in text or len(text) > 1500:
        return f"not one line: {text[:200]!r}"
    return "" if problem.remedy or "; " in text else f"no remedy: {text[:200]!r}"
