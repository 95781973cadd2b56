"""Routers that answer on a host of the lab."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from hocket.lab import Lab
from hocket.network.path_probe import Probe

ASK = """
import json, sys
from hocket.network.path_probe import Probe, answers
print(json.dumps(answers([Probe(*one) for one in json.loads(sys.argv[1])], 100)))
"""


def asked(lab: Lab, host: str, probes: Sequence[Probe], user: str = "") -> list[str | None]:
    given = json.dumps([[p.to, p.from_port, p.to_port, p.hops] for p in probes])
    command = [*user.split(), sys.executable, "-c", ASK, given]
    result = lab.call(host, command, timeout=60, capture=True)
    assert result.exit_code == 0, result.output
    return list(json.loads(result.output))
