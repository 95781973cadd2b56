"""Forwarding tables of a file, in whichever form they are written."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hocket.errors import NetworkError, Where
from hocket.network.description import NetworkDescription
from hocket.network.paths.lids import said
from hocket.network.readers import dump_fts, ibnetdiscover, tables
from hocket.network.source import load

MAX_TABLES_BYTES: Final = 256 * 2**20  # dump_fts takes 80 bytes an entry


def attach_tables(network: NetworkDescription, path: str, *, choose_lids: bool = False) -> None:
    """Has the network route by the tables in a file: entries ``at,to,next``, or what ``dump_fts`` prints.

    ``choose_lids``: where ports have several lids, one is chosen for each pair of hosts.

    Raises :class:`NetworkError` for networks that are routed otherwise. A tree, where no tables can change the way of a
    message, stays one without them; that all messages arrive is checked here.
    """
    if network.shape not in ("tree", "graph"):
        raise NetworkError(
            f"the routes of a {network.grid.kind if network.grid else 'network of explicit routes'} are its own",
            where=Where(network.source),
            remedy="leave --forwarding out",
        )
    source = load(path, "a file with forwarding tables", MAX_TABLES_BYTES)
    if ibnetdiscover.sniff(source) and not dump_fts.sniff(source):
        raise source.error(
            "lists cables, not forwarding tables",
            remedy="give it as --network, and to --forwarding what dump_fts prints",
        )
    network.forwarding = (dump_fts.read_tables if dump_fts.sniff(source) else tables.read_tables)(
        source, network
    )
    network.forwarding.choose = choose_lids and network.shape == "graph"
    if network.forwarding.choose and not network.forwarding.further:
        raise source.error(
            "no port has several lids (lmc > 0), among which to choose", remedy="leave --lids out"
        )
    if network.forwarding.further and network.shape == "graph":
        network.notes.append(said(network.build(), network.forwarding))
    if network.shape == "tree":
        replace(network, shape="graph").build()
        network.forwarding = None
