"""Recognise the type of a file by its content, and make its sections."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.errors import HocketError, NetworkError, PlanError, Where
from hocket.measure.kept import read
from hocket.network import Defaults, read_components
from hocket.network.readers import short_forms
from hocket.network.source import Source
from hocket.report import measured_part
from hocket.report.html import Section
from hocket.report.measured_part import learned_sections
from hocket.report.plan_part import network_sections, plan_sections
from hocket.report.run_part import run_sections
from hocket.system.files import decode, read_limited
from hocket.system.text import where_is

MOST_BYTES: Final = 1 << 30
_WHAT: Final = "a plan, a network, a report of a run, learned choices or a table of measurements"
_PLAN: Final = b"HOCKET\x1a\n"
_KEPT_TIMINGS: Final = "hocket choices "


def sections_of(path: str, defaults: Defaults, bytes: int) -> Iterator[Section]:
    """Raises HocketError, with the file and where it can the line, for what is nothing of this or damaged.

    ``defaults``: what networks leave open. ``bytes``: of a message of the all-to-all that is shown on networks."""
    if short_forms.sniff(Source(path, path, is_file=False)):
        yield from _network(path, defaults, bytes)
        return
    data = read_limited(path, MOST_BYTES, _WHAT, HocketError)
    title = Path(path).name
    if data.startswith(_PLAN):
        yield from _plan(title, path, data)
        return
    where = where_is(path)
    if not data.strip():
        raise HocketError("is empty", where=where, remedy=f"name {_WHAT}")
    text = decode(data, where, HocketError)
    if text.startswith(_KEPT_TIMINGS):
        yield from learned_sections(title, read(Path(path)))
        return
    if text.lstrip().startswith("{") and '"hocket_report"' in text:
        yield from run_sections(title, _json(text, where), where)
        return
    if measured_part.looks_like(text):
        yield from measured_part.measured_sections(title, measured_part.read(text, where))
        return
    yield from _network(path, defaults, bytes)


def _plan(title: str, path: str, data: bytes) -> Iterator[Section]:
    try:
        plan = _core.Plan.decode(data)
    except _core.InputError as problem:
        raise PlanError(f"{path}: {problem}", remedy="make it again with 'hocket plan'") from None
    yield from plan_sections(title, plan)


def _network(path: str, defaults: Defaults, bytes: int) -> Iterator[Section]:
    try:
        components = read_components(path, defaults)
    except NetworkError as problem:
        if "format of this file" not in problem.what:
            raise
        raise HocketError(
            "is of no known kind", where=problem.where, remedy=f"name {_WHAT}; {problem.remedy}"
        ) from None
    title = path if short_forms.sniff(Source(path, path, is_file=False)) else Path(path).name
    for number, known in enumerate(components):
        several = f", component {number + 1} of {len(components)}" if len(components) > 1 else ""
        yield from network_sections(title + several, known, bytes)


def _json(text: str, where: Where) -> dict[str, object]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as problem:
        raise HocketError(
            f"is not JSON: {problem.msg}",
            where=Where(where.file, problem.lineno),
            remedy="is the file cut off?",
        ) from None
    except RecursionError:
        raise HocketError("is nested too deeply", where=where, remedy="is it a file of Hocket's?") from None
    assert isinstance(found, dict)
    return found
