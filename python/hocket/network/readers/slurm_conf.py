"""Slurm's ``topology.conf``, and what ``scontrol show topology`` prints: trees, blocks, rings and tori;
:mod:`slurm_shapes` says what they mean.

``LinkSpeed`` is that of the links which a line names: from the switch to its ``Nodes`` or ``Switches``. Its unit is
arbitrary (topology.conf(5)), so it only tells rates in proportion, and nothing where all are the same. Unlike Slurm, a
switch may have ``Nodes`` and ``Switches`` at once. Switches that list the same ``Switches`` are parallel spines.

``scontrol`` adds what it has worked out: levels, sizes, blocks of blocks, placements in a torus."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hocket.network.description import NetworkDescription, suggestion
from hocket.network.parts import Defaults
from hocket.network.readers import slurm_shapes as shapes
from hocket.network.source import Source, shown

_PAIR: Final = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(\"[^\"]*\"|[^\s\"]*)[ \t]*")
_SPEED: Final = re.compile(r"\d{1,18}", re.ASCII)
_SIDES: Final = re.compile(r"(\d{1,7})x(\d{1,7})x(\d{1,7})", re.ASCII)
_NO_LIST: Final = ("", "(null)")

# Kind of a line by the key that names it, and its other keys.
_LINES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "SwitchName": ("switches", ("Nodes", "Switches", "LinkSpeed", "Level")),
    "BlockName": ("blocks", ("Nodes", "BlockIndex", "BlockSize")),
    "AggregatedBlock": ("blocks", ("Nodes", "BlockIndex", "BlockSize")),
    "BlockSizes": ("blocks", ()),
    "RingName": ("rings", ("Nodes", "RingSize")),
    "TorusName": ("tori", ("Dims", "Nodes", "PlacementDims", "Anchors")),
}
_KEYS: Final = {
    key.lower(): key for name, (_, keys) in _LINES.items() for key in (name, *keys)
}  # as Slurm spells them
_SNIFF: Final = re.compile(rf"(?im)^[ \t]*(?:{'|'.join(_LINES)})[ \t]*=")
_ORDER: Final = (
    "the order in which scontrol lists the hosts of a torus is taken for that of their places; if it is another, "
    "give topology.yaml, or what 'scontrol show topoconf' prints"
)


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    key: str  # the one that names it: of _LINES
    values: dict[str, str]

    def told(self, key: str) -> shapes.Told | None:
        """The value, where it says something."""
        value = self.values.get(key, "")
        return None if value in _NO_LIST else shapes.Told(value, self.number)

    def unit(
        self, children: shapes.Told | None = None, speed: float | None = None, *, hosts: bool = True
    ) -> shapes.Unit:
        name = shapes.Told(self.values[self.key], self.number)
        return shapes.Unit(name, self.told("Nodes") if hosts else None, children, speed)


def sniff(source: Source) -> bool:
    return source.is_file and _SNIFF.search(source.text) is not None


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The network of the file; hosts in its order."""
    lines = [_line(source, number, text) for number, text in _logical_lines(source) if text]
    told = _LINES[lines[0].key][0]
    for line in lines:
        if (other := _LINES[line.key][0]) != told:
            raise source.error(
                f"{line.key}= tells of {other}, and line {lines[0].number} of {told}", line.number,
                "keep what is meant in a copy of the file",
            )  # fmt: skip
    return _READ[told](source, defaults, lines)


