"""``make demo``: from a topology file to a scheduled MPI_Alltoall, and a sort, in about two minutes.

Every step is a command that a user could type; it is shown before it runs.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy

from hocket.launch import TimedOutError, captured, exit_code
from hocket.system.files import make_folders

ROOT = Path(__file__).resolve().parents[1]
OUT = Path("demo-out")
NETWORK = "examples/networks/paper-c.toml"
SMALL = "chain:2,2,2,2"


def say(text: str) -> None:
    """A heading between the steps."""
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def step(command: str) -> None:
    """Shows a command and runs it; the demo ends with its exit code if it fails."""
    print(f"$ {command}", flush=True)
    # A demonstration shows the schedule itself; a handful of calls would find out little.
    env = {**os.environ, "HOCKET_CHOOSE": "off"}
    try:
        code = exit_code(shlex.split(command), env, seconds=280)
    except TimedOutError:
        sys.exit(f"demo: '{command}' has taken more than 280 s")
    if code != 0:
        print(f"demo: '{command}' ended with exit code {code}", file=sys.stderr)
        sys.exit(code)


def main() -> None:
    """Plans, proves, predicts, generates and runs."""
    os.chdir(ROOT)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    make_folders(OUT)
    plan = f"{OUT}/plan.hkt"
    # Runs that come before it is ready wait for it.
    say("What ranks load is compiled for the MPI here; meanwhile:")
    for more in [], ["--sort"]:
        subprocess.Popen(["hocket", "info", "--libs", *more], stdout=subprocess.DEVNULL)
    say("The network: four switches in a chain, eight hosts on each")
    step(f"hocket network show {NETWORK}")
    say("A schedule that meets the bound, proved")
    step(f"hocket plan all-to-all --network {NETWORK} --bytes 256KiB -o {plan}")
    step(f"hocket verify {plan} --network {NETWORK}")
    say("What it will take, link by link, and a picture of it")
    step(f"hocket simulate {plan} --network {NETWORK} --plot timeline={OUT}/plan.svg")
    say("A thousand hosts: a million messages")
    step("hocket plan all-to-all --network tree:4x16x16 --bytes 64KiB")
    say("An all-gather on the same network: every rank passes on what it has got")
    step(f"hocket plan all-gather --network {NETWORK} --bytes 256KiB")
    say("An unmodified MPI program, its collectives scheduled (8 ranks on this machine stand for 8 hosts)")
    step(f"mpicc -O2 examples/programs/collective_time.c -o {OUT}/collective_time")
    run = f"hocket run --network {SMALL} -n 8 --placement order -v --"
    step(f"{run} {OUT}/collective_time alltoall 65536 5")
    step(f"{run} {OUT}/collective_time allgather 65536 5")
    say("The same routine as C source that needs no Hocket")
    step(f"hocket plan all-to-all --network {SMALL} -o {OUT}/small.hkt")
    step(f"hocket export {OUT}/small.hkt --to c -o {OUT}/alltoall.c")
    step(f"mpicc -O2 examples/programs/collective_time.c {OUT}/alltoall.c -o {OUT}/alltoall_linked")
    step(f"mpiexec -n 8 {OUT}/alltoall_linked alltoall 65536 5")
    say("A million keys in a file, sorted by four ranks, step by step")
    numpy.save(f"{OUT}/keys.npy", numpy.random.default_rng(1).integers(0, 2**32, 10**6, numpy.uint32))
    step(f"hocket-sort {OUT}/keys.npy {OUT}/sorted.npy -n 4 --report")
    if os.geteuid() == 0 and lab_works():
        say("On wires that collide: an emulated cluster, 50 Mbit/s links, first native, then scheduled")
        lab = f"hocket lab run --network {SMALL} --rate 50Mbit"
        step(f"{lab} --native -- {OUT}/collective_time alltoall 131072 2")
        step(f"{lab} -- {OUT}/collective_time alltoall 131072 2")
        say(
            "The same for MPI_Allgather, its ranks at random over the hosts: the worst case, not the usual one"
        )
        step(f"{lab} --shuffle 3 --native -- {OUT}/collective_time allgather 131072 2")
        step(f"{lab} --shuffle 3 -- {OUT}/collective_time allgather 131072 2")
    else:
        say("Skipped: the emulated cluster (it needs root, network namespaces and traffic control)")
    say(f"Done. The plan, its picture and the generated source are in {OUT}/")


def lab_works() -> bool:
    """Return true if this machine lets root build network namespaces and shape their links."""
    probe = ["hocket", "lab", "run", "--network", "star:2", "--native", "-n", "1", "--", "true"]
    return captured(probe, seconds=60).returncode == 0


if __name__ == "__main__":
    main()
