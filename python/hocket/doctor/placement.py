"""Whether each rank has a host of the network, as runtime/placement.cpp finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hocket.doctor.case import Case, Rank
from hocket.doctor.finding import Finding, ok, problem

_MOST_SHOWN = 8


def check_placement(case: Case) -> Iterator[Finding]:
    if case.network is None or not case.ranks_told:
        return
    if case.placement not in ("names", "slurm"):
        return  # 'hocket run' checks files and order before anything starts, and so does the probe
    network = case.network
    hosts_known = [name for name, ranks in zip(network.names, network.ranks_per_node, strict=True) if ranks]
    names = set(hosts_known)
    short = {short_name(name) for name in names}
    unknown = [rank for rank in case.ranks_told if not _known(rank, case.placement, names, short)]
    if not unknown:
        yield ok("placement", f"the network knows the hosts of all {len(case.ranks_told)} ranks")
        return
    what = "processor names" if case.placement == "names" else "names from Slurm"
    hosts = sorted({_name(rank, case.placement) or "(none)" for rank in unknown})
    yield problem(
        "placement",
        f"{len(unknown)} of {len(case.ranks_told)} ranks ({_listed([str(rank.rank) for rank in unknown])}) "
        f"run on hosts that the network does not have: their {what} are {_listed(hosts)}; the network has "
        f"{_listed(hosts_known)}",
        "write these names into the network file; or give --placement FILE with one name of the network per "
        "rank, or --placement order if ranks fill the network's hosts in their order",
    )


def _name(rank: Rank, placement: str) -> str:
    return rank.slurm_name if placement == "slurm" else rank.name


def _known(rank: Rank, placement: str, names: set[str], short: set[str]) -> bool:
    candidates = [_name(rank, placement), rank.slurm_name]
    return any(name and (name in names or short_name(name) in short) for name in candidates)


def short_name(name: str) -> str:
    """Up to the first dot; addresses stay whole."""
    return name if re.fullmatch(r"[0-9.]*", name) else name.partition(".")[0]


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - _MOST_SHOWN} more" if len(items) > _MOST_SHOWN else ""
    return ", ".join(items[:_MOST_SHOWN]) + more
