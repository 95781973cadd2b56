"""How far a run in a lab can be believed: were links the bottleneck, or the processors that emulate them?"""

import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from hocket.lab import namespaces
from hocket.lab.state import LabState
from hocket.units import format_bytes

BUSY = 0.9  # share of the processors from which they, and of a link's rate below which links do not, decide
_SAMPLE = 0.1  # seconds
_INTERVAL = 5  # samples over which a rate is taken
_GET_QDISC, _DUMP, _DONE, _ERROR = 38, 0x301, 3, 2  # netlink's
_KIND, _OPTIONS, _STATS, _TBF_PARMS = 1, 2, 3, 1


class Port(NamedTuple):
    """A shaper's counters, and when they were read: bytes and packets dropped since it is there, bytes queued now, its
    rate and limit."""

    at: float
    bytes: int
    drops: int
    queued: int
    rate: int
    limit: int


@dataclass(frozen=True, slots=True)
class Fidelity:
    """``processors``: share of all that was busy, by other programs, too. ``link``: the busiest over the run, as node
    and port; ``busiest`` and ``mean``: the share of its rate in its busiest half second, and over the run. ``queued``:
    bytes in the deepest queue."""

    processors: float
    link: str
    busiest: float
    mean: float
    drops: int
    queued: int
    buffer: int

    @property
    def processors_decided(self) -> bool:
        return self.processors >= BUSY > self.busiest

    def text(self) -> str:
        said = (
            f"processors {self.processors:.0%} busy; busiest link {self.link} at {self.busiest:.0%} of its rate in its "
            f"busiest half second, {self.mean:.0%} over the run; {self.drops} packets dropped, deepest queue "
            f"{format_bytes(self.queued)} of {format_bytes(self.buffer)}"
        )
        if not self.processors_decided:
            return said
        return f"{said}\nprocessors were the bottleneck, and not links: choose a lower --rate, or fewer hosts"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "processors_decided": self.processors_decided}


class Watch:
    """Samples all ports of a lab while its context lasts; then ``result`` is there."""

    result: Fidelity

    def __init__(self, lab: LabState) -> None:
        self._names = [node.name for node in lab.nodes]
        self._sockets = [namespaces.inside(net, _netlink) for net in lab.nets()]
        self._samples: list[dict[str, Port]] = []
        self._deepest: dict[str, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="hocket-lab-fidelity", daemon=True)

    def __enter__(self) -> Self:
        self._processors = _processor_times()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        busy, every = (now - before for now, before in zip(_processor_times(), self._processors, strict=True))
        for handle in self._sockets:
            handle.close()
        self.result = _result(busy / max(every, 1), self._samples, self._deepest)

    def _watch(self) -> None:
        ended = False
        while not ended:
            ended = self._over.wait(_SAMPLE)
            ports: dict[str, Port] = {}
            for name, handle in zip(self._names, self._sockets, strict=True):
                with suppress(OSError):
                    ports |= {f"{name} port {index}": port for index, port in _ports(handle)}
            self._samples.append(ports)
            for name, port in ports.items():
                self._deepest[name] = max(self._deepest.get(name, 0), port.queued)


def _result(processors: float, samples: Sequence[dict[str, Port]], deepest: dict[str, int]) -> Fidelity:
    def share(name: str, first: int, last: int) -> float:
        before, after = samples[first].get(name), samples[last].get(name)
        if before is None or after is None or after.at <= before.at:
            return 0.0
        return (after.bytes - before.bytes) / after.rate / (after.at - before.at)

    last = len(samples) - 1
    ports = samples[last]
    drops = sum(port.drops - samples[0].get(name, port).drops for name, port in ports.items())
    mean, link = max(((share(name, 0, last), name) for name in ports), default=(0.0, "-"))
    busiest = max(share(link, max(at - _INTERVAL, 0), at) for at in range(min(_INTERVAL, last), last + 1))
    fullest = max(deepest, key=lambda name: deepest[name], default="")
    buffer = ports[fullest].limit if fullest in ports else 0
    return Fidelity(processors, link, busiest, mean, drops, deepest.get(fullest, 0), buffer)


def _processor_times() -> tuple[int, int]:
    """Clock ticks of all processors: busy ones, all."""
    ticks = [
        int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    ]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def _netlink() -> socket.socket:
    """A netlink socket of the calling thread's namespace."""
    handle = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
    handle.settimeout(1)
    return handle


def _ports(handle: socket.socket) -> Iterator[tuple[int, Port]]:
    """The shaped ports of a namespace, by index: ``tc -s qdisc``, some hundred times as fast."""
    handle.send(struct.pack("=IHHIIBxHiIII", 36, _GET_QDISC, _DUMP, 0, 0, 0, 0, 0, 0, 0, 0))
    while True:
        answer, read = handle.recv(1 << 17), time.monotonic()
        while answer:
            length, kind = struct.unpack_from("=IH", answer)
            message, answer = answer[16:length], answer[(length + 3) & ~3 :]
            if kind in (_DONE, _ERROR):
                return
            attributes = dict(_attributes(message[20:]))
            if attributes.get(_KIND) == b"tbf\0":
                options = dict(_attributes(attributes[_OPTIONS]))[_TBF_PARMS]
                sent, _, drops, _, _, _, _, queued = struct.unpack_from("=QIIIIIII", attributes[_STATS])
                rate, limit = struct.unpack_from("=8xI12xI", options)
                yield struct.unpack_from("=i", message, 4)[0], Port(read, sent, drops, queued, rate, limit)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[max((length + 3) & ~3, 4) :]
