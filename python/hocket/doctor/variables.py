"""Variables of the environment that change what ranks do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.launch.environment import scheduled_variables
from hocket.launch.runtime.preload import SHIM

DISABLED: Final = "HOCKET_DISABLE=1 is set: every call goes to the MPI library, whatever else is set"
ENABLE: Final = "unset HOCKET_DISABLE to have calls scheduled"
ANEW: Final = (
    """prepare it anew: eval "$(hocket env --network NETWORK)"; or undo it: eval "$(hocket env --unset)\""""
)


def check_variables(case: Case) -> Iterator[Finding]:
    findings = [*_preloads(case), *_hocket_variables(case)]
    yield from findings or [ok("environment", "nothing that changes what Hocket does")]


def _preloads(case: Case) -> Iterator[Finding]:
    for entry in case.environment.get("LD_PRELOAD", "").replace(":", " ").split():
        ours = Path(entry).name == SHIM
        if "/" in entry and not Path(entry).exists():
            yield problem(
                "environment",
                f"LD_PRELOAD names {entry}, which does not exist",
                ANEW if ours else "correct LD_PRELOAD",
            )
        elif ours:
            yield from _prepared(case, entry)
        else:
            yield note(
                "environment", f"LD_PRELOAD also loads {entry}; if it catches MPI calls, it sees them first"
            )


def _prepared(case: Case, shim: str) -> Iterator[Finding]:
    """``hocket env`` has prepared this job, wholly or not any more."""
    runtime, plans = (case.environment.get(name, "") for name in ("HOCKET_RUNTIME", "HOCKET_PLAN"))
    if not runtime:
        yield problem("environment", f"LD_PRELOAD names {shim}, but HOCKET_RUNTIME is not set", ANEW)
        return
    missing = [path for path in (runtime, *plans.split(":")) if path and not Path(path).exists()]
    for path in missing:
        yield problem("environment", f"the job is prepared with {path}, which does not exist", ANEW)
    if not missing:
        told = {name: case.environment[name] for name in _by_env(case)}
        short = [name if "/" in value or " " in value else f"{name}={value}" for name, value in told.items()]
        yield ok("environment", f"prepared by 'hocket env': LD_PRELOAD, {', '.join(short)}")


def _by_env(case: Case) -> list[str]:
    """Variables that ``hocket env`` sets."""
    prepared = "HOCKET_RUNTIME" in case.environment
    return [name for name in scheduled_variables() if prepared and name in case.environment]


def _hocket_variables(case: Case) -> Iterator[Finding]:
    """Check every ``HOCKET_*`` variable by the runtime's own rules."""
    prepared = _by_env(case)
    for name, value in sorted(case.environment.items()):
        if not name.startswith("HOCKET_"):
            continue
        wrong = _core.wrong_variables([f"{name}={value}"])
        for complaint in wrong:
            yield problem("environment", complaint, "correct it, or unset it")
        if (name, value) == ("HOCKET_DISABLE", "1"):
            yield note("environment", DISABLED, ENABLE)
        elif not wrong and not name.startswith("HOCKET_TEST") and name not in prepared:
            yield note("environment", f"{name}={value} is set")
