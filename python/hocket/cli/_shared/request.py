"""Requests for exchanges: their options, and what they are turned into: a demand on a network, and its plan."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

import click

from hocket import _core
from hocket._core import Demand, Network, Plan
from hocket.cli._shared.commands import Decorator, Whole, named, option
from hocket.cli._shared.work import read_whole, wants_json, with_spinner
from hocket.demand import read_traffic
from hocket.demand.collectives import ALL_REDUCE, COLLECTIVES, IRREGULAR, REDUCE_SCATTER, find, scheduled_as
from hocket.errors import HocketError, UsageError, Where
from hocket.system.text import counted
from hocket.units import format_bytes, format_time, format_total, parse_bytes, parse_time

DEFAULT_BYTES: Final = format_bytes(_core.limits.reference_bytes).replace(" ", "")
MOST_BYTES: Final = 2**50
_MOST_SHOWN: Final = 64
_CONTRIBUTIONS: Final = "write one size per rank, one on each line or with commas between them"


def bytes_option(help: str = "Size of one message, such as 4096, 64KiB or 1MB.", **more: Any) -> Decorator:
    """Option for a size, DEFAULT_BYTES unless ``more`` says otherwise."""
    usual: dict[str, Any] = {"default": DEFAULT_BYTES, "show_default": True}
    return option("--bytes SIZE", help, "size", **usual | more)


def size_option(collective: _core.Collective) -> Decorator:
    """Option for the size of a message, or of a rank's contribution; unset by default."""
    if not collective.forwards:
        return bytes_option()
    help = f"The SIZE of the description above, such as 4096, 64KiB or 1MB.  [default: {DEFAULT_BYTES}]"
    return bytes_option(help, default=None, show_default=False)


def alpha_option(*collectives: _core.Collective) -> Decorator:
    """Option for the per-message cost. Its default is the collective's: what ranks assume when they run a plan."""
    usual = sorted({each.usual_alpha for each in collectives})
    shown = " or ".join(format_time(each) for each in usual)
    return option("--alpha TIME",
                  "Per-message cost at the sender. With a higher one algorithms send fewer messages and more bytes."
                  f"  [default: {shown}{' with a root' if len(usual) > 1 else ''}]")  # fmt: skip


root_option = option("--root R", "Rank of the root.", type=Whole(0), default=0)
contributions_option = option(
    "--contributions FILE", "File of each rank's contribution: sizes, one a line or separated by commas."
)


def demand_option(required: bool) -> Decorator:
    return option("--demand FILE[:CALL]", "Traffic matrix: .mtx, .npy, CSV, or a call of recorded traffic.", "traffic",
                  required=required)  # fmt: skip


seed_option = option("--seed K", "Random seed. The same seed gives the same result.", default=1,
                     type=Whole(0, 2**63 - 1))  # fmt: skip


def _algorithm_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    # 'hocket plan all-gather' knows which collective it is about.
    collective = COLLECTIVES.get(ctx.info_name or "")
    names = [
        s.name for s in _core.Algorithm.all() if collective is None or s.pattern == scheduled_as(collective)
    ]
    return [name for name in dict.fromkeys(["auto", *names]) if name.startswith(incomplete)]


algorithm_option = option("--algorithm NAME", "Algorithm: auto, or one that 'hocket info' lists.", default="auto",
                          shell_complete=_algorithm_names)  # fmt: skip


def window_option(default: int) -> Decorator:
    return option("--window K", f"Messages in flight on a channel.  [default: {default}]",
                  type=Whole(1, 1024))  # fmt: skip


