"""Grids for the irregular exchange: dual cells, traffic; airfoils when the mesh libraries are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from programs.grids import grid

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "fluid"))
import meshes
from meshes import Mesh, airfoil, halo_matrix, naca, partition

SCRIPT = meshes.__file__


def surface(mesh: Mesh) -> np.ndarray:
    """The sum of the outward normals of each cell."""
    total = mesh.wall.copy()
    np.add.at(total, mesh.edges[:, 0], mesh.normals)
    np.subtract.at(total, mesh.edges[:, 1], mesh.normals)
    return total


def check_dual(mesh: Mesh) -> None:
    """Cells are closed, their faces look along the edges, every point has an edge."""
    assert np.abs(surface(mesh)).max() < 1e-12
    along = mesh.xy[mesh.edges[:, 1]] - mesh.xy[mesh.edges[:, 0]]
    assert (np.einsum("ij,ij->i", along, mesh.normals) > 0).all()
    assert (mesh.edges[:, 0] < mesh.edges[:, 1]).all()
    assert set(mesh.edges.ravel()) == set(range(len(mesh.xy)))


def test_cells_are_closed_and_fill_the_square() -> None:
    mesh = grid(7)
    check_dual(mesh)
    assert mesh.area.sum() == pytest.approx(1)
    inside = ((mesh.xy > 0) & (mesh.xy < 1)).all(axis=1)
    assert not mesh.wall[inside].any()
    assert mesh.wall[~inside].any(axis=1).all()


def test_the_step_is_the_least_area_over_circumference() -> None:
    """One cell of a 2 x 2 grid has two triangles, one diagonal: its corners' faces are known."""
    mesh = grid(2, shaken=0)
    around = {v: np.hypot(*mesh.wall[v]) for v in range(4)}
    for (a, b), normal in zip(mesh.edges, mesh.normals, strict=True):
        around[a] += np.hypot(*normal)
        around[b] += np.hypot(*normal)
    assert mesh.step == pytest.approx(min(mesh.area[v] / around[v] for v in range(4)))


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_the_matrix_counts_what_is_fetched(ranks: int) -> None:
    mesh = grid(8)
    owner = np.random.default_rng(ranks).integers(0, ranks, len(mesh.xy)).astype(np.int32)
    fetched = set()
    for a, b in mesh.edges.tolist():
        near, far = (a, b) if (a + b) % 2 == 0 else (b, a)
        if owner[near] != owner[far]:
            fetched.add((owner[far], owner[near], far))
    expected = np.zeros((ranks + 1, ranks + 1), dtype=np.int64)
    for sender, receiver, _ in fetched:
        expected[sender, receiver] += 8
    assert (halo_matrix(mesh, owner, ranks + 1) == expected).all()


def test_naca_outlines() -> None:
    outline = naca("0012", 100)
    upper, lower = outline[:101], outline[100:]
    assert outline[:, 0].min() == 0 and outline[0] == pytest.approx((1, 0))
    assert upper[:, 1].max() == pytest.approx(0.06, abs=1e-4)  # half of 12 % of the chord
    assert lower[:, 1].min() == pytest.approx(-0.06, abs=1e-4)
    camber = naca("4412", 400)
    assert (camber[1:200, 1] > -camber[-1:-200:-1, 1]).all()
    x, y = camber.T
    assert np.dot(x, np.roll(y, -1)) > np.dot(y, np.roll(x, -1))  # counter-clockwise


def test_an_airfoil_has_the_points_asked_for_and_is_divided_evenly() -> None:
    pytest.importorskip("meshpy", reason="no meshpy: pip install 'hocket[meshes]'")
    pytest.importorskip("pymetis", reason="no pymetis: pip install 'hocket[meshes]'")
    mesh = airfoil(1000)
    assert abs(len(mesh.xy) - 1000) <= 10
    check_dual(mesh)
    assert (mesh.xy == airfoil(1000).xy).all()
    owner = partition(mesh, 8)
    sizes = np.bincount(owner, minlength=8)
    assert sizes.min() > 0 and sizes.max() <= 1.1 * len(owner) / 8
    assert (owner == partition(mesh, 8)).all()
    matrix = halo_matrix(mesh, owner, 8)
    assert ((matrix > 0) == (matrix > 0).T).mean() > 0.9 and not np.diag(matrix).any()


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_the_command_writes_mesh_and_matrix(tmp_path: Path) -> None:
    pytest.importorskip("meshpy", reason="no meshpy: pip install 'hocket[meshes]'")
    pytest.importorskip("pymetis", reason="no pymetis: pip install 'hocket[meshes]'")
    done = run("--points", 400, "--parts", 1, 3, "--out", tmp_path / "new", "--picture", tmp_path / "a.png")
    assert done.returncode == 0, done.stderr
    matrix = np.load(tmp_path / "new" / "airfoil-400-3.npy")
    assert matrix.shape == (3, 3) and matrix.dtype == np.int64
    assert (tmp_path / "new" / "airfoil-400-1.mesh").read_bytes().startswith(b"HKTMESH1")
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert "partners" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--points", 20, "--parts", 2], "--points"),
        (["--points", 400, "--parts", 0], "--parts"),
        (["--points", 400, "--parts", 2, "--naca", "12"], "--naca"),
        (["--points", 400, "--parts", 2, "--naca", "4012"], "--naca"),
    ],
)
def test_bad_arguments(arguments: list[object], word: str, tmp_path: Path) -> None:
    done = run(*arguments, "--out", tmp_path)
    assert done.returncode == 2 and word in done.stderr and "Traceback" not in done.stderr
