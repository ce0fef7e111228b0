"""Sharing out processor time: the files that are written, for both versions of control groups."""

from pathlib import Path

import pytest

from benchmarks import shares


@pytest.fixture(params=["cgroup", "cgroup2"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where groups can be made, as the kernel lays it out but for what it writes itself."""
    here = tmp_path / "control"
    here.mkdir()
    (here / "cgroup.subtree_control").write_text("memory cpu\n")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"proc /proc proc rw 0 0\nnone {here} {request.param} rw,cpu 0 0\n")
    monkeypatch.setattr(shares, "MOUNTS", mounts)
    return here


def test_each_process_has_its_share_until_the_block_ends(root: Path) -> None:
    with shares.shares([41, 42], 0.2):
        groups = sorted(path for path in root.iterdir() if path.is_dir())
        reported = [(group / "cgroup.procs").read_text() for group in groups]
        limits = {(group / "cpu.max").read_text() for group in groups}

    assert reported == ["41", "42"]
    assert limits == {"2000 10000"}
    assert (root / "cgroup.procs").read_text() == "42"


def test_the_first_version_has_files_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "cpu.cfs_quota_us").touch()

    shares._limit(tmp_path, 0.5)

    assert (tmp_path / "cpu.cfs_quota_us").read_text() == "5000"
    assert (tmp_path / "cpu.cfs_period_us").read_text() == "10000"


def test_where_time_cannot_be_shared_out_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\n")
    monkeypatch.setattr(shares, "MOUNTS", mounts)

    with pytest.raises(shares.NoShares, match="root"), shares.shares([41], 0.2):
        pass


def test_a_group_that_may_not_be_made_is_said(root: Path) -> None:
    (root / "gateway-bench-41").mkdir()

    with pytest.raises(shares.NoShares, match="cannot be used"), shares.shares([41], 0.2):
        pass
