"""The wheel in an environment of its own, where there is no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

TOOLS = ("sh", "bash", "env", "uname", "hostname", "ldd", "sed", "ssh", "cat")  # and no compiler


def install_wheel(wheel: str, place: Path) -> Path:
    """Makes the environment ``place``; returns its ``bin``.

    What Hocket depends on comes from the environment that runs this.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=120)
    python = place / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-index", wheel], check=True, timeout=300)
    ask = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(ask, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


def bare_environment(folder: Path) -> dict[str, str]:
    """An empty cache, ``folder/cache``, and no compiler on PATH."""
    tools = folder / "tools"
    tools.mkdir(parents=True)
    for tool in TOOLS:
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    dropped = ("HOCKET", "PYTHON", "CXX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PATH": str(tools), "XDG_CACHE_HOME": str(folder / "cache")}
