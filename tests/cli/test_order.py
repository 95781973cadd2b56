"""``hocket order``: its formats, what it explains, and what it refuses."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
from pathlib import Path

import pytest

from hocket.network import read_network
from refusals import refused

CHAIN = "chain:8,8,8,8"
NAMES = [f"n{number}" for number in range(32)]


def at_random(seed: int, names: list[str] = NAMES) -> str:
    shuffled = list(names)
    random.Random(seed).shuffle(shuffled)
    return ",".join(shuffled)


def groups(hosts: list[str]) -> list[int]:
    """The switch of each host of CHAIN, by its number."""
    return [int(host[1:]) // 8 for host in hosts]


def test_hosts_at_random_follow_the_switches(hocket) -> None:
    answer = hocket("order", "--network", CHAIN, "--hosts", at_random(1))
    hosts = answer.out.split()
    assert (answer.code, answer.err, sorted(hosts)) == (0, "", sorted(NAMES))
    order = groups(hosts)
    assert sum(a != b for a, b in itertools.pairwise(order)) == 3


def test_a_good_order_is_kept(hocket) -> None:
    assert hocket("order", "--network", CHAIN, "--for", "all-gather").out.split() == NAMES
    report = hocket("order", "--network", "star:8", "--hosts", at_random(2, NAMES[:8]), "--json").object()
    assert report["order"] == report["hosts"] and not report["changed"] and report["gain"] == 1


FORMS = {
    "slurm": "n0\nn0\nn1\nn1\n",
    "plain": "n0\nn0\nn1\nn1\n",
    "openmpi-rankfile": "rank 0=n0 slot=0\nrank 1=n0 slot=1\nrank 2=n1 slot=0\nrank 3=n1 slot=1\n",
    "openmpi-hostfile": "n0 slots=2\nn1 slots=2\n",
    "mpich-hostfile": "n0:2\nn1:2\n",
    "hydra": "n0:2,n1:2\n",
    "torchrun": "n0\nn1\n",
    "pbs": "n0\nn0\nn1\nn1\n",
    "kubernetes": "n0 slots=2\nn1 slots=2\n",
    "volcano": "n0\nn1\n",
    "ray": "n0\nn1\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_formats(hocket, form: str) -> None:
    words = ["--network", "star:3", "--hosts", "n[0-1]", "--ranks-per-host", 2, "--for", "all-gather:ring"]
    assert hocket("order", *words, "--format", form).out == FORMS[form]


def test_a_file_and_its_path(hocket, tmp_path: Path) -> None:
    """The form that SLURM_HOSTFILE=$(hocket order … -o FILE) needs."""
    path = tmp_path / "ordered"
    words = ["--network", "star:2", "--ranks-per-host", 2, "--format", "slurm"]
    answer = hocket("order", *words, "-o", path)
    assert (answer.code, answer.out) == (0, f"{path}\n")
    assert sorted(path.read_text().split()) == ["n0", "n0", "n1", "n1"]
    refused(hocket("order", *words, "-o", tmp_path / "no" / "file"), "no/file")


@pytest.mark.parametrize("form", ["openmpi-hostfile", "openmpi-rankfile", "mpich-hostfile"])
def test_hosts_with_one_first_label(hocket, form: str, tmp_path: Path) -> None:
    """Files for Open MPI, and a note, say by which setting it takes them for several; mpirun maps them by it."""
    file, hosts = tmp_path / "pods.toml", tmp_path / "hosts"
    file.write_text('[[switch]]\nname = "s"\nhosts = "w.[1-4].net"\n')
    answer = hocket("order", "--network", file, "--format", form)
    lines = answer.out.splitlines()
    if form == "mpich-hostfile":
        assert "first dot" not in answer.out + answer.err and len(lines) == 4
        return
    assert lines[0].startswith("# Open MPI cuts") and lines[0][2:] in answer.err and len(lines) == 5
    addresses = file.read_text().replace("w.[1-4].net", "10.0.0.[1-4]")
    file.write_text(addresses)
    assert "first dot" not in hocket("order", "--network", file, "--format", form).err
    mpirun = Path(os.environ.get("HOCKET_TEST_OPENMPI", ""), "mpirun")
    if not mpirun.is_absolute():
        return
    settings = dict(word.split("=") for word in lines[0].split() if "_keep_" in word and "OMPI" not in word)
    hosts.write_text(
        answer.out if form == "openmpi-hostfile" else "\n".join(f"w.{i}.net" for i in range(1, 5))
    )
    words = [
        mpirun,
        "--hostfile",
        hosts,
        "--do-not-launch",
        "--display",
        "map",
        "-n",
        "4",
        "--allow-run-as-root",
    ]
    if form == "openmpi-rankfile":
        (tmp_path / "ranks").write_text(answer.out)
        words += ["--map-by", f"rankfile:file={tmp_path / 'ranks'}"]
    done = subprocess.run(
        [*words, "true"], env={**os.environ, **settings}, capture_output=True, text=True, timeout=60
    )
    assert [f"node: w.{i}.net" in done.stdout for i in range(1, 5)] == [True] * 4, done


@pytest.mark.parametrize("form", ["slurm", "openmpi-rankfile", "mpich-hostfile"])
def test_a_format_that_nobody_here_reads(hocket, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    answer = hocket("order", "--network", "star:3", "--format", form)
    assert answer.code == 0 and answer.out
    assert answer.err.count("\n") == 1 and f"which reads --format {form}, is not on PATH" in answer.err


def test_the_hosts_of_a_slurm_job(hocket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[0,9,1,8]")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2(x3),1")
    ring = ["--for", "all-gather:ring"]
    answer = hocket("order", "--network", CHAIN, "--slurm", *ring, "--format", "mpich-hostfile")
    assert answer.out == "n0:2\nn1:2\nn9:2\nn8:1\n"
    answer = hocket("order", "--network", CHAIN, "--slurm", *ring, "--ranks-per-host", 3, "--format", "hydra")
    assert answer.out == "n0:3,n1:3,n9:3,n8:3\n"
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2(x3)")
    refused(hocket("order", "--network", CHAIN, "--slurm"), "is of 3 hosts", "--ranks-per-host")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2(y3)")
    refused(hocket("order", "--network", CHAIN, "--slurm"), "which is not like 2(x3),1")


def test_the_hosts_of_a_heterogeneous_job(hocket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its batch script has the variables of group 0 under their usual names, too."""
    monkeypatch.setenv("SLURM_HET_SIZE", "2")
    for name, value in {"": "n[0,9]", "_HET_GROUP_0": "n[0,9]", "_HET_GROUP_1": "n[1,8]"}.items():
        monkeypatch.setenv(f"SLURM_JOB_NODELIST{name}", value)
    for name, value in {"": "2(x2)", "_HET_GROUP_0": "2(x2)", "_HET_GROUP_1": "3,1"}.items():
        monkeypatch.setenv(f"SLURM_TASKS_PER_NODE{name}", value)
    words = ["order", "--network", CHAIN, "--for", "all-gather:ring"]
    answer = hocket(*words, "--slurm", "--format", "mpich-hostfile")
    assert answer.out == "n0:2\nn1:3\nn9:2\nn8:1\n"
    refused(
        hocket(*words, "--slurm", "--format", "slurm"),
        "each group",
        '--hosts "$SLURM_JOB_NODELIST_HET_GROUP_0"',
    )
    assert hocket(*words, "--hosts", "n[0,9]", "--format", "slurm").code == 0
    monkeypatch.delenv("SLURM_TASKS_PER_NODE_HET_GROUP_1")
    assert hocket(*words, "--slurm", "--format", "hydra").out == "n0:1,n1:1,n9:1,n8:1\n"
    monkeypatch.setenv("SLURM_TASKS_PER_NODE_HET_GROUP_1", "3(x3)")
    refused(
        hocket(*words, "--slurm"),
        "SLURM_TASKS_PER_NODE_HET_GROUP_1 '3(x3)' is of 3 hosts",
        "--ranks-per-host",
    )


