"""network show, simulate, export to C, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hocket.cli import COMMANDS
from hocket.cli.simulate import PLOTS
from refusals import refused

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
# Tables and coordinates are read by way of the network that names them.
NETWORKS = [path for path in sorted(EXAMPLES.iterdir()) if path.suffix not in (".csv", ".txt")]


def test_network_show_json(hocket) -> None:
    report = hocket("network", "show", "chain:3,2,2", "--bytes", "1MB", "--json").object()
    assert report["hosts"] == [f"n{i}" for i in range(7)]
    assert report["switches"] == ["s0", "s1", "s2"]
    assert report["ranks"] == 7 and report["ranks_per_host"] == [1] * 7
    assert report["bound_phases"] == 12
    assert report["bound_seconds"] == pytest.approx(12 * 1e6 / 125e6)
    assert sorted(report["bottlenecks"]) == ["s0->s1", "s1->s0"]
    link = next(link for link in report["links"] if {link["a"], link["b"]} == {"s1", "s2"})
    assert link["load"] == [10, 10] and link["rate"] == 125e6


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: path.name)
def test_network_show_every_example(hocket, path: Path) -> None:
    answer = hocket("network", "show", path)
    assert answer.code == 0 and "bottleneck" in answer.out
    assert hocket("network", "show", path, "--json").object()["ranks"] >= 2


def test_network_show_is_short_for_large_networks(hocket) -> None:
    assert len(hocket("network", "show", "tree:4x16x16").out.splitlines()) < 60


def test_rates_for_files_that_know_none(hocket) -> None:
    show = ("network", "show", EXAMPLES / "topology.conf", "--json")
    assert {link["rate"] for link in hocket(*show).object()["links"]} == {125e6}
    assert {link["rate"] for link in hocket(*show, "--rate", "10Gbit").object()["links"]} == {1.25e9}


def test_simulate(hocket, plan: Path, tmp_path: Path) -> None:
    report = hocket("simulate", plan, "--network", "chain:3,2,2", "--json").object()
    assert report["predicted_seconds"] >= report["bound_seconds"] > 0
    assert report["flow"] == "token" and report["phases"] == 12
    assert len(report["channels"]) == 18
    assert all(0 <= channel["utilisation"] <= 1 + 1e-9 for channel in report["channels"])
    text = hocket("simulate", plan, "--network", "chain:3,2,2").out
    assert "predicted" in text and "s0->s1" in text


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--bytes", "1MB"], "--bytes"),
        (["--bytes", "64KiB"], "--bytes"),  # the default, but said
        (["--algorithm", "auto"], "--algorithm"),
        (["--root", "0"], "--root"),
        (["--algorithm", "ring", "--pattern", "all-to-all"], "--pattern and --algorithm"),
    ],
)
def test_simulate_plans_nothing_anew(hocket, plan: Path, options: list[str], named: str) -> None:
    answer = hocket("simulate", plan, "--network", "chain:3,2,2", *options)
    assert (answer.code, answer.out) == (2, "")
    assert f"{named} would plan an exchange, but {plan} is a plan" in answer.err


@pytest.mark.parametrize("flow", ["token", "barrier", "free", "window:2"])
def test_simulate_without_a_plan(hocket, flow: str) -> None:
    report = hocket("simulate", "--network", "tree:2x3", "--bytes", "1MB", "--flow", flow, "--json").object()
    assert report["flow"] == flow and report["ratio"] >= 1 - 1e-9


def test_simulate_from_a_root(hocket) -> None:
    options = ("simulate", "--network", "chain:1,1,1", "--bytes", "64KiB", "--pattern", "broadcast", "--json")
    for root in range(3):
        channels = {
            row["channel"]: row["bytes"] for row in hocket(*options, "--root", root).object()["channels"]
        }
        arrives = [channels[f"s{rank}->n{rank}"] for rank in range(3)]
        assert arrives == pytest.approx([0 if rank == root else 65536 for rank in range(3)])
    refused(hocket(*options, "--root", 3), "--root 3: the network has ranks 0 to 2")
    refused(
        hocket("simulate", "--network", "star:4", "--root", 1),
        "--root does not belong to --pattern all-to-all",
    )


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_picture(hocket, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"p.{ending}"
    assert hocket("simulate", "--network", "chain:2,2", "--plot", f"timeline={picture}").code == 0
    assert picture.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    assert [p.name for p in tmp_path.iterdir()] == [picture.name]


@pytest.mark.parametrize("kind", PLOTS)
def test_every_kind_of_picture(hocket, tmp_path: Path, kind: str) -> None:
    picture = tmp_path / "p.png"
    simulate = ("simulate", "--network", "torus:4x4", "--bytes", "4KiB", "--plot")
    answer = hocket(*simulate, f"{kind}={picture}")
    assert answer.code == 0 and f"wrote {picture}" in answer.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused(hocket(*simulate, f"{kind}={tmp_path / 'p.doc'}"), "p.doc has no known ending")
    assert [p.name for p in tmp_path.iterdir()] == ["p.png"]


def test_several_pictures_at_once(hocket, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"{kind}.svg" for kind in PLOTS}
    options = [word for kind, file in files.items() for word in ("--plot", f"{kind}={file}")]
    assert hocket("simulate", "--network", "star:3", *options).code == 0
    assert len({file.read_bytes() for file in files.values()}) == len(PLOTS) == 3


def test_c_source(hocket, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.c"
    report = hocket("export", plan, "--to", "c", "-o", out, "--json").object()
    assert report == {
        "plan": str(plan), "format": "c", "messages": 42, "function": "MPI_Alltoall", "flow": "token", "phases": 12,
        "files": [str(out)],
    }  # fmt: skip
    assert "int MPI_Alltoall(" in out.read_text()
    assert f"hocket export {plan} --to c --flow token --function-name MPI_Alltoall" in out.read_text()
    assert hocket("export", plan, "--to", "c", "-o", "-").out == out.read_text()


@pytest.mark.parametrize(
    ("collective", "function", "planning", "options"),
    [
        ("all-gather", "MPI_Allgatherv", (), ()),
        ("all-reduce", "MPI_Allreduce", ("--bytes", "100000"), ()),  # of seven ranks: no equal blocks
        ("reduce-scatter", "MPI_Reduce_scatter_block", (), ()),
        ("reduce", "MPI_Reduce", ("--root", "3"), ()),
        ("broadcast", "MPI_Bcast", ("--root", "3"), ("--flow", "barrier")),
        ("gather", "MPI_Gather", ("--root", "3"), ()),
        ("scatter", "MPI_Scatter", ("--root", "3"), ("--flow", "window:2")),
        ("scatter", "hocket_scatter", ("--root", "3"), ("--function-name", "hocket_scatter")),
    ],
)
def test_c_source_of_others(
    hocket, tmp_path: Path, collective: str, function: str, planning, options
) -> None:
    plan, out = tmp_path / "p.hkt", tmp_path / "a.c"
    assert hocket("plan", collective, "--network", "chain:3,2,2", "-o", plan, *planning).code == 0
    answer = hocket("export", plan, "--to", "c", "-o", out, *options)
    assert answer.code == 0 and "for 7 ranks" in answer.out, answer
    text = out.read_text()
    assert f"int {function}(" in text
    assert "--root" not in planning or "#define ROOT 3 " in text


@pytest.mark.parametrize(
    ("network", "planning", "options", "says"),
    [
        ("star:4", ("all-to-all",), ("--function-name", "1"), "'1' is not a name of a C function"),
        ("star:4", ("all-to-all",), ("--flow", "tokens"), "'tokens' is not a known flow control"),
        ("star:600", ("all-to-all",), (), "the network has 600 ranks; a routine is written for 2 to 512"),
        ("star:4", ("all-gather", "--contributions", "SIZES"), (), "contributions are equal and not empty"),
        ("star:3", ("irregular", "--demand", "DEMAND"), (), "no routine is written of an irregular exchange"),
    ],
)
def test_c_source_that_is_refused(
    hocket, tmp_path: Path, network: str, planning: tuple[str, ...], options: tuple[str, ...], says: str
) -> None:
    plan, out, demand, sizes = (tmp_path / name for name in ("p.hkt", "a.c", "a.csv", "sizes"))
    demand.write_text("0,1,2\n3,0,0\n0,4,0\n")
    sizes.write_text("1\n2\n3\n4\n")
    words = [{"DEMAND": str(demand), "SIZES": str(sizes)}.get(word, word) for word in planning]
    assert hocket("plan", *words, "--network", network, "-o", plan).code == 0
    refused(hocket("export", plan, "--to", "c", "-o", out, *options), says)
    assert not out.exists()


def test_options_of_c_source_alone(hocket, plan: Path) -> None:
    for option in (("--flow", "token"), ("--function-name", "f")):
        refused(hocket("export", plan, "--to", "goal", "-o", "x", *option), f"{option[0]} is for --to c")


def offered(words: str) -> list[str]:
    """Completions that bash gets for these words, kinds before names."""
    environment = {**os.environ, "_HOCKET_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split(" ")) - 1)
    command = [sys.executable, "-c", "from hocket.cli import cli; cli(prog_name='hocket')"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ("hocket pl", ["plain,plan"]),
        ("hocket plan all-to-all --", ["plain,--network", "plain,--window"]),
        ("hocket plan all-to-all --network ", ["file,"]),
        ("hocket plan all-to-all --algorithm pa", ["plain,packing", "plain,paired-shift"]),
        ("hocket plan all-to-all -o pl", ["file,pl"]),
        ("hocket verify ", ["file,"]),
        ("hocket network show exa", ["file,exa"]),
        ("hocket run --placement ", ["plain,names", "plain,slurm", "plain,order", "file,"]),
        ("hocket run --mpi o", ["plain,openmpi", "file,o"]),
        ("hocket run --flow ", ["plain,token", "plain,barrier", "plain,window:2", "plain,free"]),
        ("hocket run --network star:4 -n 4 ./pro", ["file,./pro"]),
        ("hocket plan alltoall --alg", ["plain,--algorithm"]),
        ("hocket simulate --plot h", ["plain,heat="]),
        ("hocket info pac", ["plain,packing"]),
    ],
)
def test_shells_are_offered(words: str, some: list[str]) -> None:
    assert set(some) <= set(offered(words))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(hocket, shell: str) -> None:
    assert "_HOCKET_COMPLETE" in hocket("completion", shell).out


def test_completion_completes(program) -> None:
    import os

    environment = {
        **os.environ,
        "_HOCKET_COMPLETE": "bash_complete",
        "COMP_WORDS": "hocket ver",
        "COMP_CWORD": "1",
    }
    assert program(env=environment).out == "plain,verify\n"
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "hocket plan all-to-all --algorithm p", "4"
    assert program(env=environment).out.split() == [
        "plain,product",
        "plain,packing",
        "plain,pairwise",
        "plain,paired-shift",
    ]


def test_version_and_help(program) -> None:
    assert program("--version").out.startswith("hocket ")
    text = program("--help").out
    assert all(f"\n  {command} " in text for command in COMMANDS)
