"""Where the rates of a network come from, and those of its hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from hocket.network.description import NetworkDescription
from hocket.network.measured import read_measured
from hocket.network.parts import AssumedRate
from hocket.units import format_rate, format_time

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


CONTRADICTED: Final = 1.5  # times faster or slower than stated: what was measured counts
_REMEDY: Final = "give --rate"


def settle_host_rates(description: NetworkDescription) -> KnownRates:
    """Gives all links the rates that a run has measured, where these count, and says how they are known.

    The description's proportions stay: what is measured is how fast a host is."""
    rates = host_rates(description)
    if not rates:
        return KnownRates("none", "host rates: no host has a link")
    rate, assumed = max(rates), all(isinstance(rate, AssumedRate) for rate in rates)
    measured, warning = read_measured(description)
    if measured is None:
        if assumed:
            text = f"host rates: assumed {format_rate(rate)} (not stated); {_REMEDY}"
            return KnownRates("assumed", text, warning=warning)
        return KnownRates("stated", f"host rates: {format_rate(rate)}, as stated", warning=warning)
    times = measured.host_rate / rate
    if not assumed and 1 / CONTRADICTED < times < CONTRADICTED:
        return KnownRates("stated", f"host rates: {format_rate(rate)}, as stated")
    _make_faster(description, times, only_assumed=assumed)
    alpha = f", {format_time(measured.alpha, 3)} a message" if measured.alpha > 0 else ""
    but = "" if assumed else f"; the network says {format_rate(rate)}"
    found = f"{format_rate(measured.host_rate, 3)}{alpha}{but}"
    return KnownRates("measured", f"host rates: measured on {measured.date} in this cluster: {found}")


def host_rates(description: NetworkDescription) -> list[float]:
    """Rates of the links of hosts, in bytes per second; those that no file states are of the type AssumedRate."""
    if description.wiring is not None:
        return [description.wiring.host_rate]
    if description.grid is not None:
        return [description.grid.rate]
    if description.routing is not None:  # the first channel of a route is the host's own
        channels = description.routing.channels
        return [channels[path[0]].rate for _, _, path in description.routing.routes if path]
    hosts = {node.name for node in description.nodes if node.is_host}
    return [link.rate for link in description.links if link.a in hosts or link.b in hosts]


def _make_faster(description: NetworkDescription, times: float, *, only_assumed: bool) -> None:
    if description.grid is not None:
        description.grid.rate *= times
        return
    for link in description.routing.channels if description.routing is not None else description.links:
        if isinstance(link.rate, AssumedRate) or not only_assumed:
            link.rate *= times
