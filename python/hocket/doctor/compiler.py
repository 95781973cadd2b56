"""The C++ compiler that builds the runtime."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, Level, note, ok, problem, problem_of
from hocket.errors import MissingToolError
from hocket.launch.runtime.wrapper import find_compiler

_PROGRAM = "#include <concepts>\n#include <span>\nstatic_assert(__cplusplus >= 202002L);\n"


def check_compiler(case: Case) -> Iterator[Finding]:
    try:
        found = list(_tried(case))
    except MissingToolError as error:
        found = [problem_of("compiler", error)]
    if case.ready is None or found[0].level is Level.OK:
        yield from found
    else:
        yield note("compiler", f"{found[0].text}; none is needed: the ready-made runtime serves")


def _tried(case: Case) -> Iterator[Finding]:
    compiler = find_compiler()
    new = "install GCC 12 or Clang 15, or later, and set CXX if it is not c++"
    try:
        told = subprocess.run(
            [compiler, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=case.seconds,
            check=False,
        )
        tried = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=_PROGRAM,
                               capture_output=True, text=True, errors="replace", timeout=case.seconds,
                               check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        yield problem("compiler", f"{compiler} does not run: {error}", new)
        return
    if tried.returncode != 0:
        complaint = (tried.stderr.strip() or "it failed").splitlines()[0]
        yield problem("compiler", f"{compiler} does not compile C++20: {complaint}", new)
        return
    yield ok("compiler", f"{compiler}: {(told.stdout.splitlines() or ['C++20'])[0]}")
