"""Devices, directories and pipes where a file is to be read: refused, or read to their end."""

from __future__ import annotations

import os
from pathlib import Path

import numpy
import pytest

from refusals import refused

STAR = ("--network", "star:4")

# With what the file is called in messages; FILE stands for it.
READ_ONCE = {
    "network": ("network", "show", "FILE"),
    "convert": ("network", "convert", "FILE", "-o", "net.toml"),
    "demand": ("plan", "irregular", *STAR, "--demand", "FILE"),
    "contributions": ("plan", "all-gather", *STAR, "--contributions", "FILE"),
    "verify": ("verify", "FILE", *STAR),
    "export": ("export", "FILE", "--to", "c", "-o", "x.c"),
    "run": ("run", "--network", "FILE", "-n", "2", "true"),
    "bench": ("bench", "all-to-all", "--network", "FILE", "-n", "2"),
    "lab": ("lab", "up", "FILE"),
}
# Ranks or launchers read these by their name once more.
READ_AGAIN = {
    "plan of run": ("run", *STAR, "-n", "2", "--plan", "FILE", "true"),
    "plan of env": ("env", *STAR, "--plan", "FILE"),
    "hostfile": ("run", *STAR, "-n", "2", "--hostfile", "FILE", "true"),
    "placement": ("run", *STAR, "-n", "2", "--placement", "FILE", "true"),
    "keys": ("hocket-sort", "FILE", "out.npy"),
    "payload": ("hocket-sort", "keys.npy", "out.npy", "--payload", "FILE", "p.npy"),
}
ALL = {**READ_ONCE, **READ_AGAIN}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    numpy.save("keys.npy", numpy.arange(9))
    return tmp_path


def with_file(command: tuple[str, ...], file: object) -> list[str]:
    return [str(file) if word == "FILE" else word for word in command]


@pytest.mark.parametrize("command", ALL.values(), ids=ALL)
def test_devices_and_directories(hocket, here: Path, command: tuple[str, ...]) -> None:
    before = sorted(here.iterdir())
    for file, what in (("/dev/zero", "device"), (here, "directory")):
        answer = hocket(*with_file(command, file))
        refused(answer, str(file))
        assert f"s a {what}" in answer.err or "no placement file" in answer.err
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("command", READ_AGAIN.values(), ids=READ_AGAIN)
def test_pipes_that_would_be_read_twice(hocket, here: Path, command: tuple[str, ...]) -> None:
    """Not even opened: nobody writes into this one."""
    os.mkfifo(here / "pipe")
    answer = hocket(*with_file(command, here / "pipe"))
    refused(answer, str(here / "pipe"))
    assert "s a pipe, which can be read but once" in answer.err or "no placement file" in answer.err


def test_a_pipe_may_bring_what_is_read_once(hocket, plan: Path) -> None:
    """A shell's <(command) makes such a pipe."""
    reader, writer = os.pipe()
    try:
        os.write(writer, plan.read_bytes())
        os.close(writer)
        assert hocket("verify", f"/dev/fd/{reader}", "--network", "chain:3,2,2").code == 0
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    "option", [("--placement", "order"), ("--flow", "free"), ("--algorithm", "RS_N")], ids=lambda o: o[0]
)
def test_options_about_schedules_need_a_network(hocket, option: tuple[str, str]) -> None:
    for command in (("bench", "all-to-all", "-n", "2"), ("hocket-sort", "keys.npy", "out.npy")):
        answer = hocket(*command, *option)
        refused(answer, f"{option[0]} needs a network to schedule on; add --network")
    assert not Path("out.npy").exists()
