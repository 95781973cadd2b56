"""Provenance of a network's rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Provenance = Literal["stated", "measured", "assumed", "none"]


@dataclass(frozen=True, slots=True)
class KnownRates:
    """``provenance``: ``stated`` by the file or an option, ``measured`` by a run, ``assumed``, or ``none`` where there
    are no such links. ``text`` is one line for the user; ``warning``, if any, says what of the cache was not taken.
    """

    provenance: Provenance
    text: str
    warning: str = ""

    @property
    def assumed(self) -> bool:
        return self.provenance == "assumed"

    def as_json(self) -> dict[str, Any]:
        return {"provenance": self.provenance, "text": self.text}