@dataclass(slots=True)
class Request:
    """An exchange as options describe it; the network comes later."""

    collective: str
    size: str | None = None  # of a message, or of a rank's contribution
    contributions: str | None = None  # file of what each rank contributes
    traffic: str | None = None  # file of who sends how much to whom
    root: int = 0
    alpha: str | None = None
    algorithm: str = "auto"
    window: int | None = None
    seed: int = 1
    # What 'hocket plan' is to do with it.
    output: str | None = None
    dump: str | None = None
    rank: int | None = None
    compare: bool = False
    two_level: bool = False
    calibration: str | None = None
    _read: Demand | None = field(default=None, init=False)  # of the traffic
    _kept: int = field(default=0, init=False)  # bytes of it that need no message

    def demand(self, network: Network) -> Demand:
        """Raises UsageError, and DemandError for traffic that is not of the network's ranks."""
        if self.collective == IRREGULAR:
            self._read = self._read or self._traffic(network)
            return self._read
        entry = find(self.collective)
        if (sizes := self._sizes(network)) is None:
            return entry.demand(network.ranks, parse_size(self.size or DEFAULT_BYTES), self.root)
        return _core.Demand(network.ranks, max(sizes, default=0), entry.pattern, contributions=sizes)

    def plan(self, network: Network, algorithm: str | None = None, **more: Any) -> Plan:
        """The exchange by the algorithm asked for, or another one; ``more``: what else is asked of ``_core.plan()``.
        Raises HocketError."""
        from hocket.planning.plan import plan_demand

        if self.root >= network.ranks:
            raise UsageError(
                f"--root {self.root}: the network has ranks 0 to {network.ranks - 1}",
                remedy="give one of these",
            )
        usual = COLLECTIVES[self.collective].usual_alpha
        alpha = usual if self.alpha is None else named("--alpha", parse_time, self.alpha)
        demand, by = self.demand(network), algorithm or self.algorithm
        planned = with_spinner(
            f"planning {network.ranks} ranks",
            lambda: plan_demand(network, demand, by, self.window, alpha, self.seed, **more),
        )
        if self._kept and algorithm is None and not wants_json():
            click.echo(
                f"{format_total(self._kept)} need no message: sender and receiver are the same rank", err=True
            )
        return planned

    def _sizes(self, network: Network) -> list[int] | None:
        if self.contributions is None:
            return None
        if self.size is not None:
            raise UsageError("--bytes and --contributions both say what a rank contributes",
                             remedy="give one of them")  # fmt: skip
        return _read_contributions(self.contributions, network.ranks)

    def _traffic(self, network: Network) -> Demand:
        """Demand of the file."""
        if (path := self.traffic) is None:
            raise UsageError("an irregular exchange needs a traffic matrix", remedy="give --demand FILE")
        traffic = with_spinner(f"reading {path}", lambda: read_traffic(path))
        traffic.check_ranks(network.ranks, path)
        self._kept = traffic.kept_bytes
        return traffic.demand()


def _read_contributions(path: str, ranks: int) -> list[int]:
    """Bytes of each rank: sizes such as ``64KiB`` on lines of their own or with commas between them.

    Empty lines and what follows a ``#`` count for nothing."""
    try:
        text = read_whole(path, "contributions").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError("this is not text", where=Where(path, line), remedy=_CONTRIBUTIONS) from None
    sizes: list[int] = []
    for number, written in enumerate(text.split("\n"), 1):
        content = written.partition("#")[0].strip().removesuffix(",")
        if not content:
            continue
        for item in content.split(","):
            sizes.append(_size(item, Where(path, number)))
            if len(sizes) > ranks:
                raise UsageError(
                    f"there are more contributions than the {counted(ranks, 'rank')} of the network",
                    where=Where(path, number),
                    remedy=_CONTRIBUTIONS,
                )
    if len(sizes) != ranks:
        raise UsageError(
            f"there are {len(sizes)} contributions for {counted(ranks, 'rank')}",
            where=Where(path),
            remedy=_CONTRIBUTIONS,
        )
    return sizes


def _size(item: str, where: Where) -> int:
    if not (shown := item.strip()[:_MOST_SHOWN]):
        raise UsageError("a size is missing between commas", where=where, remedy=_CONTRIBUTIONS)
    if re.match(r"-\s*\d", shown):
        raise UsageError(f"{shown!r} is negative", where=where, remedy=_CONTRIBUTIONS)
    try:
        size = parse_bytes(item.strip())
    except HocketError as problem:
        raise UsageError(problem.what, where=where, remedy=problem.remedy) from None
    if size > MOST_BYTES:
        raise UsageError(f"{shown} is more than any memory", where=where, remedy="give at most 1 PiB")
    return size


def parse_size(size: str, option: str = "--bytes") -> int:
    value = named(option, parse_bytes, size)
    if not 1 <= value <= MOST_BYTES:
        problem = "too little" if value < 1 else "more than any memory"
        raise UsageError(f"{option} {size} is {problem}", remedy="give a size between 1 and 1 PiB")
    return value


def size_text(demand: Demand) -> str:
    """Size of one message, one block or all blocks, as text."""
    if demand.pattern == IRREGULAR:
        if demand.messages == 0:
            return "nothing"
        return f"at most {format_bytes(demand.bytes)}, {format_total(demand.total_bytes)} in all"
    if not demand.by_blocks:
        return format_bytes(demand.bytes)
    if demand.contributions:
        return f"{format_bytes(sum(demand.contributions))} in all"
    if demand.pattern == ALL_REDUCE:
        return f"{format_bytes(demand.bytes * demand.ranks)} in all"
    return f"{format_bytes(demand.bytes)} {'for' if demand.pattern == REDUCE_SCATTER else 'from'} each"


def time_in_turn(figures: dict[str, Any]) -> str:
    """The time of the phases one after the other, beside its bound; "" unless irregular."""
    if "lockstep_seconds" not in figures:
        return ""
    taken, least = (format_time(figures[each], 4) for each in ("lockstep_seconds", "load_bound_seconds"))
    return f"{taken}, bound {least}, ratio {figures['ratio']:.3f}"
