"""What has to be put beside the installed packages so that something more works.

The installer works it out in a dry run. Packages of the data
directory count as installed where the installer has an option for it.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from gateway_core.plugins.files import PluginFolder, read_json

from .pip import Installer, Run, insist

_BESIDE = (
    "import runpy, sys; sys.path.append(sys.argv.pop(1)); "
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)
"""Runs pip with a further folder that it takes for installed."""
_PLANNED = re.compile(r"^ \+ ((?P<name>[\w.-]+)(?:==\S+| @ \S+))(?: \(from (?P<url>.+)\))?$", re.M)
"""A line of uv's about a package that it would install."""


class Missing(Struct, frozen=True, kw_only=True):
    """One package that is to be installed."""

    name: str
    version: str | None = None
    """``None`` where the installer clears away earlier versions by itself."""
    requirement: str
    """Exactly which, in the form that installers take."""


def missing(
    tool: Installer, words: Sequence[str], into: PluginFolder, scratch: Path, run: Run
) -> list[Missing]:
    """What ``words`` (constraints, packages, options) need. Raises InstallFailed."""
    packages = []
    if tool.is_uv:
        output = insist(run(tool.command("install", "--dry-run", *words), listen=True))
        for match in _PLANNED.finditer(output):
            name, url = match["name"], match["url"]
            exact = f"{name} @ {url}" if url else match[1]
            packages.append(Missing(name=name, requirement=exact))
        return packages
    report = scratch / "report.json"
    pip = [sys.executable, "-c", _BESIDE, str(into.packages)]
    insist(run([*pip, "install", "--dry-run", "--report", str(report), *words]))
    # The report's members: https://pip.pypa.io/en/stable/reference/installation-report/.
    for entry in read_json(report)["install"]:
        metadata, download = entry["metadata"], entry["download_info"]
        url = download["url"]
        if "vcs_info" in download:
            url = f"{download['vcs_info']['vcs']}+{url}@{download['vcs_info']['commit_id']}"
        marks = [f"subdirectory={download['subdirectory']}"] if "subdirectory" in download else []
        digest = download.get("archive_info", {}).get("hashes", {}).get("sha256")
        marks += [f"sha256={digest}"] if digest else []
        name, version = metadata["name"], metadata["version"]
        exact = f"{name} @ {url}" + (f"#{'&'.join(marks)}" if marks else "")
        packages.append(Missing(name=name, version=version, requirement=exact))
    return packages
