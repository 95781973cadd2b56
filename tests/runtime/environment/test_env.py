"""``hocket env``: what docs/installation.md shows, executed; any launcher schedules with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi, MpiFamily
from mpi_programs import found_runtime, hocket_here

DOCUMENT = (Path(__file__).parents[3] / "docs" / "installation.md").read_text()
MODULE, BATCH, _, PLAIN = re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)
BATCH = BATCH.replace("--rate 25Gbit --ranks-per-host 4 ", "")  # the stand-in for a job has one
MODULE = MODULE.replace("cluster.toml --ranks-per-host 2", "/etc/slurm/topology.conf")

# With the widths of uplinks: where they are not known, ranks measure before they schedule.
TOPOLOGY = """\
SwitchName=s1 Nodes=n[0-3] LinkSpeed=1000
SwitchName=s2 Nodes=n[4-7] LinkSpeed=1000
SwitchName=top Switches=s[1-2] LinkSpeed=2000
"""

Hocket = Callable[..., subprocess.CompletedProcess[str]]
Shell = Callable[..., subprocess.CompletedProcess[str]]


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "topology.conf"
    path.write_text(TOPOLOGY)
    return path


@pytest.fixture
def shell(mpi: Mpi, compiled: Callable[[str], Path], topology: Path, tmp_path: Path) -> Shell:
    """Runs a documented snippet with this MPI first on PATH, and stand-ins for Slurm's and MPI's launchers.

    The stand-in for ``srun`` gives each rank the name of a host, as Slurm does.
    """
    tools = tmp_path / "tools"
    tools.mkdir()
    more = " --oversubscribe --allow-run-as-root" if mpi.family is MpiFamily.OPENMPI else ""
    script(tools / "hocket", f'exec {sys.executable} -m hocket "$@"')
    named = script(
        tmp_path / "named", 'export SLURMD_NODENAME=n${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\nexec "$@"'
    )
    script(tools / "srun", f'case $1 in --mpi=*) shift ;; esac\nexec {mpi.mpiexec}{more} -n 8 {named} "$@"')
    environment = script(tmp_path / "activate", ":")
    (tmp_path / "program").symlink_to(compiled("call_grid"))
    path = os.pathsep.join([str(tools), str(Path(mpi.mpiexec).parent), os.environ["PATH"]])

    def run(text: str, **variables: str) -> subprocess.CompletedProcess[str]:
        for said, here in {
            "/etc/slurm/topology.conf": topology,
            "/opt/hocket/venv/bin/activate": environment,
            "mpiexec ": f"{mpi.mpiexec}{more} ",
        }.items():
            text = text.replace(said, str(here))
        return subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=tmp_path, env={**os.environ, "PATH": path, **variables},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    return run


def scheduled(done: subprocess.CompletedProcess[str], phases: int = 8) -> bool:
    """Every byte is right in any case. Uplinks twice as fast as hosts halve the phases of a chain."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout and " 0 wrong" in done.stdout, done.stdout + done.stderr
    return f"hocket: all-to-all of 8 ranks on 8 hosts: {phases} phases" in done.stderr


def test_the_documented_batch_job(shell: Shell) -> None:
    done = shell(BATCH, HOCKET_LOG="1")
    assert scheduled(done), done.stderr
    assert done.stderr.count("hocket: prepared 2 plans for 8 ranks on 8 hosts of ") == 1
    assert "warning" not in done.stderr


def test_plain_mpiexec(shell: Shell) -> None:
    assert scheduled(shell(PLAIN), phases=16)


