"""``hocket doctor``: what it finds, and what it says to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket import _core
from hocket.cli import cli
from hocket.doctor import Case, Finding, Level, examine
from hocket.doctor import installation as package_check
from hocket.doctor.case import Rank
from hocket.doctor.installation import check_cache, check_compiler, check_mpi, check_runtime, check_variables
from hocket.doctor.network import check_network, check_plans
from hocket.doctor.ranks import check_placement, ranks_in, start
from hocket.errors import HocketError
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.launch.runtime import find_runtime, ready
from hocket.network import Defaults, read_network

pytestmark = pytest.mark.by_turns

Check = Callable[[Case], Iterator[Finding]]


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def problems(check: Check, case: Case) -> list[Finding]:
    found = [finding for finding in check(case) if finding.level is Level.PROBLEM]
    assert all(finding.remedy for finding in found)
    return found


def doctor(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Exit code, and findings by topic."""
    done = subprocess.run([sys.executable, "-m", "hocket", "doctor", "--json", *arguments],
                          capture_output=True, text=True, timeout=280, env=env, check=False)  # fmt: skip
    document = json.loads(done.stdout)
    topics: dict[str, list[dict[str, str]]] = {}
    for finding in document["findings"]:
        topics.setdefault(finding["topic"], []).append(finding)
    assert document["problems"] == sum(finding["level"] == "problem" for finding in document["findings"])
    return done.returncode, topics


def test_a_sound_installation(mpi: Mpi) -> None:
    code, topics = doctor("--mpi", mpi.mpiexec, "--network", "chain:2,2", "--placement", "order", "-n", "4")
    assert code == 0, topics
    assert "on 1 host, and their all-to-all is right" in topics["launcher"][0]["text"]
    scheduled = topics["scheduled"]
    assert [finding["level"] for finding in scheduled] == ["ok"]
    assert "all-to-all of 4 ranks on 4 hosts: 4 phases by 'tree', every byte right" in scheduled[0]["text"]


