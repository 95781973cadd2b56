"""All-gathers started by a real Slurm's srun and by mpiexec on the emulated cluster, cyclic (needs root and Slurm).

    python bench/lab/slurm.py [--network 'tree:4x8*2'] [--sizes 65536:2] [--pairs 3]

In one job of the lab's Slurm, native and scheduled runs by both launchers take turns. With srun schedules come from
what a job script asks `hocket env` for, with mpiexec from the environment of `hocket lab run`. Raw numbers and medians
go to bench/results/lab-slurm.{csv,md}.
"""

from __future__ import annotations

import argparse
import re
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

from run import PROGRAM, bound, emulated, lab_options, lab_up, settings_of

from hocket.lab import Lab
from hocket.lab.slurm import PMI, slurm
from hocket.lab.wires import HOST_PORT
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi, lab_environment, launch_command
from hocket.network import NetworkDescription, read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, mpis
from results_file import Row, alternating, begin, cells, grouped, spread

ASK = (
    'eval "$(hocket env --network "$(dirname "$SLURM_CONF")/topology.conf" --ranks-per-host {} --placement slurm '
    '--mpi {})"'
)


def commands(
    lab: Lab, mpi: Mpi, network: NetworkDescription, program: list[str]
) -> dict[tuple[str, str], str]:
    """Shell command of each launcher and candidate."""
    hosts = [(host.name, host.ranks) for host in lab.state.hosts]
    srun = shlex.join(
        [
            "srun",
            f"--mpi={PMI[mpi.family]}",
            "-N",
            str(len(hosts)),
            "-n",
            str(lab.ranks),
            "--distribution=cyclic",
        ]
    )
    found = {("srun", "native"): f"{srun} {shlex.join(program)}"}
    ask = ASK.format(hosts[0][1], shlex.quote(mpi.mpiexec))
    found["srun", "scheduled"] = f"( {ask}; export HOCKET_CHOOSE=off; {srun} {shlex.join(program)} )"
    scheduled = scheduled_environment(mpi.mpicc, network.build(), RuntimeOptions(choose="off"))
    for candidate, variables in (("native", {}), ("scheduled", scheduled)):
        settings = {**lab_environment(mpi, HOST_PORT), **variables}
        words = launch_command(
            mpi, lab.ranks, hosts, settings, program, agent=lab.state.agent, interface=HOST_PORT, cyclic=True
        )
        found["mpiexec", candidate] = shlex.join(words)
    return found


def measure(arguments: argparse.Namespace, mpi: Mpi, program: Path) -> list[Row]:
    """A row per repetition of every run."""
    description = read_network_description(arguments.network)
    network, rate = description.build(), arguments.rate * 1e6 / 8
    rows: list[Row] = []
    with lab_up(description, arguments) as lab:
        found = commands(lab, mpi, description, [str(program), "allgather", *arguments.sizes])
        script = ["set -e"]
        for pair in range(arguments.pairs):
            for launcher, candidate in alternating(found, pair):
                script += [f"echo == {pair} {launcher} {candidate}", found[launcher, candidate]]
        job = Path(lab.state.tmp) / "job.sh"
        job.write_text("\n".join(script) + "\n")
        with slurm(lab, description) as variables:
            settings = {**lab_environment(mpi, HOST_PORT), **variables}
            command = ["env", *(f"{name}={value}" for name, value in settings.items()), "sh", str(job)]
            done = lab.call(lab.state.hosts[0].name, command, timeout=arguments.timeout, capture=True)
        if done.exit_code != 0:
            sys.exit(f"exit code {done.exit_code}\n{done.output}")
        for line in done.output.splitlines():
            if head := re.fullmatch(r"== (\d+) (\w+) (\w+)", line):
                row = {
                    "mpi": mpi.family.value,
                    "pair": int(head[1]),
                    "launcher": head[2],
                    "candidate": head[3],
                }
            elif figures := re.fullmatch(r"(\d+) ([\d.e-]+)", line):
                size = int(figures[1])
                limit = bound(network, "all-gather", size, rate)
                rows.append(row | {"bytes": size, "seconds": float(figures[2]), "bound": limit})
    return rows


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Medians of each launcher."""
    told = []
    for key, of in grouped(rows, "mpi", "bytes", "launcher").items():
        seconds = {name: [row["seconds"] for row in some] for name, some in grouped(of, "candidate").items()}
        gain = statistics.median(seconds["native"]) / statistics.median(seconds["scheduled"])
        shown = [spread([1e3 * s for s in seconds[name]], 0) for name in ("native", "scheduled")]
        told.append([*key, f"{1e3 * of[0]['bound']:.0f}", *shown, f"{gain:.2f}"])
    return [
        *emulated(f"All-gathers by srun and by mpiexec, {heading['network']}, cyclic,", heading),
        *cells(["MPI", "bytes", "launcher", "bound", "native", "scheduled", "gain"], told),
        "",
        "Milliseconds a call, median (minimum–maximum); of each MPI runs of all four take turns in one job of the",
        "lab's Slurm. Every byte is checked.",
    ]


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="tree:4x8*2")
    parser.add_argument("--sizes", nargs="+", default=["65536:2"], metavar="BYTES:REPETITIONS")
    parser.add_argument("--pairs", type=int, default=3)
    lab_options(parser, timeout=900)
    arguments, results = begin(parser, "lab-slurm", summary)
    results.heading |= settings_of(arguments) | {"network": arguments.network}
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            results.add(*measure(arguments, mpi, compiled(mpi, PROGRAM, Path(work))))
    print(results.summarise())


if __name__ == "__main__":
    main()