def test_a_node_file_of_pbs(hocket, tmp_path: Path) -> None:
    """It names a host once for each rank, with its domain."""
    file = tmp_path / "nodes"
    file.write_text("n0.x\nn0.x\nn9.x\nn1.x\nn1.x\nn9.x\nn8.x\n")
    words = ["order", "--network", CHAIN, "--hosts", f"@{file}", "--for", "all-gather:ring"]
    assert hocket(*words, "--format", "mpich-hostfile").out == "n0.x:2\nn1.x:2\nn9.x:2\nn8.x:1\n"
    assert hocket(*words, "--ranks-per-host", 1).out.split() == ["n0.x", "n1.x", "n9.x", "n8.x"]
    file.write_text("n0.x\nn0.x\nnx\n")
    refused(hocket(*words), f"{file}:3", "but not nx")


def test_a_hostfile_of_whole_names(hocket, tmp_path: Path) -> None:
    """Names are printed as the job writes them."""
    file = tmp_path / "hosts"
    file.write_text("# my job\nn0.cluster slots=4\nn9.cluster:4\nn1.cluster\nn8.cluster\n")
    answer = hocket("order", "--network", CHAIN, "--hosts", f"@{file}", "--for", "all-gather:ring")
    assert answer.out.split() == ["n0.cluster", "n1.cluster", "n9.cluster", "n8.cluster"]


def test_what_it_explains(hocket) -> None:
    words = ["--network", CHAIN, "--hosts", at_random(1), "--for", "all-gather,all-reduce:ring", "--explain"]
    words += ["--bytes", "1KiB"]
    answer = hocket("order", *words, "--format", "slurm")
    assert len(answer.out.split()) == 32
    lines = [line for line in answer.err.splitlines() if "is not on PATH" not in line]  # Slurm's tools
    assert "32 ranks on 32 hosts: depth-first" in lines[0] and "times as fast" in lines[0]
    calls = [line for line in lines if line.startswith(("all-gather ", "all-reduce "))]
    assert [line.split()[:2] for line in calls] == [
        ["all-gather", name] for name in ("ring", "recursive-doubling", "bruck")
    ] + [["all-reduce", "ring"]]
    assert "a step of a ring takes 1 times the bound of all orders" in answer.err
    assert "SLURM_HOSTFILE=FILE srun" in answer.err


