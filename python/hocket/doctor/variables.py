"""Variables of the environment that change what ranks do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hocket import _core
from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem

DISABLED = "HOCKET_DISABLE=1 is set: every call goes to the MPI library, whatever else is set"
ENABLE = "unset HOCKET_DISABLE to have calls scheduled"


def check_variables(case: Case) -> Iterator[Finding]:
    findings = [*_preloads(case), *_hocket_variables(case)]
    yield from findings or [ok("environment", "nothing that changes what Hocket does")]


def _preloads(case: Case) -> Iterator[Finding]:
    for entry in case.environment.get("LD_PRELOAD", "").replace(":", " ").split():
        if "/" in entry and not Path(entry).exists():
            yield problem(
                "environment", f"LD_PRELOAD names {entry}, which does not exist", "correct LD_PRELOAD"
            )
        elif Path(entry).name.startswith("libhocket_"):
            yield problem("environment", f"LD_PRELOAD already names {entry}",
                          "unset LD_PRELOAD: 'hocket run' sets it for the ranks")  # fmt: skip
        else:
            yield note(
                "environment", f"LD_PRELOAD also loads {entry}; if it catches MPI calls, it sees them first"
            )


def _hocket_variables(case: Case) -> Iterator[Finding]:
    """Check every ``HOCKET_*`` variable by the runtime's own rules."""
    ours = [
        f"{name}={value}" for name, value in sorted(case.environment.items()) if name.startswith("HOCKET_")
    ]
    for entry in ours:
        wrong = _core.wrong_variables([entry])
        for complaint in wrong:
            yield problem("environment", complaint, "correct it, or unset it")
        if entry == "HOCKET_DISABLE=1":
            yield note("environment", DISABLED, ENABLE)
        elif not wrong and not entry.startswith("HOCKET_TEST"):
            yield note("environment", f"{entry} is set")
