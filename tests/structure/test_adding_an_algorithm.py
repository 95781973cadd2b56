"""The algorithm of docs/internals.md is added in a file and a line, and nowhere else."""

import re
import shutil
import subprocess
from pathlib import Path

from hocket.launch.runtime.build import native_dir

ROOT = Path(__file__).parents[2]
PROGRAM = """
#include <iostream>
#include "core/algorithms/registry.hpp"
#include "core/network/network.hpp"
int main() {
  using namespace hocket;
  const Algorithm& found = find_algorithm("rotation");
  NetworkSpec star{.names = {"a", "b", "c", "switch"}, .ranks = {1, 1, 1, 0},
                   .links = {{0, 3, 1e9, 0}, {1, 3, 1e9, 0}, {2, 3, 1e9, 0}}};
  const Network network = Network::with_routes(star);
  Demand demand;
  demand.ranks = 3;
  demand.bytes = 8;
  std::cout << found.summary << ": " << found.make(network, demand, {}).phases() << " phases\\n";
}
"""


def test_a_file_and_a_line(tmp_path: Path) -> None:
    source, line = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs/internals.md").read_text(), re.DOTALL)
    algorithms = tmp_path / "core/algorithms"
    shutil.copytree(ROOT / "core", tmp_path / "core", ignore=shutil.ignore_patterns("*.cpp"))
    listed = (algorithms / "registry.hpp").read_text()
    first = "#define HOCKET_ALGORITHMS(one) \\\n"
    assert first in listed
    (algorithms / "registry.hpp").write_text(listed.replace(first, first + line))
    (algorithms / "all_to_all/rotation.cpp").write_text(source)
    shutil.copy(ROOT / "core/algorithms/registry.cpp", algorithms)
    (tmp_path / "program.cpp").write_text(PROGRAM)
    sources = ["program.cpp", "core/algorithms/registry.cpp", "core/algorithms/all_to_all/rotation.cpp"]
    command = [
        "c++",
        "-std=c++20",
        "-O0",
        "-I.",
        *sources,
        str(native_dir() / "libhocket_core.a"),
        "-o",
        "program",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True)
    assert done.stdout == "at step j rank i sends to i - j: 2 phases\n"


def test_algorithms_are_told_apart_in_their_files_alone() -> None:
    """No other file of the core says their names but where some are compared with each other by purpose."""
    names = re.findall(r'\.name = "([\w-]+)"', "".join(path.read_text() for path in algorithm_files()))
    assert len(names) > 30
    elsewhere = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "core").rglob("*.?pp")
        if path not in algorithm_files()
        and any(f'name == "{name}"' in path.read_text() or f'("{name}"' in path.read_text() for name in names)
    }
    assert elsewhere <= {"core/algorithms/plan_exchange.cpp"}, elsewhere


def algorithm_files() -> list[Path]:
    return [
        path for path in (ROOT / "core/algorithms").rglob("*.cpp") if "const Algorithm " in path.read_text()
    ]