def _logical_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Lines without comments, each with the number of its first line. A line goes on where one ends in a backslash, and
    is joined as Slurm joins it: without a blank, so that lists may go on, too."""
    first, text = 0, ""
    for number, line in enumerate(source.text.split("\n"), 1):
        line = line.partition("#")[0].rstrip()
        first, text = first or number, text + line.removesuffix("\\")
        if not line.endswith("\\"):
            yield first, text.strip()
            first, text = 0, ""
    yield first, text.strip()


def _line(source: Source, number: int, text: str) -> _Line:
    values = _pairs(source, number, text)
    if not (keys := [key for key in _LINES if key in values]) or not values[keys[0]]:
        raise source.error("the line names no switch", number, "begin it with SwitchName=… (or BlockName=…)")
    name, allowed = values[keys[0]], _LINES[keys[0]][1]
    for key in values:
        if key != keys[0] and key not in allowed:
            raise source.error(
                f"{key}= does not go with {keys[0]}=", number,
                f"give {key}= a line of its own" if key in _LINES else f"it goes with {', '.join(allowed)}",
            )  # fmt: skip
    if keys[0].endswith("Name") and any(character in name for character in "[],="):
        raise source.error(
            f"{keys[0]}={shown(name)[1:-1]} is not one name",
            number,
            f"give each {keys[0].removesuffix('Name').lower()} a line and a name of its own",
        )
    return _Line(number, keys[0], values)


def _pairs(source: Source, line: int, text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    position = 0
    while position < len(text):
        if (match := _PAIR.match(text, position)) is None or match.end() == position:
            raise source.error(
                f"{shown(text[position:])} is not Key=value",
                line,
                "write SwitchName=s0 Nodes=n[0-7] without spaces, at the beginning of a continued line, too",
            )
        position = match.end()
        key, value = _KEYS.get(match[1].lower(), ""), match[2].strip('"')
        if not key:
            near = suggestion(match[1].lower(), _KEYS)
            for plain, spelled in _KEYS.items():
                near = near.replace(repr(plain), repr(spelled))
            raise source.error(
                f"unknown key {shown(match[1])}", line, near or f"known are {', '.join(_KEYS.values())}"
            )
        if key in values:
            raise source.error(f"{key} is given twice", line, "join the two lists with a comma")
        if key in ("Nodes", "Switches") and value.partition("=")[0].lower() in _KEYS and "=" in value:
            value, position = "", match.start(2)  # an empty list, and the next key
        values[key] = value
    return values


def _switches(source: Source, defaults: Defaults, lines: Sequence[_Line]) -> NetworkDescription:
    switches = []
    for line in lines:
        children, speed = line.told("Switches"), line.values.get("LinkSpeed", "")
        known = float(speed) if _SPEED.fullmatch(speed) and int(speed) > 0 else None
        # With levels it is scontrol's output, which repeats at each switch all nodes below it.
        repeated = bool(line.values.get("Level")) and children is not None
        switches.append(line.unit(children, known, hosts=not repeated))
    return shapes.tree_of(source, defaults, switches, 0, "add Nodes=… to a SwitchName= line")


def _blocks(source: Source, defaults: Defaults, lines: Sequence[_Line]) -> NetworkDescription:
    """Blocks of blocks, which scontrol lists, follow from the sizes, which it tells of each."""
    blocks = [line.unit() for line in lines if line.key == "BlockName"]
    given = [line for line in lines if line.key == "BlockSizes"]
    if len(given) > 1:
        raise source.error("BlockSizes is given twice", given[1].number, "keep one")
    if given:
        sizes = [
            shapes.Told(size.strip(), given[0].number) for size in given[0].values["BlockSizes"].split(",")
        ]
    else:
        listed = {
            shapes.whole(source, told, "BlockSize"): told
            for line in lines
            if (told := line.told("BlockSize"))
        }
        sizes = [listed[size] for size in sorted(listed) if size]  # before 24.11 it does not tell them
    return shapes.blocks_of(source, defaults, blocks, sizes, lines[0].number)


def _tori(source: Source, defaults: Defaults, lines: Sequence[_Line]) -> NetworkDescription:
    tori = [line for line in lines if "PlacementDims" not in line.values]
    shapes.check_only(source, "TorusName", len(tori), tori[-1].number if tori else lines[0].number)
    line, dims = tori[0], tori[0].values.get("Dims", "")
    nodes, match = line.told("Nodes"), _SIDES.fullmatch(dims)
    if nodes is None or match is None:
        raise source.error(
            "a torus needs Dims and Nodes", line.number, "write TorusName=t Dims=4x4x2 Nodes=n[1-32]"
        )
    sides: shapes.Triple = (int(match[1]), int(match[2]), int(match[3]))
    result = shapes.torus_of(
        source, defaults, sides, [shapes.Region((0, 0, 0), sides, nodes, line.number)], line.number
    )
    result.notes.append(_ORDER)
    return result


_READ: Final[dict[str, Callable[[Source, Defaults, Sequence[_Line]], NetworkDescription]]] = {
    "switches": _switches,
    "blocks": _blocks,
    "rings": lambda source, defaults, lines: shapes.ring_of(
        source, defaults, [line.unit() for line in lines], "RingName", lines[0].number
    ),
    "tori": _tori,
}
