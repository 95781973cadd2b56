"""How many messages of a rank may be under way in an all-gather (needs root).

    python bench/lab/windows.py [--mpi mpich] [--windows 2 3 8] [--rounds 2]

Jobs with different windows take turns, ranks at random places on topology (c). Writes raw numbers to
bench/results/lab-gather-window-MPI.json and prints medians.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from run import ROOT, TOPOLOGIES, compile_program

from hocket.lab import Lab, LabOptions
from hocket.mpi import find_mpi
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, scheduled_environment

SIZES = ["1024:9", "4096:7", "16384:5", "65536:3", "262144:1"]
RATE, BUFFER = 50e6 / 8, 60000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--windows", type=int, nargs="+", default=[2, 3, 8])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--shuffle", type=int, default=1)
    arguments = parser.parse_args()
    mpi = find_mpi(arguments.mpi)
    description = read_network_description(str(TOPOLOGIES["c"]))
    network = description.build()
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as work, Lab.up(description, LabOptions(RATE, BUFFER, "cubic")) as lab:
        program = compile_program(mpi, Path(work))
        for _ in range(arguments.rounds):
            for window in arguments.windows:
                env = scheduled_environment(mpi.mpicc, network, RuntimeOptions(flow=f"window:{window}"))
                result = lab.run(
                    [str(program), "allgather", *SIZES],
                    mpi=mpi,
                    env=env,
                    timeout=120,
                    capture=True,
                    shuffle=arguments.shuffle,
                )
                for words in map(str.split, result.output.splitlines()):
                    if len(words) == 2 and words[0].isdigit():
                        bound = (network.ranks - 1) * int(words[0]) / RATE
                        ratios.setdefault(f"{words[0]} bytes, window {window}", []).append(
                            round(float(words[1]) / bound, 4)
                        )
    document: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "settings": vars(arguments)
        | {"mpi": mpi.family.value, "rate": RATE, "buffer": BUFFER, "cc": "cubic"},
        "time_over_bound": ratios,
    }
    target = ROOT / f"bench/results/lab-gather-window-{mpi.family.value}.json"
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    for case, values in sorted(ratios.items()):
        print(f"{case}: {statistics.median(values):.3f} ({min(values):.3f}–{max(values):.3f})")


if __name__ == "__main__":
    main()
