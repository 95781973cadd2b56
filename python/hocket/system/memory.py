"""Memory available on this host, within the limits of batch systems and containers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

_GROUPS: Final = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Bytes that this process and others of its job can use before something is swapped out or killed."""
    try:
        membership = Path("/proc/self/cgroup").read_text()
    except OSError:
        membership = ""
    return min([int(psutil.virtual_memory().available), *left_by_groups(_GROUPS, membership)])


def left_by_groups(root: Path, membership: str) -> list[int]:
    """Bytes that each control group above a process leaves of its limit; ``membership``: its /proc/PID/cgroup."""
    left = []
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        for version in _VERSIONS:
            if controllers.split(",").count(version.controller):
                top = root / version.controller
                own = top / path.lstrip("/")
                groups = [own, *(group for group in own.parents if group.is_relative_to(top))]
                left += [room for group in groups if (room := version.room(group)) is not None]
    return left


@dataclass(frozen=True, slots=True)
class _Version:
    """Names of a version of control groups."""

    controller: str
    limit: str
    used: str
    reclaimable: str

    def room(self, group: Path) -> int | None:
        """Bytes below the limit, files in memory that nobody has used lately among them."""
        limit, used = _number(group / self.limit), _number(group / self.used)
        if limit is None or used is None:
            return None
        return max(0, limit - used + self._reclaimable(group))

    def _reclaimable(self, group: Path) -> int:
        try:
            lines = (group / "memory.stat").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith(f"{self.reclaimable} ")), 0)


_VERSIONS: Final = (
    _Version("", "memory.max", "memory.current", "inactive_file"),
    _Version("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def _number(file: Path) -> int | None:
    """None where there is no such file, or no limit."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
