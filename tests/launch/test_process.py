"""Signals reach what was started, once; it gets time; nothing of it stays."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hocket.launch import TimedOutError, attached, captured, end, exit_code, process, started

HEEDED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]

# A launcher: says when it is ready, takes its time to clean up, and tells of what has come.
LAUNCHER = """
import os, signal, sys, time
place = sys.argv[1]
came = []
def end(number, _):
    came.append(number)
    open(f"{place}/got-{int(number)}", "w").close()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, end)
open(place + "/ready.part", "w").write(str(os.getpid()))
os.rename(place + "/ready.part", place + "/ready")
while signal.SIGINT not in came and signal.SIGTERM not in came:
    time.sleep(0.01)
time.sleep(0.5)
open(place + "/came", "w").write(" ".join(map(str, came)))
sys.exit(7)
"""

# Core of hocket's commands, without their imports.
COMMAND = """
import sys
from hocket.launch import exit_code
sys.exit(exit_code([sys.executable, *sys.argv[1:]]))
"""


def wait_for(path: Path) -> str:
    for _ in range(3000):
        if path.exists():
            return path.read_text()
        time.sleep(0.02)
    pytest.fail(f"no {path}")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def start_command(script: str, place: Path, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", COMMAND, "-c", script, str(place)]
    return subprocess.Popen(command, start_new_session=True, **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("number", HEEDED)
@pytest.mark.parametrize("to_group", [False, True], ids=["to us", "to our group, and again"])
def test_a_signal_is_passed_on_once_and_waited_for(tmp_path: Path, number: int, to_group: bool) -> None:
    """timeout(1) signals like that: first the process, then its group."""
    command = start_command(LAUNCHER, tmp_path)
    launcher = int(wait_for(tmp_path / "ready"))
    os.kill(command.pid, number)
    if to_group:
        os.killpg(command.pid, number)
    assert command.wait(60) == 128 + number
    expected = signal.SIGINT if number == signal.SIGINT else signal.SIGTERM
    assert (tmp_path / "came").read_text() == str(int(expected))
    assert not is_alive(launcher)


def test_a_launcher_behind_a_script_is_waited_for(tmp_path: Path) -> None:
    """The script dies of the signal at once."""
    (tmp_path / "launcher.py").write_text(LAUNCHER)
    script = f"{sys.executable} {tmp_path}/launcher.py {tmp_path} & wait"
    command = (
        f"import sys; from hocket.launch import exit_code; sys.exit(exit_code(['sh', '-c', {script!r}]))"
    )
    process = subprocess.Popen([sys.executable, "-c", command], start_new_session=True)
    wait_for(tmp_path / "ready")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143
    assert (tmp_path / "came").read_text() == str(int(signal.SIGTERM))


def test_nothing_outlives_us(tmp_path: Path) -> None:
    """A launcher behind a script gets time to clean up though we get none; what ignores signals is killed."""
    (tmp_path / "launcher.py").write_text(LAUNCHER)
    script = f"{sys.executable} {tmp_path}/launcher.py {tmp_path} & (trap '' TERM; sleep 100) & echo $!; wait"
    command = (
        "import sys; from hocket.system import signals; signals._WATCH = signals._WATCH.replace('200', '20'); "
        f"from hocket.launch import exit_code; sys.exit(exit_code(['sh', '-c', {script!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", command], start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    stubborn = int(process.stdout.readline())
    launcher = int(wait_for(tmp_path / "ready"))
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    process.stdout.close()
    assert wait_for(tmp_path / "came") == str(int(signal.SIGTERM))
    for pid in (launcher, stubborn):
        assert gone(pid)


def gone(pid: int) -> bool:
    """Return true as soon as it has ended; it gets a moment."""
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_others_are_passed_on_and_end_nothing(tmp_path: Path) -> None:
    command = start_command(LAUNCHER, tmp_path)
    wait_for(tmp_path / "ready")
    command.send_signal(signal.SIGUSR1)
    wait_for(tmp_path / f"got-{int(signal.SIGUSR1)}")
    command.send_signal(signal.SIGTERM)
    assert command.wait(60) == 143
    assert (tmp_path / "came").read_text() == f"{int(signal.SIGUSR1)} {int(signal.SIGTERM)}"


def test_what_was_ignored_stays_ignored(tmp_path: Path) -> None:
    """Under nohup a terminal that closes ends nothing."""
    script = LAUNCHER.replace(
        "for number in", "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN\nfor number in"
    )
    command = start_command(script, tmp_path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(tmp_path / "ready")
    command.send_signal(signal.SIGHUP)
    command.send_signal(signal.SIGTERM)
    assert command.wait(60) == 143


def test_what_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it has started."""
    for grace in ("_GRACE", "_GRACE_BEHIND"):
        monkeypatch.setattr(process, grace, 0.2)
    stubborn = (
        f"trap '' INT TERM; sleep 100 & echo $! > {tmp_path}/part; mv {tmp_path}/part {tmp_path}/child; wait"
    )
    with pytest.raises(RuntimeError), started(["sh", "-c", stubborn]):
        child = int(wait_for(tmp_path / "child"))
        raise RuntimeError
    assert gone(child)


def test_exit_codes_are_those_of_the_launcher() -> None:
    assert attached(["sh", "-c", "exit 7"]) == 7
    assert exit_code(["sh", "-c", "kill -KILL $$"]) == 137
    done = captured(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert captured(["sh", "-c", "echo out; echo err >&2"], together=True).stdout == "out\nerr\n"


def test_time_is_limited() -> None:
    with pytest.raises(TimedOutError) as late:
        captured(["sh", "-c", "echo out; sleep 100"], seconds=0.5)
    assert late.value.output == "out\n"
    with pytest.raises(TimedOutError):
        attached(["sleep", "100"], seconds=0.1)


def test_ending_what_has_ended() -> None:
    with started(["true"]) as over:
        over.wait()
        end(over)
    assert over.returncode == 0


def test_what_is_typed_at_a_terminal_reaches_the_job(tmp_path: Path) -> None:
    """It has a session of its own, and so no terminal; Ctrl-C comes to us."""
    script = (
        f"""
import os, sys
assert not os.isatty(0)
line = sys.stdin.readline()
open({str(tmp_path / "part")!r}, "w").write(line)
os.rename({str(tmp_path / "part")!r}, {str(tmp_path / "typed")!r})
"""
        + LAUNCHER
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", COMMAND, "-c", script, str(tmp_path)])
    os.write(terminal, b"hello\n")
    assert wait_for(tmp_path / "typed") == "hello\n"
    wait_for(tmp_path / "ready")
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert (tmp_path / "came").read_text() == str(int(signal.SIGINT))


def test_numpy_is_not_loaded_to_launch_a_job() -> None:
    """It takes a third of the processor time of a launch."""
    asked = "['run', '-n', '1', '--network', 'star:2@1Gbit', 'true']"
    script = f"""if True:
        import sys
        from hocket.cli import cli
        try:
            cli.main({asked})
        except SystemExit as ended:
            assert ended.code == 0
        assert 'hocket.launch.process' in sys.modules and 'numpy' not in sys.modules
    """
    subprocess.run([sys.executable, "-c", script], check=True, timeout=280)
