"""Hosts without switches that pass on what is for others, and networks of them as files."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

#: Ends of a link, and its rate in Gbit/s.
Links = list[tuple[int, int, int]]

DGX1: Final[Links] = [
    (0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2), (2, 6, 1),
    (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2),
]  # fmt: skip
#: All of four but the first two are neighbours: half of what these send each other goes by each of the others.
FOUR: Final[Links] = [(0, 2, 1), (0, 3, 1), (1, 2, 1), (1, 3, 1), (2, 3, 1)]


def ring(hosts: int) -> Links:
    return [(i, (i + 1) % hosts, 1) for i in range(hosts)]


def random_links(seed: int, least: int = 3, most: int = 12) -> Links:
    """A random tree of hosts with random links more, some of two units."""
    rng = Random(seed)
    hosts = rng.randint(least, most)
    links = {(rng.randrange(i), i) for i in range(1, hosts)}
    links |= {tuple(sorted(rng.sample(range(hosts), 2))) for _ in range(rng.randint(1, 2 * hosts))}
    return [(a, b, rng.choice((1, 1, 2))) for a, b in sorted(links)]


def hosts_of(links: Links) -> int:
    return 1 + max(max(a, b) for a, b, _ in links)


def network_file(path: Path, links: Links) -> str:
    """Name of the file: hosts have a port for each of their links."""
    hosts = hosts_of(links)
    ports = max(sum(host in (a, b) for a, b, _ in links) for host in range(hosts))
    tables = [f'[[host]]\nname = "n{host}"\n' for host in range(hosts)]
    tables += [f'[[link]]\na = "n{a}"\nb = "n{b}"\nrate = "{units}Gbit"\n' for a, b, units in links]
    path.write_text(f'shape = "graph"\n[defaults]\nforward = true\nports = {ports}\n' + "".join(tables))
    return str(path)
