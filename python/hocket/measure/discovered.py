"""Results of a measurement between hosts: in a sentence, as a tree in characters, as a network; kept by their hosts."""

import hashlib
import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean, median
from typing import Any, Final, Self

import numpy as np

from hocket import _core
from hocket.demand.collectives import ALL_GATHER, ALL_TO_ALL
from hocket.errors import HocketError, NetworkError
from hocket.network import KnownNetwork
from hocket.network.description import NetworkDescription
from hocket.network.parts import DEFAULT_LATENCY, Link
from hocket.order import order_job, parse_wanted, whole_network
from hocket.order.job import ring_over_bound
from hocket.planning.candidates import MOST_MESSAGES, costs_of, forecast
from hocket.planning.plan import plan_collective
from hocket.system.cache import cache_dir, check_private
from hocket.system.files import read_file
from hocket.system.text import some
from hocket.units import format_bytes, format_rate

_WARM: Final = 0.35  # of the time: connections begin, queues fill, and token buckets that were full empty
_SLOW: Final = 0.6  # of the usual rate of a host
_DIFFERS: Final = 0.2  # by who sends to whom: several paths, if repeats differ by less than a third of that
_UNSTEADY: Final = 0.1  # by repeating the same
_ALIKE: Final = 1.2  # times: rates that differ by less are taken for one
_SMALLEST: Final = 4  # hosts: of fewer no two share what is not the link of one


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """``hosts``, by number, share ``out`` bytes/s to all others and ``into`` from them; infinite: they need no more."""

    hosts: list[int]
    out: float
    into: float

    @property
    def rate(self) -> float:
        return min(self.out, self.into)


