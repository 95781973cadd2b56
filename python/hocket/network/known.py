"""Networks as commands know them: read from files and short forms, with the provenance of their rates."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from hocket._core import Network
from hocket.errors import UsageError
from hocket.network.description import NetworkDescription
from hocket.network.measured import Measured, read_measured
from hocket.network.neighbours import component_with, components_of
from hocket.network.parts import Defaults
from hocket.network.readers import short_forms
from hocket.network.source import Source, load
from hocket.network.uplinks import KnownRates, apply_options, settle_host_rates, shared_uplinks
from hocket.units import format_rate


def read_network_description(source: str, defaults: Defaults | None = None) -> NetworkDescription:
    """Read a network file or short form. ``source`` is a path, or for example ``star:24``.

    ``defaults`` fill in what the source leaves open (for Slurm files: all rates and latencies). Raises
    :class:`hocket.errors.NetworkError`, and nothing else, when the source is no network."""
    text = Source(source, source, is_file=False)
    defaults = defaults or Defaults()
    several = False
    if short_forms.sniff(text):
        description = short_forms.read(text, defaults)
    else:
        from hocket.network.readers import registry  # parsers of XML and YAML take long to load

        text = load(source)
        reader = registry.find(text)
        description = reader.read(text, defaults)
        several = reader.name == "slurm-yaml"
    if defaults.topology is not None and not several:
        raise UsageError("--topology is for Slurm's topology.yaml, which may hold several",
                         remedy="leave it out")  # fmt: skip
    description.source = source
    if text.is_file and description.routing is None:
        description.link_ends()
    if defaults.forwarding is not None:
        from hocket.network.readers.forwarding import attach_tables

        attach_tables(description, defaults.forwarding, choose_lids=defaults.lids == "chosen")
    elif defaults.lids == "chosen":
        raise UsageError("--lids chosen needs forwarding tables", remedy="give them: --forwarding FILE")
    return description


_REMEDY: Final = "give --oversubscription or --uplink-rate, or let 'hocket run' measure them"


@dataclass(frozen=True, slots=True)
class Uplinks(KnownRates):
    """Provenance of the rates of inter-switch links.

    ``provenance`` is that of the least known link; ``none`` where no two switches are wired, or nothing is known of
    links between switches and no two hosts share one. ``switch_links``: how many links are of that provenance."""

    switch_links: int = 0


@dataclass(frozen=True, slots=True)
class KnownNetwork:
    """The core's network, the description that it was built from, and how its rates are known."""

    network: Network
    description: NetworkDescription
    uplinks: Uplinks
    host_rates: KnownRates

    @property
    def assumed(self) -> bool:
        """True if some of the rates compared are assumed. Assumed rates of hosts alone do not count:
        they cancel out."""
        return self.uplinks.assumed

    @property
    def is_measured(self) -> bool:
        """True if some rates were measured by a run, so that plans made earlier have other rates."""
        return "measured" in (self.host_rates.provenance, self.uplinks.provenance)

    def without_paths(self) -> Self:
        """The same network on its own routes."""
        description = replace(self.description, paths=None)
        return replace(self, network=description.build(), description=description)

    @property
    def warnings(self) -> list[str]:
        """Reasons why kept measurements were not used, each once."""
        return list(dict.fromkeys(filter(None, (self.host_rates.warning, self.uplinks.warning))))

    @property
    def text(self) -> str:
        """Provenance of the rates, one line for hosts and one for uplinks."""
        return f"{self.host_rates.text}\n{self.uplinks.text}"

    def rates_as_json(self) -> dict[str, Any]:
        """Provenance of the rates for JSON reports: ``host_rates`` and ``uplinks``."""
        return {"host_rates": self.host_rates.as_json(), "uplinks": self.uplinks.as_json()}


def read_known_network(
    source: str, defaults: Defaults | None = None, hosts: Collection[str] = ()
) -> KnownNetwork:
    """The network of a file or short form, its uplinks as fast as options, the file or a measurement say, in this
    order, and else assumed. Of several components the one with all of ``hosts``.

    Raises :class:`hocket.errors.NetworkError` as :func:`hocket.network.read_network_description` does, where an option
    does not fit the network, and where there are components and ``hosts`` are not of one."""
    defaults = defaults or Defaults()
    return known_network(read_network_description(source, defaults), defaults, hosts)