@pytest.fixture
def ready_made(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ready-made runtime for this MPI in a place with a blank, and no compiler."""
    built, file = (
        find_runtime(mpi.mpicc),
        {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}[mpi.family.value],
    )
    home = tmp_path / "a place/native/ready" / mpi.family.value
    home.mkdir(parents=True)
    for path in (built.shim, built.library):
        shutil.copy(path, home)
    (home / "libhocket_sort.so").touch()
    (home / "functions.json").write_text('{"MPI_Alltoall": true}')
    if ready._beside(mpi.mpicc, file) is None:
        pytest.skip("the MPI's library is not beside its launcher")
    monkeypatch.setattr(ready, "native_dir", lambda: tmp_path / "a place/native")
    monkeypatch.setenv("CXX", "/no/such/c++")
    return home


def test_a_ready_made_runtime_needs_no_compiler(mpi: Mpi, ready_made: Path) -> None:
    """Its ranks are checked all the same, and it works where LD_PRELOAD cannot name its place."""
    pytest.importorskip("mpi4py")
    case = Case(os.environ, "chain:2,2", mpi.mpiexec, placement="order", ranks=4)
    topics: dict[str, list[Finding]] = {}
    for finding in examine(case):
        topics.setdefault(finding.topic, []).append(finding)
    assert not [finding for found in topics.values() for finding in found if finding.level is Level.PROBLEM]
    (compiler,) = topics["compiler"]
    assert compiler.level is Level.NOTE and "none is needed: the ready-made runtime serves" in compiler.text
    assert topics["runtime"][0].text == f"{ready_made}, ready-made"
    assert "starts 4 ranks on 1 host, and their all-to-all is right" in topics["launcher"][0].text
    assert "4 phases by 'tree', every byte right" in topics["scheduled"][0].text
    told = CliRunner().invoke(cli, ["info", "--mpi", mpi.mpiexec, "--json"])
    (one,) = json.loads(told.stdout)["mpis"]
    assert one["runtime"] == f"in {ready_made}" and one["version"] in ("MPICH 5", "Open MPI 5")


def test_hosts_that_the_network_does_not_know(mpi: Mpi, tmp_path: Path) -> None:
    network = tmp_path / "net.conf"
    network.write_text("SwitchName=s1 Nodes=elsewhere[0-3]\n")
    code, topics = doctor("--mpi", mpi.mpiexec, "--network", str(network))
    assert code == 1
    (placement,) = topics["placement"]
    assert placement["level"] == "problem"
    assert "4 of 4 ranks (0, 1, 2, 3) run on hosts that the network does not have" in placement["text"]
    assert "elsewhere0" in placement["text"] and "--placement" in placement["remedy"]
    assert topics["scheduled"][0]["level"] == "problem"  # the native call served, and the runtime said why
    assert "not in the network file" in topics["scheduled"][0]["text"]


def test_problems_do_not_hide_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tmp_path.chmod(0o777)
    case = Case({"HOCKET_SEGMENT": "none"}, network_file="/no/such/file", mpi_name="/no/such/mpiexec")
    topics = {finding.topic for finding in examine(case) if finding.level is Level.PROBLEM}
    assert topics == {"environment", "cache", "mpi", "network"}


def test_wrong_usage_is_no_finding() -> None:
    done = subprocess.run([sys.executable, "-m", "hocket", "doctor", "-n", "0"],
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HOCKET_SEGMENT", "12", "HOCKET_SEGMENT='12' is not a whole number from 1024"),
        ("HOCKET_FLOW_CONTROL", "tokens", "HOCKET_FLOW_CONTROL='tokens' is not token, barrier or free"),
        ("HOCKET_MIN_BYTE", "1", "did you mean HOCKET_MIN_BYTES?"),
        ("LD_PRELOAD", "/no/such/library.so", "does not exist"),
        ("LD_PRELOAD", "libother.so:libhocket_shim.so", "libhocket_shim.so, but HOCKET_RUNTIME is not set"),
    ],
)
def test_variables(name: str, value: str, said: str) -> None:
    (found,) = problems(check_variables, Case({name: value, "PATH": "/bin"}))
    assert said in found.text


def test_right_variables_are_notes() -> None:
    case = Case({"HOCKET_SEGMENT": "4096", "LD_PRELOAD": "libother.so"})
    notes = list(check_variables(case))
    assert [finding.level for finding in notes] == [Level.NOTE, Level.NOTE]
    assert "libother.so" in notes[0].text and "HOCKET_SEGMENT=4096" in notes[1].text


def test_a_job_that_env_has_prepared(mpi: Mpi, tmp_path: Path) -> None:
    """A job of docs/first-slurm-job.md gets one line. What is left of one is a problem, which the remedy ends."""
    said = ["--mpi", mpi.mpiexec, "--network", "chain:2,2", "--placement", "order"]
    prepare = [sys.executable, "-m", "hocket", "env", *said, "-v"]
    env = environment_after(
        subprocess.run(prepare, capture_output=True, text=True, timeout=280, check=True).stdout
    )
    code, topics = doctor(*said, "-n", "4", env=env)
    (told,) = topics["environment"]
    assert (code, told["level"]) == (0, "ok") and "prepared by 'hocket env': LD_PRELOAD, " in told["text"]
    assert "HOCKET_PLACEMENT=order, " in told["text"] and "HOCKET_LOG=1" in told["text"]
    assert topics["scheduled"][0]["level"] == "ok"
    case = Case({**env, "HOCKET_RUNTIME": "MPI of another kind /runtime.so"}, mpi=mpi)
    (found,) = problems(check_runtime, case)
    assert "prepared for MPI of another kind and " in found.text and "--mpi" in found.remedy
    gone = {**env, "HOCKET_PLAN": f"{env['HOCKET_PLAN']}:{tmp_path}/gone.hkt"}
    (found,) = problems(check_variables, Case(gone))
    assert f"prepared with {tmp_path}/gone.hkt, which does not exist" in found.text
    undo = [sys.executable, "-m", "hocket", "env", "--unset"]
    done = subprocess.run(undo, capture_output=True, text=True, timeout=60, check=True, env=gone)
    assert not problems(check_variables, Case(environment_after(done.stdout, gone)))


def environment_after(commands: str, env: dict[str, str] | None = None) -> dict[str, str]:
    shown = subprocess.run(
        ["sh", "-c", 'eval "$0"; env -0', commands], capture_output=True, text=True, check=True, env=env
    )
    return dict(entry.split("=", 1) for entry in shown.stdout.rstrip("\0").split("\0"))


def test_a_job_that_is_disabled(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said, and no problem: nothing is scheduled because somebody wants it so."""
    monkeypatch.setenv("HOCKET_DISABLE", "1")
    code, topics = doctor("--mpi", mpi.mpiexec, "-n", "4")
    (said,) = (finding for finding in topics["environment"] if "HOCKET_DISABLE=1" in finding["text"])
    assert said["level"] == "note" and "every call goes to the MPI library" in said["text"]
    assert "unset HOCKET_DISABLE" in said["remedy"]
    assert code == 0 and [finding["level"] for finding in topics["scheduled"]] == ["note"]


@pytest.mark.parametrize("body", ["exit 1", "sleep 60", ""])
def test_a_compiler_that_does_not_do(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = script(tmp_path / "c++", f"{body}\n[ $# -gt 1 ] && exit 1")
    monkeypatch.setenv("CXX", compiler)
    (found,) = problems(check_compiler, Case({}, seconds=1))
    assert compiler in found.text and "GCC 12" in found.remedy


def test_an_extension_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not problems(package_check.check_package, Case({}))
    monkeypatch.setattr(_core, "__version__", "0.0.7")
    (found,) = problems(package_check.check_package, Case({}))
    assert "its extension 0.0.7" in found.text and "install it again" in found.remedy


def test_a_cache_without_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not problems(check_cache, Case({}))
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1 << 20}))
    (found,) = problems(check_cache, Case({}))
    assert "1 MB are free" in found.text and "XDG_CACHE_HOME" in found.remedy


