"""Messages of started ranks on standard output, which every launcher forwards."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, Any

from hocket.errors import HocketError


def lines(process: subprocess.Popen[str], patience: float) -> Iterator[str]:
    """Lines that a process prints. Raises HocketError if nothing comes for ``patience`` seconds."""
    heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            heard.put(line)
        heard.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        try:
            line = heard.get(timeout=patience)
        except queue.Empty:
            raise HocketError(
                f"the ranks have not reported for {patience:g} s",
                remedy="check that the hosts are not overloaded and can reach each other",
            ) from None
        if line is None:
            return
        yield line


def messages(process: subprocess.Popen[str], mark: str, verbose: bool) -> Iterator[dict[str, Any]]:
    """JSON objects that ranks print behind ``mark``, one a line; every launcher brings standard output here.

    Other lines are the MPI library's, and shown if ``verbose``.
    """
    assert process.stdout is not None
    for line in process.stdout:
        before, found, text = line.partition(mark)
        if found:
            yield json.loads(text)
        elif verbose:
            print(before, end="", file=sys.stderr)


def how_it_ended(code: int, said: IO[bytes], before: str) -> str:
    """Text on ranks that ended too early, with their last line of error output, which tends to say why."""
    words = "".join(f": {line}" for line in error_lines(said)[-1:])
    return f"the ranks ended with exit code {code if code >= 0 else 128 - code} before {before}{words}"


def error_lines(said: IO[bytes]) -> list[str]:
    """Lines that the ranks or the launcher printed on standard error, without those that have no letters."""
    said.seek(0)
    told = [line.strip() for line in said.read().decode(errors="replace").splitlines()]
    return [line for line in told if any(map(str.isalpha, line))]