def read_network(source: str, defaults: Defaults | None = None) -> Network:
    """The network of the core, with all its checks passed; :func:`read_known_network` also says how its
    uplinks are known."""
    return read_known_network(source, defaults).network


def known_network(
    description: NetworkDescription, defaults: Defaults, hosts: Collection[str] = ()
) -> KnownNetwork:
    """Make the known network of a description that has been read already."""
    return _known(component_with(components_of(description), hosts), defaults)


def read_components(source: str, defaults: Defaults | None = None) -> list[KnownNetwork]:
    """Every connected component of a network; most networks have one."""
    defaults = defaults or Defaults()
    return [
        _known(component, defaults) for component in components_of(read_network_description(source, defaults))
    ]


def _known(description: NetworkDescription, defaults: Defaults) -> KnownNetwork:
    host_rates = settle_host_rates(description)  # first: uplinks may be so many times as fast
    uplinks = settle_uplinks(description, defaults)
    return KnownNetwork(description.build(), description, uplinks, host_rates)


def settle_uplinks(description: NetworkDescription, defaults: Defaults) -> Uplinks:
    """Gives every uplink of the description its rate, and says how it is known."""
    option = apply_options(description, defaults)
    if description.wiring is not None:  # nobody has asked for links, which all have their rates
        return _stated(description.wiring.uplinks, description.wiring.uplink_rates, "as stated")
    switch_links = description.uplinks()
    if option or not switch_links:
        return _stated(len(switch_links), _rates(description, switch_links), f"by {option}")
    if unknown := [index for index in switch_links if not description.links[index].rate_given]:
        shared = set(shared_uplinks(description))
        unknown = [index for index in unknown if index in shared]
        if not (switch_links := [index for index in switch_links if index in shared]):
            return Uplinks("none", "uplinks: none with two hosts or more on both sides")
    if not unknown:
        return _stated(len(switch_links), _rates(description, switch_links), "as stated")
    measured, warning = read_measured(description)
    left = _use(measured, description, unknown) if measured is not None else unknown
    if measured is not None and not left:
        rates = _from_to(_rates(description, unknown))
        most = max((width.pairs for width in measured.widths.values() if width.at_least), default=0)
        text = f"uplinks: measured on {measured.date} in this cluster: {rates}"
        text += f" (at least: no more than {most} pairs were sent across at once)" if most else ""
        return Uplinks("measured", text, warning, len(unknown))
    some = f"{len(left)} of {len(switch_links)} " if len(left) < len(switch_links) else ""
    text = f"uplinks: {some}assumed as fast as a host's link (the file does not say); {_REMEDY}"
    return Uplinks("assumed", text, warning, len(left))


def _stated(uplinks: int, rates: Collection[float], how: str) -> Uplinks:
    if uplinks == 0:
        return Uplinks("none", "uplinks: none")
    return Uplinks("stated", f"uplinks: {_from_to(rates)}, {how}", switch_links=uplinks)


def _use(measured: Measured, description: NetworkDescription, links: Sequence[int]) -> list[int]:
    """Sets the rates that were measured; returns the links of which nothing is known."""
    hosts = {node.name for node in description.nodes if node.is_host}
    rates = [link.rate for link in description.links if link.a in hosts or link.b in hosts]
    host_rate = max(set(rates), key=rates.count)
    left = []
    for index in links:
        link = description.links[index]
        if (width := measured.widths.get(frozenset((link.a, link.b)))) is None:
            left.append(index)
        else:
            link.rate = width.value * host_rate
    return left


def _rates(description: NetworkDescription, links: Sequence[int]) -> set[float]:
    return {description.links[index].rate for index in links}


def _from_to(rates: Collection[float]) -> str:
    least, most = min(rates), max(rates)
    if least == most:
        return f"{format_rate(least)} each"
    return f"{format_rate(least)} to {format_rate(most)} each"
