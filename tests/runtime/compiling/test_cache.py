"""The cache of built code: private, whole or not at all, and one builder at a time."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from hocket.errors import HocketError
from hocket.system import cache
from hocket.system.cache import (
    build_once,
    cache_dir,
    check_installed,
    check_private,
    clear_up,
    keep,
    report_folder,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory ``hocket`` of an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hocket"


def make(folder: Path, _moment: Path | None = None) -> None:
    (folder / "a").write_text("built")


def leftovers(home: Path) -> list[str]:
    return [path.name for path in home.iterdir() if path.name.startswith("build-")]


def test_an_empty_home_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root directory would be the user's, for Python."""
    owner = cache.pwd.getpwuid(os.getuid())
    monkeypatch.setattr(cache.pwd, "getpwuid", lambda _: type(owner)((*owner[:5], str(tmp_path), owner[6])))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "")
    assert cache_dir() == tmp_path / ".cache/hocket"


def test_a_cache_that_is_a_circle_of_links_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a"))
    with pytest.raises(HocketError, match=r"cannot use the cache directory .*; set XDG_CACHE_HOME"):
        cache_dir()


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
    """The group of its maintainers may write it, not everybody."""
    tmp_path.chmod(0o775)
    check_installed(tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(
        HocketError, match=r"can be written by every user.*chmod -R o-w .*install Hocket anew under umask"
    ):
        check_installed(tmp_path)


MASKS = [0o000, 0o002, 0o022, 0o077]


@pytest.fixture(params=MASKS, ids=oct)
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_what_hocket_makes_is_the_users_alone_to_change(
    mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so it is taken the next time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "parent" / "cache"))
    seen: list[Path] = []

    def build(folder: Path, moment: Path) -> None:
        (folder / "deeper").mkdir()
        (folder / "deeper" / "b").write_text("built")
        make(folder)
        seen.extend([folder, moment])

    for _ in range(2):
        home = build_once("runtime-1", ["a", "deeper/b"], build)
        plan = keep("plan", b"data", ".hkt")
        with report_folder() as folder:
            everything = [*(tmp_path / "parent").rglob("*"), tmp_path / "parent"]
            assert {home, home / "deeper" / "b", plan, folder} <= set(everything)
            assert [path for path in everything if path.stat().st_mode & 0o022] == []
        assert not folder.exists()
    assert len(seen) == 2


def test_a_damaged_file_is_built_anew(home: Path) -> None:
    """Cut short, altered, or without what tells whether it is whole."""
    built = build_once("runtime-1", ["a"], make)
    for damage in (
        lambda: (built / "a").write_text("cut"),
        lambda: (built / "a").write_text("altered"),
        lambda: (built / "whole.json").write_text("{"),
        lambda: (built / "whole.json").write_text("[]"),
        lambda: (built / "whole.json").unlink(),
    ):
        damage()
        assert build_once("runtime-1", ["a"], make) == built
        assert (built / "a").read_text() == "built" and leftovers(home) == []


def test_a_damaged_plan_is_written_anew(home: Path) -> None:
    """A plan that others could change is written anew, too."""
    plan = keep("plan", b"data", ".hkt")
    plan.write_bytes(b"dat4")
    assert keep("plan", b"data", ".hkt").read_bytes() == b"data"
    plan.chmod(0o666)
    assert keep("plan", b"data", ".hkt").stat().st_mode & 0o777 == 0o644


@dataclass(frozen=True)
class Group:
    gr_name: str
    gr_mem: list[str]


@dataclass(frozen=True)
class User:
    pw_name: str
    pw_uid: int
    pw_gid: int


SAME = -1  # the group that is asked about


@pytest.mark.parametrize(
    ("group", "others", "private"),
    [
        (Group("ada", []), [], True),
        (Group("ada", ["ada"]), [User("bob", 77, 12_345)], True),
        (Group("ada", ["ada", "bob"]), [], False),
        (Group("ada", []), [User("bob", 77, SAME)], False),
        (Group("users", []), [], False),
        (None, [], False),
    ],
    ids=["own", "named in it", "another member", "another's first", "another name", "unknown"],
)
def test_a_group_of_the_users_own_is_no_other_user(
    home: Path, monkeypatch: pytest.MonkeyPatch, group: Group | None, others: list[User], private: bool
) -> None:
    """Under umask 002 programs make ~/.cache for the group, too."""
    gid = home.parent.stat().st_gid
    users = [replace(user, pw_gid=gid) if user.pw_gid == SAME else user for user in others]
    ada = User("ada", os.getuid(), gid)

    def group_of(_: int) -> Group:
        if group is None:
            raise KeyError
        return group

    def user_of(uid: int) -> User:
        if uid != ada.pw_uid:
            raise KeyError
        return ada

    monkeypatch.setattr(cache.grp, "getgrgid", group_of)
    monkeypatch.setattr(cache.pwd, "getpwuid", user_of)
    monkeypatch.setattr(cache.pwd, "getpwall", lambda: [ada, *users])
    cache._is_private.cache_clear()
    home.parent.chmod(0o775)
    try:
        if private:
            assert cache_dir() == home
            return
        with pytest.raises(HocketError, match=r"other users can replace the cache.*chmod go-w"):
            cache_dir()
    finally:
        cache._is_private.cache_clear()


NOBODY = 65534


def as_nobody(work: Callable[[], object]) -> str:
    """Result of the work, or its error, in a process of another user."""
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()

    def child() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            said.put(str(work()))
        except HocketError as error:
            said.put(f"refused: {error}")

    process = context.Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0
    return str(said.get())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act for two users")
def test_a_cache_of_root_is_shared(mask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others take what is there, unless the umask says otherwise; root takes nothing of theirs."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o1777)
        monkeypatch.setenv("XDG_CACHE_HOME", f"{place}/roots")

        def never(_folder: Path, _moment: Path) -> None:
            raise HocketError("built again")

        def take() -> Path:
            assert keep("plan", b"data", ".hkt").read_bytes() == b"data"
            return build_once("runtime-1", ["a"], never)

        built, _ = build_once("runtime-1", ["a"], make), keep("plan", b"data", ".hkt")
        if mask == 0o077:
            assert "set XDG_CACHE_HOME to a directory of your own" in as_nobody(take)
        else:
            assert as_nobody(take) == str(built)
            lacking = as_nobody(lambda: keep("plan", b"another", ".hkt"))
            assert "Permission denied; set XDG_CACHE_HOME" in lacking
        monkeypatch.setenv("XDG_CACHE_HOME", f"{place}/theirs")
        assert as_nobody(cache_dir) == f"{place}/theirs/hocket"
        with pytest.raises(HocketError, match=r"belongs to another user.*XDG_CACHE_HOME"):
            cache_dir()


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


def test_reports_that_killed_runs_have_left_go(home: Path) -> None:
    for name in ("report-dead", "report-living"):
        (cache_dir() / name / "ranks").mkdir(parents=True)
        (home / name / "in-use").touch()
    with (home / "report-living" / "in-use").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        clear_up(home)
    assert [path.name for path in home.iterdir()] == ["report-living"]
