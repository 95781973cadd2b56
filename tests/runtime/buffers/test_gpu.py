"""Programs that may hand MPI buffers in the memory of a GPU: their calls are left alone."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reported_calls import Said

Check = Callable[..., Said]
LOW = {"HOCKET_MIN_BYTES": "1"}
LINE = "a GPU runtime is loaded, and Hocket cannot send from GPU memory"


@pytest.fixture(params=["cuPointerGetAttribute", "hipPointerGetAttributes", "libcuda.so.1"])
def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Library that looks like a GPU's runtime: by a function, or by its name."""
    is_library = ".so" in request.param
    function = "nothing" if is_library else request.param
    source, library = tmp_path / "fake.c", tmp_path / "fake.so"
    source.write_text(f"int {function}(void) {{ return 0; }}\n", encoding="utf-8")
    name = [f"-Wl,-soname,{request.param}"] if is_library else []
    subprocess.run(["cc", "-shared", "-fPIC", *name, str(source), "-o", str(library)], check=True, timeout=60)
    return library


def preloaded_on_one_rank(library: Path) -> dict[str, str]:
    return {"LD_PRELOAD": f'$LD_PRELOAD$([ "${{PMI_RANK:-$PMIX_RANK}}" = 2 ] && echo :{library})'}


def test_one_rank_with_a_gpu_is_enough(check: Check, runtime: Path) -> None:
    """Communicators without that rank are scheduled."""
    said = check("subsets 300", "chain:3,3", 6, env=LOW, exports=preloaded_on_one_rank(runtime))
    assert said.count(LINE) == 1, said
    assert said.scheduled(ranks=6) == said.scheduled(ranks=5) == 0
    assert said.scheduled("MPI_Alltoall", ranks=3) > 0


def test_the_user_may_know_better(check: Check, runtime: Path) -> None:
    env = {**LOW, "HOCKET_HOST_BUFFERS": "1"}
    said = check("subsets 300", "chain:3,3", 6, env=env, exports=preloaded_on_one_rank(runtime))
    assert LINE not in said and said.scheduled("MPI_Alltoall", ranks=6) > 0