@pytest.mark.by_turns
def test_twice_is_like_once_and_unset_takes_it_back(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own variables and preloaded libraries stay as they were."""
    monkeypatch.delenv("HOCKET_CHOICES")  # all tests have it
    prepare, start = BATCH.split("eval ")[1].strip().rsplit("\n", 1)
    look = (
        "env | grep -e ^HOCKET_ -e ^LD_PRELOAD | grep -v ^HOCKET_CHOOSE= | sort > "  # all tests have that one
    )
    done = shell(
        f"{look} none; eval {prepare}; {look} once; eval {prepare}; {look} twice\n"
        f'{start}\neval "$(hocket env --unset)"; {look} after; {start}',
        HOCKET_HOST_MEMORY="77777",
        LD_PRELOAD="libm.so.6",
    )
    assert not scheduled(done)
    none, once, twice, after = ((tmp_path / name).read_text() for name in ("none", "once", "twice", "after"))
    assert once == twice and once != none == after, (once, twice, after)
    assert "HOCKET_HOST_MEMORY=77777\n" in once
    assert re.search(r"^LD_PRELOAD=libm.so.6:/\S+/libhocket_shim.so$", once, re.MULTILINE), once
    assert done.stdout.count(" 0 wrong") == 2


def test_unset_leaves_a_folder_of_timings_that_the_user_had_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = PLAIN.splitlines()[0]
    undo = 'eval "$(hocket env --unset)"\necho "=${HOCKET_CHOICES-none}=${HOCKET_PLAN-none}="'
    told = {"HOCKET_CHOOSE": "learn"}
    for folder in ("", "/elsewhere"):
        assert shell(f"{prepare}\n{undo}", **told, HOCKET_CHOICES=folder).stdout == f"={folder}=none=\n"
    monkeypatch.delenv("HOCKET_CHOICES")
    assert shell(f"{prepare}\n{undo}", **told).stdout == "=none=none=\n"


@pytest.mark.by_turns
def test_another_placement_replaces_the_earlier_one(shell: Shell) -> None:
    """Placed by names, the ranks of one machine are on no host of this network."""
    names = PLAIN.replace("--placement order", "--placement names").split("\n")[0]
    done = shell(f"{PLAIN.splitlines()[0]}\n{names}\nmpiexec -n 8 ./program")
    assert not scheduled(done, phases=16)
    assert "is not in the network file" in done.stderr


@pytest.mark.by_turns
def test_run_within_a_prepared_shell(shell: Shell) -> None:
    """``hocket run`` preloads its shim once, not beside the one that is preloaded already."""
    prepare = PLAIN.splitlines()[0]
    run = "hocket run --network chain:4,4 -n 8 --placement order -v -- "
    assert scheduled(shell(f"{prepare}\n{run} ./program"), phases=16)
    done = shell(f"{prepare}\n{run} sh -c 'echo =$LD_PRELOAD='")
    assert done.stdout.count("libhocket_shim.so") == 8, done.stdout + done.stderr


def test_nothing_is_kept_where_an_empty_directory_says_so(shell: Shell) -> None:
    told = f'{PLAIN.splitlines()[0]}\necho "=$HOCKET_CHOICES="'
    learning = {"HOCKET_CHOOSE": "learn"}
    assert shell(f"unset HOCKET_CHOICES\n{told}", **learning).stdout.endswith("/choices=\n")
    assert shell(told, **learning, HOCKET_CHOICES="").stdout == "==\n"


def uplinks(done: subprocess.CompletedProcess[str]) -> tuple[bool, bool]:
    """Return whether the ranks are to measure uplinks, and whether the setting of an earlier call is taken
    back."""
    return "export HOCKET_SWITCH_LINKS=" in done.stdout, "unset HOCKET_SWITCH_LINKS" in done.stdout


def test_uplinks_of_unknown_width_are_measured(hocket: Hocket, mpi: Mpi, tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_text(re.sub(" LinkSpeed=.*", "", TOPOLOGY))
    unknown = hocket("--network", file, "--mpi", mpi.mpiexec)
    assert uplinks(unknown) == (True, False) and "uplinks: assumed" in unknown.stderr
    known = hocket("--network", file, "--mpi", mpi.mpiexec, "--oversubscription", "2")
    assert uplinks(known) == (False, True) and "uplinks: assumed" not in known.stderr


@pytest.fixture
def hocket() -> Hocket:
    def call(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return hocket_here(["env", *map(str, arguments)], variables)

    return call


AWKWARD = "it's $HOME `x` [exit] {a \\ b \"c.txt"


def test_values_are_quoted(hocket: Hocket, mpi: Mpi, tmp_path: Path) -> None:
    """A placement file may have any name."""
    awkward = tmp_path / AWKWARD
    awkward.write_text("n0\nn1\nn2\n")
    options = ("--mpi", mpi.mpiexec, "--network", "star:3", "--placement", awkward)
    lines = hocket(*options).stdout
    done = subprocess.run(["sh", "-ec", f'{lines}\nprintf %s "$HOCKET_PLACEMENT"'],
                          capture_output=True, text=True, timeout=20, check=True)  # fmt: skip
    assert done.stdout == str(awkward)
    tcl = shutil.which("tclsh")
    if tcl is None:
        pytest.skip("no tclsh")
    assert ["setenv", "HOCKET_PLACEMENT", str(awkward)] in loaded(tcl, hocket(*options, "--module").stdout)


def loaded(tcl: str, modulefile: str) -> list[list[str]]:
    """The commands of a modulefile, as Tcl takes it apart."""
    commands = ("module-whatis", "append-path", "setenv")
    says = "".join(f"proc {name} {{args}} {{ puts [join [concat {name} $args] \\t] }}\n" for name in commands)
    done = subprocess.run([tcl], input=f"{says}{modulefile}ModulesHelp\n", capture_output=True, text=True,
                          timeout=20, check=False)  # fmt: skip
    assert done.returncode == 0 and "Hocket" in done.stderr and "invalid" not in done.stderr, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.by_turns
def test_the_documented_module(shell: Shell, mpi: Mpi, tmp_path: Path) -> None:
    """It says what the ``export`` lines say; everybody can read what it names, and nobody else write."""
    text = MODULE.replace("/opt/modulefiles", "modules").replace("/opt/hocket", str(tmp_path / "opt"))
    runtime = found_runtime(mpi.mpicc).library.parent  # not to be compiled anew
    shutil.copytree(runtime, tmp_path / "opt" / "hocket" / runtime.name)
    assert scheduled(shell(text + BATCH, HOCKET_LOG="1"))
    modulefile = (tmp_path / "modules" / "hocket").read_text()
    assert modulefile.startswith("#%Module1.0\n")
    exported = dict(
        re.findall(r"^export (\w+)=(.*)$", shell(BATCH.replace("eval", "echo"), HOCKET_LOG="1").stdout, re.M)
    )
    for path in re.findall(rf'{tmp_path}/opt[^\s":]+', modulefile):
        for part in (Path(path), *Path(path).parents):
            if part == tmp_path / "opt":
                break
            mode = part.stat().st_mode
            assert mode & 0o044 == 0o044 and not mode & 0o022, part
            assert part.is_file() or mode & 0o011 == 0o011, part
    if (tcl := shutil.which("tclsh")) is not None:
        commands = loaded(tcl, modulefile)
        (shim,) = [words[2] for words in commands if words[:2] == ["append-path", "LD_PRELOAD"]]
        assert Path(shim).name == "libhocket_shim.so" and Path(shim).exists()
        names = {words[1] for words in commands if words[0] == "setenv"}
        assert names | {"LD_PRELOAD"} == set(exported)


def test_users_of_a_module_keep_what_they_learn(
    hocket: Hocket, mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their own caches: that of root, who has made the module, is not theirs to write."""
    tcl = shutil.which("tclsh")
    if tcl is None:
        pytest.skip("no tclsh")
    monkeypatch.setenv("HOCKET_CHOOSE", "learn")
    monkeypatch.delenv("HOCKET_CHOICES")
    network = tmp_path / "topology.conf"
    network.write_text(TOPOLOGY.replace("LinkSpeed=1000", "").replace("LinkSpeed=2000", ""))
    options = ("--mpi", mpi.mpiexec, "--network", network, "--module")
    modulefile = hocket(*options).stdout
    monkeypatch.setenv("HOCKET_CHOICES", "/elsewhere")
    named = hocket(*options).stdout
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    assert ["setenv", "HOCKET_CHOICES", "/home/ada/.cache/hocket/choices"] in loaded(tcl, modulefile)
    assert ["setenv", "HOCKET_CHOICES", "/elsewhere"] in loaded(tcl, named)
    monkeypatch.setenv("XDG_CACHE_HOME", "/scratch/ada")
    own = {words[1]: words[2] for words in loaded(tcl, modulefile) if words[0] == "setenv"}
    assert own["HOCKET_CHOICES"] == "/scratch/ada/hocket/choices"
    assert own["HOCKET_SWITCH_LINKS"].startswith("/scratch/ada/hocket/")


@pytest.mark.parametrize("launcher", ["srun", "/usr/bin/flux", "aprun", "jsrun"])
def test_launchers_of_batch_systems_lead_here(launcher: str) -> None:
    command = ["run", "--mpi", launcher, "--network", "star:4", "-n", "4", "true"]
    done = hocket_here(command)
    assert done.returncode == 2
    assert 'eval "$(hocket env --network …)"' in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--mpi", "mpich"], "--network NETWORK is missing"),
        (["--network", "star:4", "--mpi", "srun"], "'srun' does not say which MPI its ranks have"),
        (["--network", "star:4", "--mpi", "/no/such/mpiexec"], "no launcher or compiler wrapper"),
        (["--network", "star:4", "--mpi", "/bin/true"], "belongs to no MPI that Hocket knows"),
        (
            ["--network", "star:4", "--program", "/no/such/program"],
            "--program /no/such/program: no such program",
        ),
        (["--network", "star:4", "--placement", "nowhere"], "no placement file"),
        (["--network", "star:4", "--flow", "gush"], "no flow control is called"),
        (["--unset", "--module"], "exclude each other"),
    ],
)
def test_refusals(hocket: Hocket, options: list[str], says: str) -> None:
    done = hocket(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hocket: ") and says in done.stderr and done.stderr.count("\n") == 1


def test_an_mpicc_alone(hocket: Hocket, mpi: Mpi) -> None:
    """Batch systems start ranks of MPIs that have no launcher."""
    by_launcher = hocket("--network", "star:4", "--mpi", mpi.mpiexec, "--min-bytes", "1KiB")
    assert (
        hocket("--network", "star:4", "--mpi", mpi.mpicc, "--min-bytes", "1KiB").stdout == by_launcher.stdout
    )
    assert "\nexport HOCKET_MIN_BYTES=1024\n" in by_launcher.stdout


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("network", "job", "says"),
    [
        (
            "star:2",
            "",
            "nothing will be scheduled on star:2: it has 2 ranks on 2 hosts; scheduling needs at least 3 ranks",
        ),
        ("star:1*4", "", "nothing will be scheduled on star:1*4: it has 4 ranks on 1 host;"),
        (
            "star:8",
            "n[2-9]",
            "2 of the job's 8 hosts are not in star:8: n8, n9; no communicator with ranks on",
        ),
        ("star:8", "node[01-64]", "64 of the job's 64 hosts are not in star:8: node01"),
        ("star:8", "n[2-5]", ""),
        ("star:8", "n[2-", ""),
    ],
)
def test_warnings(hocket: Hocket, mpi: Mpi, network: str, job: str, says: str) -> None:
    done = hocket("--network", network, "--mpi", mpi.mpiexec, SLURM_JOB_NODELIST=job)
    assert done.returncode == 0 and "export HOCKET_PLAN=" in done.stdout
    warnings = [line for line in done.stderr.splitlines() if line.startswith("hocket: warning: ")]
    assert len(warnings) == bool(says), done.stderr
    assert all(says in warning for warning in warnings), done.stderr
    everywhere = hocket(
        "--network", network, "--mpi", mpi.mpiexec, "--placement", "order", SLURM_JOB_NODELIST=job
    )
    assert ("of the job's" in everywhere.stderr) is False
