"""Options of a lab."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from hocket.errors import UsageError
from hocket.network import Defaults, NetworkDescription
from hocket.network.uplinks import apply_options

BURST = 10_240  # bytes that a link may send at once; the shaper's token bucket
MAX_RATE = 4e9  # bytes/s: the shaper's rate is a 32-bit number
MOST_HOSTS = 512  # every host knows every other: 512 take a minute to build, and it grows by the square
MOST_RANKS = 1024  # processes of one machine


@dataclass(frozen=True, slots=True)
class LabOptions:
    """Parameters of the emulated links.

    ``rate``: bytes/s of every link, or None for the rates of the network. ``uplink_rate`` and
    ``oversubscription``: of links between switches, as in :class:`hocket.network.Defaults`.
    ``buffer``: bytes that each port may queue. ``congestion_control``: TCP's, set in each host.
    ``mtu``: bytes of an IP packet. ``ecmp``: switches are routers, and a hash of addresses and ports chooses among
    equally short ways; ``ecmp_seed``: of the hash, or None for the kernel's own.
    """

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

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return asdict(self)


def check_ranks(ranks: int | None, held: int) -> int:
    """Number of ranks to start on hosts that hold ``held``. Raises :class:`UsageError` if that is
    impossible."""
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
