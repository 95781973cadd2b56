"""``hocket network discover`` by the ranks of a job: bottlenecks (``--measure``) and paths (``--paths``)."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from hocket.cli._shared.measured import answer, measure_network, write_network
from hocket.cli._shared.options import load_network
from hocket.cli._shared.work import check_writable, tell, write_files
from hocket.errors import UsageError

if TYPE_CHECKING:
    from mpi4py import MPI

    from hocket.measure.paths import Found
    from hocket.network import Defaults


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
    from hocket.launch.job import in_a_job, need_mpi4py, run_here

    need_mpi4py()
    if not in_a_job():
        raise UsageError(
            "--paths needs a rank on each host",
            remedy="start it as the program of a job: mpiexec, srun, hocket lab run --native",
        )
    from hocket.network.writer import network_files

    known = load_network(network, defaults)
    if known.description.shape != "graph":
        raise UsageError(f"{network} has one way between any two hosts", remedy="give a network with several")
    if known.description.paths is not None:  # found anew
        known = known.without_paths()

    def work(comm: MPI.Intracomm) -> Found | None:
        from hocket.measure.paths import find_paths as found_in

        return found_in(comm, known.network)

    found = run_here(None, work)
    if found is None:
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