@dataclass(frozen=True, slots=True)
class Found:
    """``errors``: of predicted sums of permutations that were not used. ``by_pairing`` and ``by_repeat``: how much a
    bottleneck differs by who sends to whom, and when the same is repeated."""

    date: str
    mpi: str
    hosts: list[str]
    ranks: list[int]
    out: list[float] = field(default_factory=list)
    into: list[float] = field(default_factory=list)
    bottlenecks: list[Bottleneck] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    by_pairing: float = 0.0
    by_repeat: float = 0.0
    rounds: int = 0
    bytes: float = 0.0
    seconds: float = 0.0

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Self:
        return cls(**{**told, "bottlenecks": [Bottleneck(**one) for one in told["bottlenecks"]]})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def has(self, names: Collection[str]) -> bool:
        """True if all these hosts took part, with or without domains."""
        return set(map(_label, names)) <= set(map(_label, self.hosts))

    def among(self, names: Sequence[str]) -> Self:
        """Results between these hosts alone, in their order; one that was not there has no link."""
        at = {_label(host): number for number, host in enumerate(self.hosts)}
        order = [at.get(_label(name), -1) for name in names]
        bottlenecks = []
        for each in self.bottlenecks:
            inside = [new for new, old in enumerate(order) if old in each.hosts]
            if 2 * len(inside) > len(names):  # seen from the other side
                outside = [new for new, old in enumerate(order) if old not in each.hosts]
                bottlenecks.append(Bottleneck(outside, each.into, each.out))
            else:
                bottlenecks.append(Bottleneck(inside, each.out, each.into))
        return replace(
            self,
            hosts=list(names),
            ranks=[self.ranks[old] if old >= 0 else 1 for old in order],
            out=[self.out[old] if old >= 0 else 0.0 for old in order],
            into=[self.into[old] if old >= 0 else 0.0 for old in order],
            bottlenecks=[each for each in bottlenecks if each.hosts],
        )

    def check(self, seed: int = 1) -> _core.TreeProbe:
        """Rounds of permutations whose errors tell if it still holds."""
        bottlenecks = [(each.hosts, each.out, each.into) for each in self.bottlenecks]
        return _core.TreeProbe.checking(self.out, self.into, bottlenecks, seed)

    @property
    def many_paths(self) -> bool:
        return self.by_pairing > _DIFFERS and self.by_repeat < self.by_pairing / 3

    @property
    def slow(self) -> dict[str, float]:
        """Hosts that are much slower than usual, with their rates."""
        rates = [min(pair) for pair in zip(self.out, self.into, strict=True)]
        usual = median(rates) if len(rates) > 2 else 0.0
        return {name: rate for name, rate in zip(self.hosts, rates, strict=True) if rate < _SLOW * usual}

    def sentences(self) -> list[str]:
        """Sentences on what is known, the most important first."""
        if (count := len(self.hosts)) < 2:
            return [f"One host, {self.hosts[0]}: there is no network to measure between its ranks."]
        told = []
        if self.bottlenecks:
            sizes = _range([len(each.hosts) for each in self.bottlenecks], str)
            ratios = _range([self._ratio(each) for each in self.bottlenecks], lambda ratio: f"{ratio:.2g}:1")
            several = len(self.bottlenecks) > 1
            rates = _range([each.rate for each in self.bottlenecks], _rate)
            told.append(
                f"{count} hosts with {len(self.bottlenecks)} bottleneck{'s' if several else ''} of {rates} "
                f"(behind {'them' if several else 'it'} {sizes} hosts, {ratios})."
            )
        elif count < _SMALLEST:
            told.append(
                f"{count} hosts: of fewer than {_SMALLEST} none can share a bottleneck but a host's link."
            )
        else:
            told.append(
                f"Full bisection as far as {count} hosts can load it: no link between switches is in the way."
            )
        if sum(self.ranks) > count:
            told.append(
                f"{sum(self.ranks)} ranks were on these hosts, and one of each measured: start one rank a host to "
                "measure more hosts."
            )
        usual = [rate for rate in (*self.out, *self.into) if rate >= _SLOW * median(self.out)]
        told.append(f"Links of hosts: {_range(usual, _rate)}.")
        for name, rate in self.slow.items():
            told.append(f"{name} is slow: {_rate(rate)}, {rate / median(self.out):.2g} of the others.")
        for each in self.bottlenecks:
            low, high = sorted((each.out, each.into))
            if high > 1.2 * low:
                way = "out of" if each.out == low else "into"
                told.append(
                    f"{_rate(low)} is the rate {way} {self._names(each.hosts)} alone; the other way is faster."
                )
        if self.errors:
            told.append(
                f"Checked on {len(self.errors)} permutations that were not used: sums of rates are off by "
                f"{100 * mean(self.errors):.0f} %, at most {100 * max(self.errors):.0f} %."
            )
        if self.by_repeat > _UNSTEADY:
            told.append(
                f"The same streams differed by {100 * self.by_repeat:.0f} %: other traffic is on the network, and "
                "small bottlenecks cannot be told; measure again when it is quiet."
            )
        return told

    def picture(self) -> list[str]:
        """The tree of bottlenecks, a switch a line."""
        switches = self._switches()
        lines = []

        def draw(switch: int, depth: int) -> None:
            own, each = switches[switch][1], switches[switch][0]
            way = "" if each is None else f"-- {_rate(each.rate)} ({self._ratio(each):.2g}:1) -- "
            lines.append(f"{'   ' * depth}{way}[switch{switch}]  {self._names(own) if own else ''}".rstrip())
            for child, (_, _, above) in enumerate(switches):
                if above == switch:
                    draw(child, depth + 1)

        draw(0, 0)
        return lines

    def described(self) -> NetworkDescription:
        """The network: a switch behind each bottleneck. Raises NetworkError where there is none, or no tree."""
        if len(self.hosts) < 2:
            raise NetworkError(
                self.sentences()[0].rstrip("."),
                remedy="start ranks on several hosts: --hostfile FILE, or by a launcher ('hocket help networks')",
            )
        if self.many_paths:
            raise NetworkError(
                f"many paths: what hosts share differs by {100 * self.by_pairing:.0f} % with who sends to whom, and "
                f"by {100 * self.by_repeat:.0f} % when that is repeated, so they are not behind single links",
                remedy="describe the network as a graph, and have its paths found: "
                "hocket network discover --paths NETWORK",
            )
        described = NetworkDescription(source="measured")
        switches = self._switches()
        for number in range(len(switches)):
            described.add_switch(self._free_name(number))
        above = {host: number for number, (_, own, _) in enumerate(switches) for host in own}
        rates = [min(ways) for ways in zip(self.out, self.into, strict=True)]
        of_hosts, of_bottlenecks = _alike(rates), _alike([each.rate for each in self.bottlenecks])
        for host, (name, ranks) in enumerate(zip(self.hosts, self.ranks, strict=True)):
            described.add_host(name, ranks)
            described.links.append(
                Link(self._free_name(above[host]), name, of_hosts[rates[host]], DEFAULT_LATENCY)
            )
        for number, (each, _, parent) in enumerate(switches):
            if each is not None and parent is not None:
                ends = self._free_name(parent), self._free_name(number)
                described.links.append(Link(*ends, of_bottlenecks[each.rate], DEFAULT_LATENCY))
        return described

    def comment(self) -> str:
        """The head of a file: how it was made."""
        how = f"Measured on {self.date} by {len(self.hosts)} hosts with {self.mpi}: hocket network discover --measure"
        cost = f"{self.rounds} rounds, {self.bytes / 1e6:.0f} MB, {self.seconds:.0f} s"
        return "\n".join([how, *self.sentences(), cost, *self.picture()])

    def _switches(self) -> list[tuple[Bottleneck | None, list[int], int | None]]:
        """The bottleneck above each switch, the hosts at it, and the switch above; the first has neither."""
        order = sorted(self.bottlenecks, key=lambda each: -len(each.hosts))
        inside: list[tuple[Bottleneck | None, set[int]]] = [(None, set(range(len(self.hosts))))]
        inside += [(each, set(each.hosts)) for each in order]
        switches: list[tuple[Bottleneck | None, list[int], int | None]] = []
        for number, (each, hosts) in enumerate(inside):
            own = hosts.difference(*(others for _, others in inside[number + 1 :] if others < hosts))
            above = max((i for i in range(number) if hosts <= inside[i][1]), default=None)
            switches.append((each, sorted(own), above))
        return switches

    def _ratio(self, each: Bottleneck) -> float:
        return sum(self.out[host] for host in each.hosts) / each.rate

    def _names(self, hosts: list[int]) -> str:
        return some([self.hosts[host] for host in hosts])

    def _free_name(self, number: int) -> str:
        name = f"switch{number}"
        while name in self.hosts:
            name += "x"
        return name


