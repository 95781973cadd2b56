"""Places in programs as people know them: function, file and line, where debug information tells."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hocket.report.run.ranks import Site

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Place:
    function: str = ""
    file: str = ""
    line: int = 0


def places(sites: Iterable[Site]) -> dict[Site, Place]:
    """Asks addr2line, if there is one; else what the process itself could tell."""
    found = {site: Place(function=site.function) for site in sites}
    tool = shutil.which("addr2line")
    if tool is None:
        return found
    by_object: defaultdict[str, list[Site]] = defaultdict(list)
    for site in found:
        by_object[site.object].append(site)
    for path, of_object in by_object.items():
        if path.startswith("/") and Path(path).is_file():
            found |= _asked(tool, path, of_object)
    return found


def same_places(found: Mapping[Site, Place]) -> dict[Site, Site]:
    """Map sites on the same line to one of them: compilers unroll loops."""
    first: dict[Place, Site] = {}
    return {site: first.setdefault(place, site) for site, place in found.items() if place.file}


def _asked(tool: str, path: str, sites: list[Site]) -> dict[Site, Place]:
    command = [tool, "--functions", "--demangle", f"--exe={path}"]
    offsets = "".join(f"{site.offset:#x}\n" for site in sites)
    try:
        done = subprocess.run(
            command, input=offsets, capture_output=True, text=True, errors="replace",
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return {}
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != 2 * len(sites):
        return {}
    return {
        site: _place(function, where, site)
        for site, function, where in zip(sites, answers[::2], answers[1::2], strict=True)
    }


def _place(function: str, where: str, site: Site) -> Place:
    known = site.function if function == "??" else function
    file, _, line = where.partition(" (")[0].rpartition(":")  # "fft.c:120 (discriminator 2)"
    if file in ("", "??") or not line.isdecimal():
        return Place(known)
    return Place(known, file, int(line))
