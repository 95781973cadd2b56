"""The hosts that a user names (a host list, a file of them, or standard input), and the part of a network that they
are."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ClusterShell.RangeSet import RangeSet, RangeSetException

from hocket._core import Network
from hocket.errors import HocketError, NetworkError, UsageError, Where
from hocket.network.description import NetworkDescription, suggestion
from hocket.network.parts import MAX_ENTRIES, Forwarding, beside, without_dead_ends
from hocket.network.paths import own_routes
from hocket.network.source import STDIN, Source, load, shown

MAX_LIST: Final = 200_000  # names in one list

_PIECE: Final = re.compile(r"[^,\[\]]*(?:\[[^\[\]]*\][^,\[\]]*)*")
_LITERAL: Final = re.compile(r"[\w.:+-]*")
_RANGE: Final = re.compile(r"(\d{1,18})(?:-(\d{1,18})(?:/(\d{1,18}))?)?", re.ASCII)
_REMEDY: Final = "write it like n[0-7],gpu[01-16]"


def expand(text: str, source: Source, line: int = 0, limit: int = MAX_LIST) -> list[str]:
    """Expand the list ``text`` to names; refuses a list of more than ``limit`` names before expanding it."""
    names: list[str] = []
    position = 0
    while True:
        match = _PIECE.match(text, position)
        assert match is not None  # the pattern matches the empty string
        piece, position = match[0].strip(), match.end()
        if position < len(text) and text[position] != ",":
            raise source.error(f"unbalanced bracket in the host list {shown(text)}", line, _REMEDY)
        if not piece:
            raise source.error(f"empty name in the host list {shown(text)}", line, _REMEDY)
        names += _expand_piece(piece, source, line, limit - len(names), limit)
        if position >= len(text):
            return names
        position += 1


def _expand_piece(piece: str, source: Source, line: int, left: int, limit: int) -> list[str]:
    parts: list[list[str]] = []
    count = 1
    for index, part in enumerate(re.split(r"\[([^\[\]]*)\]", piece)):
        if index % 2 == 0:
            if not _LITERAL.fullmatch(part):
                raise source.error(f"{shown(piece)} is not a host name or host list", line, _REMEDY)
            parts.append([part])
        else:
            ranges = part.split(",", left + 1)
            before, count = count, left + 1
            if len(ranges) <= left:
                count = before * sum(_size(item.strip(), source, line) for item in ranges)
            if count > left:
                raise source.error(
                    f"the host list {shown(piece)} has more than {limit:,} names",
                    line,
                    "is the range a typo?",
                )
            parts.append([name for item in ranges for name in _numbers(item.strip(), source, line)])
        if len(parts) > 64:
            raise source.error(f"too many brackets in the host list {shown(piece)}", line, _REMEDY)
    if count > left:
        raise source.error(f"the host list has more than {limit:,} names", line, "split it")
    if len(parts) == 1:
        return parts[0]
    return ["".join(combination) for combination in itertools.product(*parts)]


def _size(item: str, source: Source, line: int) -> int:
    if (match := _RANGE.fullmatch(item)) is None:
        raise source.error(f"{shown(item)} is not a range of a host list", line, _REMEDY)
    first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
    if last < first or step < 1:
        raise source.error(f"the range {shown(item)} runs backwards or has step 0", line, _REMEDY)
    return (last - first) // step + 1


def _numbers(item: str, source: Source, line: int) -> list[str]:
    if "-" not in item:
        return [item]
    try:
        return [str(number) for number in RangeSet(item).striter()]
    except (RangeSetException, ValueError) as problem:
        raise source.error(f"the range {shown(item)} cannot be expanded: {problem}", line, _REMEDY) from None


_FILE: Final = "@"
_WHAT: Final = "a file with a host list on each line"
_SLOTS: Final = re.compile(r":\d+$", re.ASCII)


def chosen_hosts(text: str, known: Collection[str]) -> list[str]:
    """The names that ``text`` means, each once: ``n[0-15]``, ``@FILE`` or ``-``.

    In a file the first word of each line counts, so that hostfiles of MPI libraries are understood (``n0:4``, ``n0
    slots=4``), and a name with a domain means the host without. Raises :class:`hocket.errors.HocketError` for what is
    no list and for a host that is not ``known``."""
    names: dict[str, None] = {}
    every = set(known)
    for source, line, item in _lists(text):
        for name in expand(_first(item, source), source, line):
            names[_known(name, every, known, source, line)] = None
    return list(names)


class Named(NamedTuple):
    """A host's name in a list, and where it stands; line 0: in no file. ``counts``: as one rank if it stands several
    times, as in node files of PBS; not where a line may say how many."""

    name: str
    source: Source
    line: int
    counts: bool = False


def listed_names(text: str) -> Iterator[Named]:
    """The names that ``text`` lists, in order and as often as they stand there; of hostfiles without slots."""
    for source, line, item in _lists(text):
        for name in expand(_first(item, source), source, line):
            plain = _SLOTS.sub("", name) if source.is_file else name
            yield Named(plain, source, line, source.is_file and plain == item)


def _first(item: str, source: Source) -> str:
    """The host list of a line; what follows it in hostfiles are slots."""
    return item.split()[0] if source.is_file else item


def _lists(text: str) -> list[tuple[Source, int, str]]:
    if text != STDIN and not text.startswith(_FILE):
        return [(Source("--hosts", text, is_file=False), 0, text)]
    if text == _FILE:
        raise UsageError("--hosts @ names no file", remedy="write --hosts @FILE")
    source = load(text.removeprefix(_FILE), _WHAT)
    if not (lines := [(source, line, content.strip()) for line, content in source.content_lines()]):
        raise source.error("names no host", remedy=f"give {_WHAT}")
    return lines


def _known(name: str, every: set[str], known: Collection[str], source: Source, line: int) -> str:
    plain = _SLOTS.sub("", name) if source.is_file else name
    for guess in (name, plain, plain.partition(".")[0]):
        if guess in every:
            return guess
    raise source.error(
        f"no host of the network is called {shown(name)}",
        line,
        suggestion(plain, known) or "see 'hocket network show' for its hosts",
    )


def slurm_lists(environ: Mapping[str, str]) -> list[tuple[Source, str]]:
    """The host list of the Slurm job that this process is of, or those of a heterogeneous job's groups; each with what
    the names of its variables end with. Empty outside of jobs."""
    size = environ.get("SLURM_HET_SIZE", "")
    groups = int(size) if re.fullmatch(r"\d{1,3}", size, re.ASCII) else 0
    for ends in ([f"_HET_GROUP_{group}" for group in range(groups)], [""]):
        names = [f"SLURM_JOB_NODELIST{end}" for end in ends]
        if names and all(environ.get(name) for name in names):
            return [
                (Source(name, environ[name], is_file=False), end)
                for name, end in zip(names, ends, strict=True)
            ]
    return []


def job_hosts(environ: Mapping[str, str], hostfile: str | None) -> set[str]:
    """The names that the hosts of a job may have in a network, with and without domain: those of the
    hostfile, else those that Slurm gave. None where neither tells."""
    names: list[str] = []
    try:
        if hostfile is not None:
            names = [name.name for name in listed_names(_FILE + hostfile)]
        else:
            names = [name for source, _ in slurm_lists(environ) for name in expand(source.text, source)]
    except HocketError:  # the launcher's to complain about
        return set()
    return {*names, *(name.partition(".")[0] for name in names)}


def cut(description: NetworkDescription, names: Collection[str]) -> NetworkDescription:
    """The hosts ``names`` in the order of the description, and the switches on paths between them.

    Links keep their rates. Messages between these hosts take the paths that they take in the whole network: where
    others would be chosen in the part, it has forwarding tables. Raises :class:`NetworkError` for a grid or explicit
    routes, which have no such part."""
    if description.grid is not None or description.routing is not None:
        raise _whole(description)
    left = set(names)
    nodes = [
        node if node.name in left or not node.is_host else replace(node, ranks=0)
        for node in description.nodes
    ]
    hosts = {node.name for node in nodes if node.is_host}
    kept = without_dead_ends(beside(nodes, description.links), hosts)
    links = [index for index, link in enumerate(description.links) if link.a in kept and link.b in kept]
    part = NetworkDescription(
        [node for node in nodes if node.name in kept],
        [replace(description.links[index]) for index in links],
        description.source,
        description.shape,
    )
    if part.shape == "graph":
        whole = description.build()
        if whole.shape.name == "routed":  # other routes to a host from each: no table tells them
            raise _whole(description)
        _keep_routes(whole, part, links)
    return part


def _keep_routes(whole: Network, part: NetworkDescription, links: Sequence[int]) -> None:
    """Gives ``part`` forwarding tables if without them its hosts' messages would go elsewhere. ``links`` are
    the numbers of its links in the whole network."""
    built = part.build()
    channel_of = {2 * old + way: 2 * new + way for new, old in enumerate(links) for way in (0, 1)}
    leaves = [end for link in built.links for end in link]  # of each channel, the node where it begins
    was, now = own_routes(whole), own_routes(built)
    before = {name: node for node, name in enumerate(whole.names)}
    hops: dict[tuple[int, int], int] = {}
    differ = False
    for src, dst in itertools.permutations(built.hosts, 2):
        route = [channel_of[c] for c in was(before[built.name_of(src)], before[built.name_of(dst)])]
        differ = differ or route != now(src, dst)
        hops.update(((leaves[channel], dst), channel) for channel in route)
    if not differ:
        return
    if len(hops) > MAX_ENTRIES:
        raise NetworkError(
            f"the part needs more than {MAX_ENTRIES:,} forwarding entries to keep its routes",
            where=Where(part.source),
            remedy="name fewer hosts, or use the whole network",
        )
    entries = [(at, to, channel) for (at, to), channel in sorted(hops.items())]
    part.forwarding = Forwarding(part.source, list(entries), [0] * len(entries))


def _whole(description: NetworkDescription) -> NetworkError:
    what = "the routes of this network are given one by one"
    if description.grid is not None:
        what = f"in a {description.grid.kind} messages travel through other hosts"
    return NetworkError(
        f"{what}, so that it cannot be cut",
        where=Where(description.source),
        remedy="use the whole network: a job may have any of its hosts",
    )
