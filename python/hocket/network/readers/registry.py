"""The readers of files: one line each. A new format is one file, one line here and one test file."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers import clouds, ibnetdiscover, jgf, simgrid, slurm_conf, slurm_yaml, toml
from hocket.network.source import Source

_LOOKED_AT: Final = 2**16  # characters at either end of a file
_LLDP: Final = "(lldpcli -f json show chassis; lldpctl -f json) > NODE.json"
_MERGED: Final = "merged by 'hocket network discover --lldp FILE... -o cluster.toml'"
_KUBERNETES: Final = "print it by 'kubectl get nodes -o json'"
_AWS: Final = "print it by 'aws ec2 describe-instance-topology --output json'"
_SLURM: Final = "print it by 'scontrol show topology', or 'scontrol show topoconf', without options"
_FLUX: Final = "print the graph alone: 'flux ion-resource find -q --format=jgf status=up'"
_CABLES: Final = "run ibnetdiscover without options"

# The look of an output, what it is, what to do.
_OUTPUTS: Final = tuple(
    (re.compile(pattern, re.MULTILINE), what, remedy)
    for pattern, what, remedy in (
        (
            r"^LLDP neighbors:|^Local chassis:|^lldp\.[^\s=]+=|^[ \t]*<(?:lldp|local-chassis)\b",
            "is what lldpctl prints for people",
            f"record JSON on each node: {_LLDP}, {_MERGED}",
        ),
        (
            r'\A\s*\{\s*"(?:lldp|local-chassis)"\s*:',
            "is what one node hears by LLDP",
            f"it is part of a network: files of all nodes are {_MERGED}",
        ),
        (
            r"^NAME +STATUS +ROLES +AGE +VERSION|^kind: (?:List|NodeList|Node)$|^Name: +\S+\nRoles: ",
            "is a list of Kubernetes' nodes that is no JSON",
            _KUBERNETES,
        ),
        (
            r"^INSTANCES\t|^Instances:$|^\|[ \t]*DescribeInstanceTopology[ \t]*\|$",
            "is AWS's instance topology, and no JSON",
            _AWS,
        ),
        (
            r'"data_parser"\s*:\s*"data_parser/|^[ \t]*data_parser: data_parser/',
            "is what Slurm's commands print with --json or --yaml",
            _SLURM,
        ),
        (
            r"^(?:NodeName|PartitionName|ClusterName)=|^PARTITION +AVAIL |^Configuration data as of ",
            "is Slurm's word on nodes and partitions, not on the network",
            _SLURM,
        ),
        (
            r'^ *STATE +.*\bNNODES\b|\A\s*\{(?![\s\S]*"graph"\s*:)[\s\S]*"R_lite"\s*:',
            "lists Flux's resources without their graph",
            _FLUX,
        ),
        (r'\A\s*[^{\s](?:.*\n)*?\{"graph": ?\{', "is a graph of Flux with other lines before it", _FLUX),
        (
            r"^(?:CA|Switch): .*:$|^(?:CA|SW|RT) +\d+ +\d+ 0x[0-9a-f]{16} ",
            "is a list of InfiniBand's ports",
            _CABLES,
        ),
    )
)


def refuse_other_output(source: Source) -> None:
    """Raises :class:`hocket.errors.NetworkError` for what a known tool prints and no reader reads."""
    text = source.text
    if len(text) > 2 * _LOOKED_AT:
        text = text[:_LOOKED_AT] + "\n" + text[-_LOOKED_AT:]
    for look, what, remedy in _OUTPUTS:
        if look.search(text) is not None:
            raise source.error(what, remedy=remedy)


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
    Reader("aws", "AWS describe-instance-topology", clouds.sniff_aws, clouds.read_aws),
    Reader(
        "kubernetes",
        "Kubernetes' nodes with topograph's labels",
        clouds.sniff_kubernetes,
        clouds.read_kubernetes,
    ),
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
