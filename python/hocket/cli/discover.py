"""``hocket network discover``: a network asked of the running system, or measured by the ranks of a job."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli._shared.commands import command, given, option
from hocket.cli._shared.launching import hostfile_option, mpi_option
from hocket.cli._shared.measured import answer, measure_network, measure_option, seconds_option, write_network
from hocket.cli._shared.options import (
    defaults_options,
    load_network,
    output_option,
    ranks_option,
    tell_network,
    tell_notes,
)
from hocket.cli._shared.work import (
    check_writable,
    json_option,
    need_toml,
    tell,
    wants_json,
    with_spinner,
    write_atomically,
    write_files,
)
from hocket.errors import MissingToolError, NetworkError, UsageError, Where
from hocket.launch.job import in_a_job, need_mpi4py, run_here
from hocket.network import Defaults, KnownNetwork
from hocket.network.chosen import expand
from hocket.network.known import known_network
from hocket.network.neighbours import Choice, merge
from hocket.network.readers.lldp import read_record
from hocket.network.source import Source, load
from hocket.network.writer import network_files
from hocket.system.files import as_error, make_folders

if TYPE_CHECKING:
    from mpi4py import MPI

    from hocket.measure.paths import Found


CABLES: Final = "ibnetdiscover"
TABLES: Final = "dump_fts"
_TOLD: Final = {"infiniband": "InfiniBand", "slurm": "Slurm", "lldp": "LLDP"}
_RECORD: Final = "(lldpcli -f json show chassis; lldpctl -f json) > NODE.json"
LIMIT: Final = 600.0  # seconds; large fabrics take some
SWITCHES: Final = "scontrol"
_BY: Final = {"infiniband": f"{CABLES} and {TABLES}", "slurm": f"{SWITCHES} show topology", "lldp": "lldpctl"}
# Parameters of what only tools, and only records of LLDP, are told.
_OF_TOOLS: Final = ("names", "keep")
_OF_LLDP: Final = ("hosts", "interface", "without")
_OTHERS: Final = ("infiniband", "slurm", "lldp", *_OF_TOOLS, *_OF_LLDP)
_SYSTEM: Final = ("/usr/sbin", "/sbin")  # not on everybody's PATH
_INSTALL: Final = "install infiniband-diags (so called in Debian, Red Hat and SUSE)"
_INSTALL_SLURM: Final = "run it where Slurm's commands are (Debian: slurm-client)"
_ANSWERS: Final = (
    "run it where 'scontrol ping' answers and TopologyPlugin tells how hosts are wired (tree, block, ring, torus3d), "
    "or give the file itself"
)
_ALLOWED: Final = (
    "run it where a port is up (ibstat), as a user who may read /dev/infiniband/umad* (mostly root)"
)


@command(
    "hocket network discover --measure -n 32 --hostfile hosts -o cluster.toml",
    "hocket network discover --slurm -o cluster.toml --rate 100Gbit",
)
@measure_option(
    "Measure which hosts share a bottleneck, and its rate. Start it as the program of a job, or give -n."
)
@ranks_option("a job's, with --measure")
@mpi_option
@hostfile_option
@seconds_option("With --measure: about how long it may take.", 5, 3600)
@option("--paths NETWORK",
        "Find the path of each source port. Start it as the program of a job with one rank on each host.")  # fmt: skip
@option("--infiniband", "Ask the InfiniBand subnet: ibnetdiscover and dump_fts.")
@option("--slurm", "Ask Slurm's controller: scontrol show topology.")
@option("--lldp", "Merge the LLDP records of nodes: FILEs, or folders of *.json, from lldpctl -f json.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@output_option("FILE.toml", "Write the network to this file.", required=True)
@option("--keep FOLDER",
        "Folder to keep the tools' output in: ibnetdiscover.txt and dump_fts.txt, or scontrol.txt.")  # fmt: skip
@option("--names FILE", "File of node names by GUID, the tools' --node-name-map.")
@option("--hosts LIST", "With --lldp: the hosts.  [default: nodes that do not forward frames]")
@option("--interface PATTERN", "With --lldp: use only the hosts' links on this interface.")
@option("--without LIST", "With --lldp: nodes to leave out.")
@defaults_options
@json_option
def discover(
    measure: bool,
    paths: str | None,
    infiniband: bool,
    slurm: bool,
    lldp: bool,
    files: tuple[str, ...],
    output: str,
    keep: str | None,
    names: str | None,
    hosts: str | None,
    interface: str | None,
    without: str | None,
    defaults: Defaults,
    **job: Any,
) -> None:
    """Ask the running system for its network and its routes, and write them as Hocket's TOML.

    --measure needs nothing but the job: sets of hosts that share a bottleneck, and its rate, from transfers between
    them. A link that is no bottleneck is not seen.

    --infiniband needs infiniband-diags and a port that is up. It also gives rates and forwarding tables. --slurm needs
    scontrol and a controller that answers. --lldp needs a record of lldpd from each host and switch: (lldpcli -f json
    show chassis; lldpctl -f json) > NODE.json

    --paths NETWORK finds the path of each source port on Ethernet with many paths."""
    if measure:
        if paths or files or given(*_OTHERS):
            raise UsageError(
                "--measure asks nobody but the ranks", remedy="give --measure and -o FILE.toml only"
            )
        need_toml(output)
        discover_measured(output=output, **job)
        return
    for each in given("ranks", "mpi_name", "hostfile"):
        raise UsageError(f"{each} is for --measure", remedy=f"leave {each} out")
    if paths is not None:
        if files or given(*_OTHERS):
            raise UsageError(
                "--paths asks routers, not tools", remedy="give --paths NETWORK and -o FILE.toml only"
            )
        need_toml(output)
        find_paths(paths, output, defaults)
        return
    source = "infiniband" if infiniband else "slurm" if slurm else "lldp"
    if infiniband + slurm + lldp != 1:
        raise UsageError(
            "one source is needed, and none or several are given",
            remedy="give --measure, --infiniband, --slurm or --lldp FILE...",
        )
    _check_options(source, files)
    need_toml(output)
    if defaults.forwarding is not None:
        what = "the tables are asked of the subnet" if infiniband else f"{_TOLD[source]} knows no tables"
        raise UsageError(f"--forwarding: {what}", remedy="leave --forwarding out")
    check_writable(output)
    if lldp:
        known = with_spinner(
            f"reading {len(files)} files", lambda: _merged(files, hosts, interface, without, defaults)
        )
        tell_notes(known)
        _write(known, output, source)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(keep) if keep is not None else Path(place)
        recorded = _asked_slurm(folder, defaults.topology is not None) if slurm else _recorded(folder, names)
        if not slurm:
            defaults = replace(defaults, forwarding=str(recorded[1]))
        try:
            known = load_network(str(recorded[0]), defaults)
        except NetworkError as problem:
            if keep is not None or problem.where is None:
                raise
            told = Where(f"output of {PurePath(problem.where.file).stem}", problem.where.line)
            remedy = f"{problem.remedy} (--keep FOLDER keeps the output)"
            raise NetworkError(problem.what, where=told, remedy=remedy) from None
        _write(known, output, source)
    if keep is not None and not wants_json():
        click.echo("\n".join(f"kept  {file}" for file in recorded))


def _check_options(source: str, files: Sequence[str]) -> None:
    """Raise :class:`UsageError` for options of another source."""
    if source == "lldp" and not files:
        raise UsageError("--lldp needs files", remedy=f"record one on each host and switch: {_RECORD}")
    if source != "lldp" and files:
        raise UsageError(f"{files[0]}: --{source} reads no files", remedy="leave it out, or give --lldp")
    for each in given(*(_OF_TOOLS if source == "lldp" else _OF_LLDP)):
        raise UsageError(f"{each} is not for --{source}", remedy=f"leave {each} out")
    if source == "slurm" and given("names"):
        raise UsageError("--names is for InfiniBand", remedy="leave --names out")


def _merged(
    files: Sequence[str], hosts: str | None, interface: str | None, without: str | None, defaults: Defaults
) -> KnownNetwork:
    """The network that files of lldpctl tell together."""

    def listed(option: str, text: str | None) -> list[str]:
        return [] if text is None else expand(text, Source(option, text, is_file=False))

    paths: list[str] = []
    for file in files:
        inside = sorted(str(path) for path in Path(file).glob("*.json")) if Path(file).is_dir() else [file]
        if not inside:
            raise UsageError(f"{file} holds no *.json", remedy=f"record one for each node: {_RECORD}")
        paths += inside
    choice = Choice(listed("--hosts", hosts), interface or "*", listed("--without", without))
    records = [read_record(load(path, "what lldpctl -f json prints")) for path in paths]
    return known_network(merge(records, defaults, choice), defaults)


def _asked_slurm(folder: Path, named: bool) -> list[Path]:
    """The file with what scontrol prints of switches, blocks or rings. Of a torus it tells the places of hosts, and of
    several topologies other ones than the default, only where it prints the configuration (``show topoconf``)."""
    program = _program(SWITCHES, _INSTALL_SLURM)
    _make(folder)

    def asked(what: str) -> bytes:
        return with_spinner(
            f"running {SWITCHES}", partial(_run, [program, "show", what], _ANSWERS, _INSTALL_SLURM)
        )

    text = asked("topoconf" if named else "topology")
    if not named and (b"=" not in text or b"TorusName=" in text):
        with contextlib.suppress(NetworkError):
            configured = asked("topoconf")
            text = configured if b"topology:" in configured else text
    if b"=" not in text and b"topology:" not in text:  # "No topology information available", exit code 0
        said = text.decode(errors="replace").strip().splitlines()[-1][:200]
        raise NetworkError(f"tells no switches: {said}", where=Where(SWITCHES), remedy=_ANSWERS)
    path = folder / f"{SWITCHES}.txt"
    write_atomically(str(path), [text])
    return [path]


def _make(folder: Path) -> None:
    with as_error(f"--keep {folder}", "name a folder that can be made", UsageError):
        make_folders(folder)


def _recorded(folder: Path, names: str | None) -> list[Path]:
    """The files with what the two tools print. Cables come first: a table of a switch that has come since is told."""
    options = [] if names is None else ["--node-name-map", names]
    if names is not None and not Path(names).is_file():
        raise UsageError(f"--names {names}: no such file", remedy='give lines 0xGUID "NAME"')
    programs = [_program(tool) for tool in (CABLES, TABLES)]
    _make(folder)
    files = []
    for program in programs:
        tool = PurePath(program).name
        text = with_spinner(f"running {tool}", partial(_run, [program, *options]))
        path = folder / f"{tool}.txt"
        write_atomically(str(path), [text])
        files.append(path)
    return files


def _program(tool: str, install: str = _INSTALL) -> str:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_SYSTEM])
    if (found := shutil.which(tool, path=path)) is None:
        raise MissingToolError(f"{tool} is not installed", remedy=install)
    return found


def _run(command: Sequence[str], allowed: str = _ALLOWED, install: str = _INSTALL) -> bytes:
    tool = PurePath(command[0]).name
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise NetworkError(
            f"has not ended within {LIMIT:.0f} s",
            where=Where(tool),
            remedy="look for what does not answer (ibqueryerrors, scontrol ping)",
        ) from None
    except OSError as problem:
        raise MissingToolError(f"{tool} cannot be started: {problem.strerror}", remedy=install) from None
    if done.returncode or not done.stdout.strip():
        lines = done.stderr.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        raise NetworkError(
            f"failed with exit code {done.returncode}: {last[:200]}", where=Where(tool), remedy=allowed
        )
    return done.stdout


def _write(known: KnownNetwork, output: str, source: str) -> None:
    network = known.network
    files = network_files(network, output, f"From {_BY[source]}\n{known.text}")
    write_files(files)
    entries = len(network.next_hops)
    tell_network(known, network, files, source, _TOLD[source], forwarding_entries=entries)


def discover_measured(
    ranks: int | None, mpi_name: str | None, hostfile: str | None, seconds: float, output: str
) -> None:
    """Measure, tell, and write the network."""
    check_writable(output)
    found = measure_network(ranks, mpi_name, hostfile, seconds)
    if found is None:  # a rank that only measured
        return
    told = answer(found)
    write_network(found, output)
    cost = f"{found.rounds} rounds, {found.bytes / 1e6:.0f} MB, {found.seconds:.1f} s"
    tell(
        {"source": "measured", "file": output, "told": told, **found.as_json()},
        lambda: [*told, "", *found.picture(), "", cost, f"wrote {output}"],
    )


def find_paths(network: str, output: str, defaults: Defaults) -> None:
    """Find paths in the job whose rank this process is, and write the network with them."""
    need_mpi4py()
    if not in_a_job():
        raise UsageError(
            "--paths needs a rank on each host",
            remedy="start it as the program of a job: mpiexec, srun, hocket lab run --native",
        )
    known = load_network(network, defaults)
    if known.description.shape != "graph":
        raise UsageError(f"{network} has one way between any two hosts", remedy="give a network with several")
    if known.description.paths is not None:  # found anew
        known = known.without_paths()

    def work(comm: MPI.Intracomm) -> Found | None:
        from hocket.measure.paths import find_paths as found_in

        return found_in(comm, known.network)

    if (found := run_here(None, work)) is None:
        return
    beside = str(PurePath(output).with_suffix(".paths.json"))
    files = network_files(known.network, output, f"Paths found {found.paths.found}\n{known.text}")
    head, _, rest = files[output].partition("\nshape = ")
    files[output] = f'{head}\npaths = "{PurePath(beside).name}"\nshape = {rest}'
    files[beside] = found.paths.to_json()
    write_files(files)
    asked = 2 * found.paths.ports * len(found.paths.pairs)
    report = {
        "source": "paths", "hosts": len(found.paths.addresses), "pairs": len(found.paths.pairs),
        "ways": found.paths.ways, "asked": asked, "silent": found.silent, "strangers": found.strangers,
        "spraying": found.paths.spraying, "packets_per_pair": found.packets, "seconds": found.seconds,
        "files": list(files),
    }  # fmt: skip
    lines = [
        f"paths: {len(found.paths.pairs)} pairs of {len(found.paths.addresses)} hosts by {len(found.paths.ways)} "
        f"switches, in {found.seconds:.1f} s; at most {found.packets} packets a pair"
    ]
    if found.silent:
        lines.append(f"  {found.silent:,} of {asked:,} ports without an answer")
    for address, times in sorted(found.strangers.items(), key=lambda item: -item[1])[:5]:
        lines.append(f"  {address} answered {times} times, and is no switch on the way: left out")
    if found.paths.spraying:
        lines.append("  one port takes several ways: packets are sprayed, and no path can be held")
    tell(report, lambda: [*lines, *(f"wrote {path}" for path in files)])
