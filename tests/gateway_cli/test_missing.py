"""What has to be installed, read from what installers say."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway_cli.missing import missing
from gateway_cli.pip import CommandResult, Installer, InstallFailed
from gateway_core.plugins import PluginFolder

PLAN = """Resolved 42 packages in 7ms
Would install 4 packages
 + acme @ file:///w/acme-1.0-py3-none-any.whl
 + acme-words==1.0
 + acme.sounds==2.0 (from git+https://host.example/sounds@0a1b)
 - old-thing==1.0
"""
DOWNLOADS = {
    "archive": (
        {
            "url": "https://i.example/a.whl",
            "archive_info": {"hashes": {"sha256": "12", "md5": "3"}},
        },
        "acme @ https://i.example/a.whl#sha256=12",
    ),
    "bare": ({"url": "file:///w/a.whl", "archive_info": {}}, "acme @ file:///w/a.whl"),
    "folder": (
        {"url": "file:///w/a", "dir_info": {}, "subdirectory": "py"},
        "acme @ file:///w/a#subdirectory=py",
    ),
    "repository": (
        {"url": "https://h.example/a", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
        "acme @ git+https://h.example/a@0a1b",
    ),
}


class Reported:
    """An installer that says one thing and keeps what it was asked."""

    def __init__(self, *, code: int = 0, reported: str = "", report: Any = None) -> None:
        self.ended = CommandResult(code, reported)
        self.report = report
        self.received: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str], *, listen: bool = False) -> CommandResult:
        self.received.append(command)
        if self.report is not None:
            Path(command[command.index("--report") + 1]).write_text(json.dumps(self.report))
        return self.ended


@pytest.mark.parametrize("download", DOWNLOADS)
def test_a_report_of_pip_becomes_exact_requirements(tmp_path: Path, download: str) -> None:
    info, requirement = DOWNLOADS[download]
    entry = {"metadata": {"name": "acme", "version": "1.0"}, "download_info": info}
    run = Reported(report={"install": [entry]})
    folder = PluginFolder.of(tmp_path)

    [found] = missing(Installer(("pip",)), ["--constraint", "c", "acme"], folder, tmp_path, run)

    assert (found.name, found.version, found.requirement) == ("acme", "1.0", requirement)
    [command] = run.received
    assert {"install", "--dry-run", "acme", str(folder.packages)} <= set(command)


def test_a_plan_of_uv_becomes_exact_requirements(tmp_path: Path) -> None:
    run = Reported(reported=PLAN)
    tool = Installer(("uv", "pip"), is_uv=True)

    found = missing(tool, ["acme"], PluginFolder.of(tmp_path), tmp_path, run)

    assert [each.requirement for each in found] == [
        "acme @ file:///w/acme-1.0-py3-none-any.whl",
        "acme-words==1.0",
        "acme.sounds @ git+https://host.example/sounds@0a1b",
    ]
    assert [each.name for each in found] == ["acme", "acme-words", "acme.sounds"]
    assert "--dry-run" in run.received[0]


@pytest.mark.parametrize("is_uv", [True, False])
def test_a_plan_that_cannot_be_made_is_an_error_with_its_reason(
    tmp_path: Path, is_uv: bool
) -> None:
    run = Reported(code=1, reported="no such package\n")

    with pytest.raises(InstallFailed, match="no such package"):
        missing(Installer(("it",), is_uv=is_uv), ["x"], PluginFolder.of(tmp_path), tmp_path, run)
