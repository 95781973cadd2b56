"""A network file or short form, read by the reader that knows it."""

from __future__ import annotations

from hocket.errors import UsageError
from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers import short_forms
from hocket.network.source import Source, load


def read_network_description(source: str, defaults: Defaults | None = None) -> NetworkDescription:
    """Read a network file or short form. ``source`` is a path, or for example ``star:24``.

    ``defaults`` fill in what the source leaves open (for Slurm files: all rates and latencies).
    Raises :class:`hocket.errors.NetworkError`, and nothing else, when the source is no network.
    """
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
