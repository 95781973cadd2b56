"""Check that each rank has a host of the network, by the rule of the runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hocket.doctor.case import Case, Rank
from hocket.doctor.finding import Finding, ok, problem

_MOST_SHOWN = 8
_REMEDY = (
    "write whole names into the network file; or give --placement FILE with one name of the network per rank"
)


def check_placement(case: Case) -> Iterator[Finding]:
    if case.network is None or not case.ranks_told:
        return
    if case.placement not in ("names", "slurm"):
        return  # 'hocket run' checks files and order before anything starts, and so does the probe
    told, names = case.ranks_told, case.network.names
    hosts_of = {rank.rank: case.network.match_host(_names(rank, case.placement)) for rank in told}
    unknown = [rank for rank in told if not hosts_of[rank.rank]]
    uncertain = [rank for rank in told if len(hosts_of[rank.rank]) > 1]
    torn = _torn(told, hosts_of)
    if uncertain:
        either = " or ".join(names[host] for host in hosts_of[uncertain[0].rank][:2])
        yield problem("placement", f"{_ranks(uncertain, told)} may run on {either}", _REMEDY)
    if torn:
        claimed = _listed([names[host] for host in torn])
        yield problem("placement", f"several machines are called {claimed}", _REMEDY)
    if not (unknown or uncertain or torn):
        yield ok("placement", f"the network knows the hosts of all {len(told)} ranks")
    if not unknown:
        return
    hosts_known = [names[host] for host in case.network.hosts]
    what = "processor names" if case.placement == "names" else "names from Slurm"
    hosts = sorted({_name(rank, case.placement) or "(none)" for rank in unknown})
    yield problem(
        "placement",
        f"{_ranks(unknown, told)} run on hosts that the network does not have: their {what} are "
        f"{_listed(hosts)}; the network has {_listed(hosts_known)}",
        "write these names into the network file; or give --placement FILE with one name of the network per "
        "rank, or --placement order if ranks fill the hosts in order",
    )


def _name(rank: Rank, placement: str) -> str:
    return rank.slurm_name if placement == "slurm" else rank.name


def _names(rank: Rank, placement: str) -> list[str]:
    """The best first, as the runtime asks for them."""
    names = [rank.slurm_name] if placement == "slurm" else [rank.name, rank.slurm_name]
    return [name for name in names if name]


def _torn(told: Sequence[Rank], hosts_of: Mapping[int, Sequence[int]]) -> list[int]:
    """Hosts that machines of different names claim."""
    machines: dict[int, set[str]] = {}
    for rank in told:
        if len(hosts_of[rank.rank]) == 1:
            machines.setdefault(hosts_of[rank.rank][0], set()).add(rank.name)
    return [host for host, claiming in machines.items() if len(claiming) > 1]


def _ranks(some: Sequence[Rank], told: Sequence[Rank]) -> str:
    return f"{len(some)} of {len(told)} ranks ({_listed([str(rank.rank) for rank in some])})"


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - _MOST_SHOWN} more" if len(items) > _MOST_SHOWN else ""
    return ", ".join(items[:_MOST_SHOWN]) + more
