"""network show, simulate, generate, algorithms, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert f"{named} would plan an exchange, but {plan} is planned already" in answer.err


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
    refused = hocket(*options, "--root", 3)
    assert refused.code == 2 and "--root 3: the network has ranks 0 to 2" in refused.err
    refused = hocket("simulate", "--network", "star:4", "--root", 1)
    assert refused.code == 2 and "--root does not belong to --pattern all-to-all" in refused.err


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_picture(hocket, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"p.{ending}"
    assert hocket("simulate", "--network", "chain:2,2", "--picture", picture).code == 0
    assert picture.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    assert [p.name for p in tmp_path.iterdir()] == [picture.name]


@pytest.mark.parametrize("option", ["--throughput", "--heat"])
def test_other_pictures(hocket, tmp_path: Path, option: str) -> None:
    picture = tmp_path / "p.png"
    simulate = ("simulate", "--network", "torus:4x4", "--bytes", "4KiB", option)
    answer = hocket(*simulate, picture)
    assert answer.code == 0 and f"wrote {picture}" in answer.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = hocket(*simulate, tmp_path / "p.doc")
    assert refused.code == 2 and f"{option} {tmp_path / 'p.doc'} has no known ending" in refused.err
    assert [p.name for p in tmp_path.iterdir()] == ["p.png"]


def test_generate(hocket, tmp_path: Path) -> None:
    out = tmp_path / "a.c"
    answer = hocket("generate", "all-to-all", "--network", "chain:3,2,2", "-o", out, "--json")
    assert answer.object()["phases"] == 12
    assert "int MPI_Alltoall(" in out.read_text()
    printed = hocket("generate", "all-to-all", "--network", "chain:3,2,2", "-o", "-").out
    assert printed == out.read_text()


@pytest.mark.parametrize(
    ("collective", "function", "options"),
    [
        ("all-reduce", "MPI_Allreduce", ("--bytes", "100000")),  # of seven ranks: no equal blocks
        ("reduce-scatter", "MPI_Reduce_scatter_block", ()),
        ("reduce", "MPI_Reduce", ("--root", "3")),
        ("broadcast", "MPI_Bcast", ("--root", "3", "--flow", "barrier")),
        ("gather", "MPI_Gather", ("--root", "3")),
        ("scatter", "MPI_Scatter", ("--root", "3", "--flow", "window:2")),
    ],
)
def test_generate_others(hocket, tmp_path: Path, collective: str, function: str, options) -> None:
    out = tmp_path / "a.c"
    hocket("generate", collective, "--network", "chain:3,2,2", "-o", out, *options)
    text = out.read_text()
    assert f"int {function}(" in text
    assert "--root 3" not in options or "#define ROOT 3 " in text


def test_algorithms(hocket) -> None:
    listed = hocket("algorithms", "--json").out
    assert '"tree"' in listed and '"packing"' in listed
    assert "Faraj and Yuan" in hocket("algorithms", "tree").out
    unknown = hocket("algorithms", "packing"[:-1])
    assert unknown.code == 2 and "did you mean 'packing'?" in unknown.err


@pytest.mark.parametrize("columns", [80, 110, 200])
def test_algorithms_fit_the_terminal(hocket, monkeypatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = hocket("algorithms").out.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum(line.startswith("all-to-all") for line in lines) == 12


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
        ("hocket sort k", ["file,k"]),
        ("hocket algorithms pac", ["plain,packing"]),
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
    for command in (
        "network",
        "plan",
        "verify",
        "simulate",
        "generate",
        "run",
        "record",
        "lab",
        "algorithms",
    ):
        assert f"\n  {command} " in text
