"""Standard streams that are closed, full or not for writing: what is lost is said, and nothing lands in other files.
On a terminal nothing that names hold is obeyed."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

CLOSED = ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    hocket = f"'{sys.executable}' -m hocket"
    return subprocess.run(
        ["sh", "-c", line.replace("hocket", hocket, 1)],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


COMMANDS = [
    ("info tree", 0),
    ("--help", 0),
    ("--version", 0),
    ("network show star:4", 0),
    ("plan all-to-all --network star:4 -o p.hkt", 0),
    ("plan all-to-all --network star:0", 2),
    ("plan all-gather --network star:4", 0),
    ("help plan", 0),
    ("completion bash", 0),
    ("fly", 2),
]


# Each command with two ways to close, each way with four commands; all others in `make test-slow`.
@pytest.mark.parametrize(
    ("command", "code", "closed"),
    [
        pytest.param(*command, closed, marks=[pytest.mark.slow] * ((c + w) % len(CLOSED) not in (0, 2)))
        for c, command in enumerate(COMMANDS)
        for w, closed in enumerate(CLOSED)
    ],
)
def test_closed_streams(tmp_path: Path, closed: str, command: str, code: int) -> None:
    lost = ">&- " in f"{closed} ".replace("2>&-", "")  # what the command prints
    done = shell(f"hocket {command} {closed}", tmp_path)
    assert done.returncode == (2 if lost else code)
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert (done.stdout == "") == (lost or code == 2)
    if lost and code == 0 and "2>&-" not in closed:
        assert done.stderr == "hocket: standard output: Is closed; lead it to a file, or to /dev/null\n"
    plan = tmp_path / "p.hkt"
    assert plan.exists() == ("-o" in command)
    if plan.exists():
        assert shell(f"hocket verify {plan} --network star:4", tmp_path).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "command",
    [
        "info tree",
        "--help",
        "network show star:4",
        "lab status",
        "plan all-to-all --network star:4",
        "plan all-gather --network star:4 --json",
        "help",
        "help plan",
        "completion zsh",
    ],
)
def test_full_standard_output_is_named_with_a_remedy(tmp_path: Path, command: str) -> None:
    done = shell(f"hocket {command} > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "hocket: standard output: No space left on device; make room or write elsewhere\n"


def test_standard_output_that_is_for_reading(tmp_path: Path) -> None:
    done = shell("hocket info 1</dev/null", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("hocket: standard output: ") and done.stderr.count("\n") == 1


def test_standard_error_that_is_full(tmp_path: Path) -> None:
    assert shell("hocket plan all-to-all --network star:0 2> /dev/full", tmp_path).returncode == 2


HOSTILE = "[bold]\x1b[2J\x1b]0;title\x07\x9b1m\u202e\r[/nothing].toml"


def on_terminal(arguments: list[str], folder: Path, seconds: float = 60) -> tuple[int, str]:
    """Exit code of Python with these arguments, and what a terminal of 200 columns gets of both streams."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm", "COLUMNS": "200"}
        os.execv(sys.executable, [sys.executable, *arguments])
    shown = b""
    with contextlib.suppress(OSError):  # its end
        while select.select([terminal], [], [], seconds)[0] and (data := os.read(terminal, 4096)):
            shown += data
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), shown.decode()


def test_a_terminal_obeys_no_name(tmp_path: Path) -> None:
    for arguments, code in (
        (["network", "show", HOSTILE], 2),
        (["plan", "all-to-all", "--network", "star:4", "--algorithm", HOSTILE], 2),
        (["plan", "all-to-all", "--network", "star:4", f"--{HOSTILE}"], 2),
        ([HOSTILE], 2),
        (["plan", "all-to-all", "--network", "star:4@1Gbit", "-o", HOSTILE.replace("/", "")], 0),  # "wrote …"
    ):
        ended, shown = on_terminal(["-m", "hocket", *arguments], tmp_path)
        assert ended == code, shown
        assert "title" in shown and not set(shown.replace("\r\n", "\n")) & set("\x1b\x07\x9b\u202e\r"), shown
    assert (tmp_path / HOSTILE.replace("/", "")).exists()


def test_bars_of_progress_move_the_cursor_and_show_names_as_they_are(tmp_path: Path) -> None:
    """The bar appears at once, and its text holds what would be styles."""
    script = f"""if True:
        import sys, time
        from hocket.cli._shared import work
        from hocket.cli._shared.failure import prepare_streams
        prepare_streams()
        work.PATIENCE = 0
        work.with_spinner("reading " + {HOSTILE!r}, lambda: time.sleep(1))
        with work.progress_of() as on:
            on(1, 2, {HOSTILE!r})
    """
    ended, shown = on_terminal(["-c", script], tmp_path)
    assert ended == 0, shown
    assert "\x1b[?25l" in shown and "[bold]\\x1b[2J" in shown and "[/nothing]" in shown
    assert "\x1b[2J" not in shown and "\x1b]0" not in shown and "\x07" not in shown