def test_a_launcher_and_a_wrapper_of_two_mpis(tmp_path: Path) -> None:
    launcher = script(tmp_path / "mpiexec", "echo 'HYDRA build details: 5.0'")
    script(
        tmp_path / "mpicc",
        "echo '#define OMPI_MAJOR_VERSION 5'; echo '#define OMPI_MINOR_VERSION 0'; "
        "echo '#define OMPI_RELEASE_VERSION 1'",
    )
    (found,) = problems(check_mpi, Case({}, mpi_name=launcher))
    assert "belongs to mpich, but " in found.text and "Open MPI 5.0.1" in found.text


def test_networks_and_plans(tmp_path: Path) -> None:
    case = Case({}, network_file="chain:2,2")
    said = [finding.text for finding in check_network(case)]
    assert "4 hosts for 4 ranks" in said[0] and "all-to-all: algorithm " in said[3]
    assert said[1].startswith("host rates: assumed 1 Gbit/s")
    assert said[2] == "uplinks: 1 Gbit/s each, as stated"
    subprocess.run([sys.executable, "-m", "hocket", "plan", "all-to-all", "--network", "star:3", "-o",
                    str(tmp_path / "plan")], check=True, timeout=60, capture_output=True)  # fmt: skip
    case.plans = (tmp_path / "plan",)
    (found,) = problems(check_plans, case)
    assert "made for other hosts" in found.text
    (tmp_path / "plan").write_bytes(b"damaged")
    with pytest.raises(HocketError, match="make it again"):
        list(check_plans(case))


def test_assumed_uplinks_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    slurm = tmp_path / "topology.conf"
    slurm.write_text("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=t Switches=a,b\n")
    rates, found = list(check_network(Case({}, network_file=str(slurm))))[1:3]
    assert rates.level == "note" and rates.text.startswith("host rates: assumed 1 Gbit/s")
    assert found.level == "note" and found.text.startswith("uplinks: assumed")
    wide = Case({}, network_file=str(slurm), defaults=Defaults(rate=125e6, oversubscription=(1,)))
    rates, found = list(check_network(wide))[1:3]
    assert (rates.level, rates.text) == ("ok", "host rates: 1 Gbit/s, as stated")
    assert (found.level, found.text) == ("ok", "uplinks: 2 Gbit/s each, by --oversubscription")


def placed(
    names: list[str], network: str = "star:3", placement: str = "names", slurm: str = ""
) -> list[Finding]:
    case = Case({}, placement=placement, network=read_network(network))
    case.ranks_told = [Rank(i, True, name, slurm) for i, name in enumerate(names)]
    return problems(check_placement, case)


def test_placement_by_names() -> None:
    network = read_network("star:3")
    known = [name for name, ranks in zip(network.names, network.ranks_per_node, strict=True) if ranks]
    assert not placed(known)
    assert not placed([f"{name}.cluster.example" for name in known])
    assert not placed(["a"] * 3, slurm=known[0])
    (found,) = placed([known[0], "b", "b"])
    assert "2 of 3 ranks (1, 2)" in found.text and "are b;" in found.text
    (found,) = placed(known, placement="slurm")
    assert "names from Slurm are (none)" in found.text


def test_starting_ranks_is_bounded(tmp_path: Path) -> None:
    launcher = script(tmp_path / "mpiexec", "sleep 100 & sleep 100")
    case = Case({}, seconds=1, mpi=Mpi(MpiFamily.MPICH, launcher))
    begun = time.monotonic()
    with pytest.raises(HocketError, match=r"were not done in 1 s; check that the hosts can be reached"):
        start(case, {}, ["true"])
    assert time.monotonic() - begun < 60
    script(tmp_path / "mpiexec", "echo 'no such host' >&2; exit 3")
    with pytest.raises(HocketError, match=r"failed with code 3: no such host; make this work first"):
        start(case, {}, ["true"])


def test_what_a_probe_does_not_print_is_ignored() -> None:
    output = (
        "banner\nhocket-probe\t1\tright\tb\t\nhocket-probe\tx\tright\tb\t\nhocket-probe\t0\twrong\ta\ts\n"
    )
    assert ranks_in(output) == [Rank(0, False, "a", "s"), Rank(1, True, "b", "")]
