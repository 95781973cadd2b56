"""Reports of a test program's ranks on its calls: who served them, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from hocket.report.ranks import Line, merge, read_ranks

#: Why the library may serve calls of a program that tries all kinds of communicators and sizes.
NOTHING_TO_SCHEDULE = frozenset({"few_ranks", "small", "intercommunicator"})


class Said(str):
    """Output of Hocket in a run, and the calls that its ranks have reported."""

    lines: tuple[Line, ...]

    def __new__(cls, text: str, directory: Path) -> Said:
        said = super().__new__(cls, text)
        reports, problems = read_ranks(directory)
        assert not problems, problems
        said.lines = merge(reports, len(reports)).lines
        return said

    def served(self, call: str = "", ranks: int = 0) -> Counter[str]:
        """Number of calls that each has served: "scheduled: switch-ring", "native: small". ``call``,
        ``ranks`` of the communicator: only those."""
        counts: Counter[str] = Counter()
        for line in self.lines:
            if call in ("", line.call) and ranks in (0, line.communicator):
                counts[f"scheduled: {line.detail}" if line.scheduled else f"native: {line.why}"] += line.calls
        return counts

    def scheduled(self, call: str = "", ranks: int = 0) -> int:
        """Number of scheduled calls."""
        return sum(n for who, n in self.served(call, ranks).items() if who.startswith("scheduled"))

    def by_two_level(self, ranks: int = 0) -> int:
        """Number of calls served by two-level messages."""
        return sum(
            n for who, n in self.served(ranks=ranks).items() if who.startswith("scheduled: aggregates")
        )


def all_scheduled(said: str, *calls: str, by: str = "", ranks: int = 0, but: Iterable[str] = ()) -> None:
    """Some of each of these calls were scheduled, all ``by`` that, and the library has served none but where there
    was nothing to schedule, or for the reasons in ``but``."""
    assert isinstance(said, Said)
    allowed = {f"native: {why}" for why in NOTHING_TO_SCHEDULE.union(but)}
    for call in calls:
        served = said.served(call, ranks)
        others = [who for who in served if who not in allowed and not who.startswith(f"scheduled: {by}")]
        assert said.scheduled(call, ranks) > 0 and not others, f"{call} by {by or 'any'}: {dict(served)}"


def none_scheduled(said: str, *calls: str, ranks: int = 0) -> None:
    """Some of each of these calls were made, and the library has served all."""
    assert isinstance(said, Said)
    for call in calls:
        served = said.served(call, ranks)
        assert served and said.scheduled(call, ranks) == 0, f"{call}: {dict(served)}"
