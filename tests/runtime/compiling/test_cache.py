"""The cache of built code: private, whole or not at all, and one builder at a time."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from hocket.errors import HocketError
from hocket.runtime import cache
from hocket.runtime.cache import build_once, cache_dir, check_installed, check_private, keep


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory ``hocket`` of an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hocket"


def make(folder: Path, _moment: Path | None = None) -> None:
    (folder / "a").write_text("built")


def leftovers(home: Path) -> list[str]:
    return [path.name for path in home.iterdir() if path.name.startswith("build-")]


def test_a_cache_that_others_can_write_to_is_refused(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    with pytest.raises(HocketError, match=r"can be written by other users.*chmod go-w"):
        cache_dir()


def test_so_is_one_in_a_directory_that_others_can_write_to(home: Path) -> None:
    home.parent.chmod(0o777)
    with pytest.raises(HocketError, match=r"other users can replace the cache.*XDG_CACHE_HOME"):
        cache_dir()
    home.parent.chmod(0o1777)  # as /tmp: others can add, but not rename what is not theirs
    assert cache_dir() == home


def test_links_are_followed_before_they_are_looked_at(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    monkeypatch.setenv("XDG_CACHE_HOME", str(link))
    assert cache_dir() == real / "hocket"
    real.chmod(0o777)  # what the link leads to
    with pytest.raises(HocketError, match="can replace"):
        cache_dir()


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(HocketError, match=r"no home directory.*set XDG_CACHE_HOME"):
        cache_dir()


def test_a_home_that_is_no_directory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    with pytest.raises(HocketError, match=r"cannot use the cache directory /dev/null/hocket.*XDG_CACHE_HOME"):
        cache_dir()


@pytest.mark.parametrize("what", ["runtime-1", "runtime-1/a"])
def test_built_code_that_others_can_write_to_is_refused(home: Path, what: str) -> None:
    build_once("runtime-1", ["a"], make)
    (home / what).chmod(0o777)
    with pytest.raises(HocketError, match=r"can be written by other users.*code that will be loaded"):
        build_once("runtime-1", ["a"], make)


def test_so_is_a_link(home: Path, tmp_path: Path) -> None:
    built = build_once("runtime-1", ["a"], make)
    (built / "a").rename(tmp_path / "elsewhere")
    (built / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HocketError, match="is a link"):
        build_once("runtime-1", ["a"], make)


@pytest.fixture
def another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests run as somebody who owns nothing yet."""
    monkeypatch.setattr(os, "getuid", lambda: 54321)


@pytest.mark.parametrize("check", [check_private, check_installed])
def test_roots_code_is_trusted(another_user: None, check: Callable[[Path], None]) -> None:
    """A shared installation, or a cache that an administrator has filled."""
    check(Path("/usr"))


@pytest.mark.parametrize("check", [check_private, check_installed])
def test_a_strangers_is_not(
    another_user: None, check: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.touch()
    if theirs.stat().st_uid == Path("/").stat().st_uid:
        os.chown(theirs, 12345, -1)  # root can
    monkeypatch.setattr(sys, "prefix", "/usr")
    with pytest.raises(HocketError, match=r"belongs to another user.*code that will be loaded"):
        check(theirs)
    monkeypatch.setattr(sys, "prefix", str(theirs))  # the owner of Python itself
    check_installed(theirs)


def test_an_installation_may_be_a_groups(tmp_path: Path) -> None:
    """Of those who look after it; not everybody's."""
    tmp_path.chmod(0o775)
    check_installed(tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(HocketError, match=r"can be written by every user.*install Hocket anew"):
        check_installed(tmp_path)


def test_built_once(home: Path) -> None:
    times = []
    for _ in range(3):
        built = build_once("runtime-1", ["a"], lambda folder, _: (times.append(1), make(folder))[1])
    assert built == home / "runtime-1" and (built / "a").read_text() == "built"
    assert len(times) == 1


def test_a_failed_build_leaves_nothing(home: Path) -> None:
    def fail(folder: Path, moment: Path) -> None:
        (moment / "x.o").write_text("")
        make(folder)
        raise HocketError("broken")

    with pytest.raises(HocketError, match="broken"):
        build_once("runtime-1", ["a"], fail)
    assert not (home / "runtime-1").exists() and leftovers(home) == []


def test_a_full_disk_is_said_and_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: Path, _moment: Path | None = None) -> None:
        make(folder)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "a"))

    with pytest.raises(HocketError, match=r"cannot write .*: No space left on device; free some space"):
        build_once("runtime-1", ["a"], full)
    assert not (home / "runtime-1").exists() and leftovers(home) == []

    monkeypatch.setattr(Path, "write_bytes", lambda path, data: full(path.parent))
    with pytest.raises(HocketError, match="No space left on device"):
        keep("plan", b"data", ".hkt")
    assert list(home.glob("plan*")) == [] and leftovers(home) == []


def test_a_damaged_directory_is_built_again(home: Path) -> None:
    (home / "runtime-1").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    (home / "runtime-1" / "other").write_text("half")
    assert (build_once("runtime-1", ["a"], make) / "a").exists()
    assert leftovers(home) == []


def _build(cache_home: str, log: str, all_build: Barrier) -> None:
    os.environ["XDG_CACHE_HOME"] = cache_home

    def told(folder: Path, _moment: Path) -> None:
        with Path(log).open("a") as file:
            file.write("x")
        all_build.wait(60)
        make(folder)

    build_once("runtime-1", ["a"], told)


@pytest.mark.parametrize("locks", [True, False])
def test_several_at_once(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: bool) -> None:
    """One builds and the others wait; on file systems without locks all build, and one result stays."""
    if not locks:

        def none(*_: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(cache.fcntl, "flock", none)
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    all_build = context.Barrier(1 if locks else 4)
    builders = [context.Process(target=_build, args=(str(tmp_path), str(log), all_build)) for _ in range(4)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join(60)
        assert builder.exitcode == 0
    assert len(log.read_text()) == (1 if locks else 4)
    assert (home / "runtime-1" / "a").read_text() == "built" and leftovers(home) == []


def test_what_dead_builds_have_left_goes(home: Path) -> None:
    """A living one holds the lock in its folder; one that has not got that far is young."""
    dead, living, young, old = (cache_dir() / f"build-{name}" for name in ("dead", "living", "young", "old"))
    for folder in (dead, living, young, old):
        folder.mkdir()
        (folder / "x.o").write_text("")
    for folder in (dead, living):
        (folder / "in-use").touch()
    os.utime(old, (1, 1))
    with (living / "in-use").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        build_once("runtime-1", ["a"], make)
    assert sorted(leftovers(home)) == ["build-living", "build-young"]


def test_without_locks_age_tells(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(cache.fcntl, "flock", none)
    for name in ("old", "young"):
        (cache_dir() / f"build-{name}").mkdir()
        (home / f"build-{name}" / "in-use").touch()
    os.utime(home / "build-old", (1, 1))
    build_once("runtime-1", ["a"], make)
    assert leftovers(home) == ["build-young"]
