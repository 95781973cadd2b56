"""The readers of files: one line each. A new format is one file, one line here and one test file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers import (
    ibnetdiscover,
    instance_topology,
    jgf,
    kubernetes,
    simgrid,
    slurm_conf,
    slurm_yaml,
    toml,
)  # fmt: skip
from hocket.network.readers.other_outputs import refuse_other_output
from hocket.network.source import Source


@dataclass(frozen=True, slots=True)
class Reader:
    """``sniff`` tells from name and text whether a file is meant for ``read``."""

    name: str
    description: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source, Defaults], NetworkDescription]


# The first reader that recognises a file gets it.
READERS: tuple[Reader, ...] = (
    Reader("hocket", "Hocket's own TOML", toml.sniff, toml.read),
    Reader("simgrid", "SimGrid platform XML, version 4.1", simgrid.sniff, simgrid.read),
    Reader("slurm-conf", "Slurm topology.conf, scontrol show topology", slurm_conf.sniff, slurm_conf.read),
    Reader("slurm-yaml", "Slurm topology.yaml", slurm_yaml.sniff, slurm_yaml.read),
    Reader("ibnetdiscover", "InfiniBand's ibnetdiscover", ibnetdiscover.sniff, ibnetdiscover.read),
    Reader("aws", "AWS describe-instance-topology", instance_topology.sniff, instance_topology.read),
    Reader("kubernetes", "Kubernetes' nodes with topograph's labels", kubernetes.sniff, kubernetes.read),
    Reader("jgf", "Flux's JSON Graph Format", jgf.sniff, jgf.read),
)


def find(source: Source) -> Reader:
    """The reader of a file; an error that lists the formats if none knows it, and one that says which option is
    missing where a tool has printed something else."""
    refuse_other_output(source)
    for reader in READERS:
        if reader.sniff(source):
            return reader
    formats = ", ".join(reader.description for reader in READERS)
    raise source.error(
        "the format of this file is not known", remedy=f"known are: {formats} (see 'hocket help networks')"
    )
