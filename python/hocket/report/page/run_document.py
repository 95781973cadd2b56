"""Reading of the JSON of ``hocket run --report``, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hocket.errors import ReportError, Where

VERSION: Final = 1
_FROM: Final = "is it from 'hocket run --report=FILE.json'?"
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "call": (str,),
    "object": (str,),
    "offset": (int,),
    "function": (str,),
    "file": (str,),
    "line": (int,),
    "communicator": (int,),
    "calls": (int,),
    "exchanges": (int,),
    "bytes": (int,),
    "served": (str,),
    "why": (str,),
    "message_bytes": (list,),
    "seconds": (dict,),
}
_CHOICE: Final[dict[str, tuple[type, ...]]] = {
    "collective": (str,),
    "candidate": (str,),
    "communicator": (int,),
    "hosts": (int,),
    "message": (int,),
    "calls": (int,),
    "trials": (int,),
    "native": (int, float),
    "predicted": (int, float),
    "measured": (int, float),
}


def lines_and_choices(
    document: Mapping[str, Any], where: Where
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Calls by place, and who was chosen to serve them.

    Raises ReportError for a report of another version, or damaged.
    """
    if document.get("hocket_report") != VERSION:
        raise ReportError(
            f"is a report of version {document.get('hocket_report')!r}, and this Hocket reads {VERSION}",
            where=where,
            remedy="write it again with 'hocket run --report=FILE.json'",
        )
    return _checked(document, "lines", _KINDS, where), _checked(document, "choices", _CHOICE, where)


def _checked(
    document: Mapping[str, Any], key: str, kinds: Mapping[str, tuple[type, ...]], where: Where
) -> list[dict[str, Any]]:
    found = document.get(key, [])
    if not isinstance(found, list):
        raise ReportError(f"'{key}' is not a list", where=where, remedy=_FROM)
    for number, line in enumerate(found):
        for name, kind in kinds.items():
            value = line.get(name) if isinstance(line, dict) else None
            if not isinstance(value, kind) or isinstance(value, bool):
                raise ReportError(
                    f"entry {number + 1} of '{key}' has no '{name}'",
                    where=where,
                    remedy=_FROM,
                )
        if "seconds" in kinds:
            seconds, sizes = line["seconds"], line["message_bytes"]
            numbers = [*(seconds.get(name) for name in ("least", "mean", "most")), *sizes]
            numbers += [
                value
                for value in (line.setdefault(f"{name}_seconds", None) for name in ("predicted", "bound"))
                if value is not None
            ]
            if len(sizes) != 2 or not all(
                isinstance(number, int | float) and number >= 0 for number in numbers
            ):
                raise ReportError(
                    f"entry {number + 1} of '{key}' has times or sizes that are none",
                    where=where,
                    remedy=_FROM,
                )
    return found
