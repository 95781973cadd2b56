"""Names that commands and options had: refused, and the one that replaced it is named."""

from __future__ import annotations

from typing import Final

COMMANDS: Final = {
    "generate": "hocket export --to c",
    "gossip": "hocket plan all-gather --compare",
    "schedulers": "hocket info",
    "algorithms": "hocket info",
    "config": "hocket info",
    "sort": "hocket-sort",
}
OPTIONS: Final = {
    "--scheduler": "--algorithm",
    "--startup": "--alpha",
    "--bundles": "--two-level",
    "--bundled": "--two-level",
    "--picture": "--plot",
    "--throughput": "--plot throughput=FILE",
    "--heat": "--plot heat=FILE",
}


def now(kind: str, name: str, known: list[str]) -> str | None:
    """The replacement of a former name, if it is among the ``known`` options; None if there was no such name."""
    if kind == "command":
        return COMMANDS.get(name)
    replacement = OPTIONS.get(name)
    return replacement if replacement is not None and replacement.split()[0] in known else None