def rate_of(came: Sequence[float], size: int, seconds: float) -> float:
    """Rate of a stream of messages of one size by the times at which they came, the last ones after the end.

    Of one that comes across the beginning or the end, a part counts. Pauses count: others use the wire then."""
    first, last = np.interp([_WARM * seconds, seconds], [0.0, *came], range(len(came) + 1))
    return float(last - first) * size / ((1 - _WARM) * seconds)


def _rate(rate: float) -> str:
    return format_rate(rate, 3)


def _round(rate: float) -> float:
    """Three digits are more than a measurement tells."""
    return float(f"{rate:.3g}") if math.isfinite(rate) else rate


def _alike(rates: Sequence[float]) -> dict[float, float]:
    """Rate that stands for each in a file: the median of those that a measurement does not tell from it. Links that
    seem to differ by some per cent would have schedules that take up to an eighth longer."""
    found: dict[float, float] = {}
    left = sorted(rates)
    while left:
        group = [rate for rate in left if rate <= _ALIKE * left[0]]
        found |= dict.fromkeys(group, _round(median(group)))
        left = left[len(group) :]
    return found


def _range(values: list[Any], shown: Callable[[Any], str]) -> str:
    low, high = shown(min(values)), shown(max(values))
    return str(low) if low == high else f"{low} to {high}"


def kept_path(hosts: Collection[str]) -> Path:
    """File for what is measured between these hosts."""
    digest = hashlib.sha256("\n".join(sorted(hosts)).encode()).hexdigest()[:16]
    return cache_dir() / f"network-{digest}.toml"


def kept_for(hosts: Collection[str]) -> tuple[Path, Found] | None:
    """The file of the smallest kept network that has all of these hosts, and what was measured for it. Damaged files
    are left alone."""
    kept = sorted(cache_dir().glob("network-*.toml"), key=lambda path: path.stat().st_size)
    read = ((path, _read(path.with_suffix(".json"))) for path in kept)
    return next(((path, found) for path, found in read if found and found.has(hosts)), None)


def _label(host: str) -> str:
    return host if host[:1].isdigit() else host.partition(".")[0]  # addresses stay


def _read(path: Path) -> Found | None:
    try:
        check_private(path)
        found = Found.from_json(json.loads(read_file(path)))
        found.check()
    except (HocketError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return found


BYTES: Final = 64 * 1024
_LEAST_GAIN: Final = 0.97  # of the time: less is no gain that predictions tell


def worth(known: KnownNetwork) -> list[str]:
    """Sentences on an all-to-all of 64 KiB, scheduled, and on an all-gather in a better order."""
    network = known.network
    told = []
    if network.ranks >= 3 and network.ranks * (network.ranks - 1) <= MOST_MESSAGES and len(network.hosts) > 1:
        costs = costs_of(network, None, known.description)
        found = forecast(plan_collective(ALL_TO_ALL, network, BYTES), costs)
        ours = min((one.seconds for one in found.candidates if one.seconds), default=None)
        native = min((one.seconds for one in found.library if one.seconds), default=None)
        if ours and native:
            part = ours / native
            told.append(
                f"A scheduled all-to-all of {format_bytes(BYTES)} should take {part:.2f} of the time of the best "
                f"native algorithm ({costs.origin})."
                if part < _LEAST_GAIN
                else f"Native all-to-alls of {format_bytes(BYTES)} are as fast as scheduled ones here."
            )
    if len(network.hosts) > 2:
        wanted = parse_wanted(ALL_GATHER, network.ranks, BYTES)
        ordered = order_job(whole_network(network, None), wanted)
        before, after = (ring_over_bound(network, place) for place in (ordered.given, ordered.place))
        if before and after and after < _LEAST_GAIN * before:
            told.append(
                f"A native all-gather by a ring should take {after / before:.2f} of its time in the order that "
                "'hocket order' prints."
            )
    return told