def test_the_report_agrees_with_the_library_steps(hocket) -> None:
    """Before and after are the simulator's, and what Hocket adds does not depend on the order."""
    words = [
        "--network",
        CHAIN,
        "--hosts",
        at_random(1),
        "--for",
        "all-gather:ring",
        "--bytes",
        "256KB",
        "--json",
    ]
    report = hocket("order", *words).object()
    (call,) = report["calls"]
    assert report["changed"] and sorted(report["order"]) == sorted(NAMES)
    assert call["by"] == "simulation" and call["gain"] > 6 and report["gain"] > 6
    assert call["before"]["hocket"] == call["after"]["hocket"] < call["before"]["seconds"] / 6
    assert call["before"]["busiest"] in ("s0->s1", "s1->s0", "s1->s2", "s2->s1", "s2->s3", "s3->s2")
    assert report["ring_over_bound"]["after"] == pytest.approx(1) and report["ring_over_bound"]["before"] > 6


def test_messages_of_files(hocket, tmp_path: Path) -> None:
    """Ranks 0 and 3, 1 and 4, … exchange most: they come beside each other."""
    ranks = 6
    rows = [["1000" if abs(a - b) == 3 else "0" for b in range(ranks)] for a in range(ranks)]
    file = tmp_path / "halo.csv"
    file.write_text("\n".join(map(",".join, rows)) + "\n")
    for kind in ("halo", "matrix", "trace"):
        words = ["--network", "chain:2,2,2", "--for", f"{kind}:{file}", "--json"]
        report = hocket("order", *words).object()
        switch = [int(host[1:]) // 2 for host in report["order"]]
        assert all(switch[rank] == switch[rank + 3] for rank in range(3))
        (call,) = report["calls"]
        assert call["name"] == str(file) and call["gain"] > 1.5
        assert call["after"]["hocket"] < call["before"]["hocket"]


def test_many_ranks_are_told_by_link_rates(hocket) -> None:
    report = hocket("order", "--network", "tree:10x10x20", "--for", "all-gather", "--json").object()
    assert {(call["name"], call["by"]) for call in report["calls"]} == {("ring", "link rates")}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--hosts", "n[0-3],nx"], ["knows 4 of the 5 hosts, but not nx"]),
        (["--hosts", "x[0-99]"], ["knows none of the 100 hosts", "and 92 more"]),
        (["--hosts", "n99"], ["no host of the network is called 'n99'"]),
        (["--hosts", "n0,n1,n0"], ["host 'n0' is named twice", "--ranks-per-host"]),
        (["--hosts", "n[3-1]"], ["backwards"]),
        (["--hosts", "n[0-3"], ["unbalanced bracket"]),
        (["--hosts", "n0,,n1"], ["empty name"]),
        (["--hosts", "@"], ["names no file"]),
        (["--hosts", "@/nowhere"], ["/nowhere"]),
        (["--slurm", "--hosts", "n0"], ["--hosts and --slurm"]),
        (["--slurm"], ["SLURM_JOB_NODELIST is not set"]),
        (["--for", "broadcast"], ["'broadcast' is no call whose native algorithms are known", "all-gather"]),
        (["--for", "all-gather:bruk"], ["no such algorithm for 32 ranks", "bruck"]),
        (["--for", "all-to-all:all-at-once"], ["no such algorithm"]),
        (["--for", ""], ["--for is empty"]),
        (["--for", "halo:"], ["names no file"]),
        (["--for", "matrix:/nowhere.csv"], ["/nowhere.csv"]),
        (["--bytes", "0"], ["--bytes 0"]),
        (["--format", "lsf"], ["--format 'lsf' is not accepted"]),
        (["--ranks-per-host", "0"], ["--ranks-per-host 0"]),
        (["--ranks-per-host", "65536", "--network", "tree:100x100"], ["ranks"]),
    ],
)
def test_what_is_refused(hocket, words: list[str], says: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    network = [] if "--network" in words else ["--network", CHAIN]
    refused(hocket("order", *network, *words), *says)


def test_a_matrix_of_another_size(hocket, tmp_path: Path) -> None:
    file = tmp_path / "matrix.csv"
    file.write_text("0,1\n1,0\n")
    refused(
        hocket("order", "--network", "star:3", "--for", f"matrix:{file}"),
        "the matrix is 2 x 2, the network has 3",
    )


def test_a_line_of_a_file_is_named(hocket, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("n0\nn1 slots=2\nn0\n")
    refused(hocket("order", "--network", "star:3", "--hosts", f"@{file}"), f"{file}:3", "first in line 1")


def test_one_host(hocket) -> None:
    assert hocket("order", "--network", "star:3", "--hosts", "n2").out == "n2\n"
    answer = hocket("order", "--network", "star:3", "--hosts", "n2", "--ranks-per-host", "4", "--explain")
    assert answer.out == "n2\n" * 4


def test_the_names_of_the_tests() -> None:
    network = read_network(CHAIN)
    assert [network.names[node] for node in network.hosts] == NAMES
