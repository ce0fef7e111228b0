"""What an installation brings: pinned dependencies, expected entry points, quiet imports.

What may go into a package is looked at here; test_container.py builds ours and compares
them with the source tree.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from gateway_core.plugins.startup_files import startup_files

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "lock.txt"
KIT = ROOT / "plugins" / "extensions" / "kit"
CORE = "model-gateway"
MEMBERS = [ROOT, *sorted(file.parent for file in ROOT.glob("plugins/*/*/pyproject.toml"))]
KINDS = {".py", ".json", ".sql", ".txt", ".typed"}
"""Endings of the files that our packages consist of."""
MADE_BY_OTHERS = {"_virtualenv.pth"}
"""Startup files that the makers of virtual environments put there."""

IMPORTS = """
import importlib, os, pkgutil, sys

ALLOWED = ("socket.__new__", "socket.gethostname")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def refuse(event, args):
    is_loud = event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.spawn"))
    is_write = event == "open" and isinstance(args[2], int) and args[2] & WRITES
    if is_loud and event not in ALLOWED or is_write:
        raise PermissionError(f"{event} {args} while {name} is imported")

name, count = "", 0
sys.dont_write_bytecode = True
sys.addaudithook(refuse)
for package in sys.argv[1:]:
    home = importlib.import_module(package)
    for _, name, _ in pkgutil.walk_packages(home.__path__, f"{package}."):
        if not name.endswith("__main__"):
            importlib.import_module(name)
            count += 1
print(count)
"""


@cache
def declared(member: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((member / "pyproject.toml").read_text("utf-8"))
    return found


def packages() -> list[str]:
    """What goes into the wheel of the gateway."""
    found: list[str] = declared(ROOT)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return found


def requirements() -> Iterator[str]:
    """Each of the lock's, with the lines that belong to it."""
    text = re.sub(r"^\s*#.*\n", "", LOCK.read_text("utf-8"), flags=re.MULTILINE)
    yield from re.split(r"\n(?=\S)", text.strip())


def test_every_locked_dependency_is_one_version_with_hashes() -> None:
    found = list(requirements())

    assert len(found) > 30
    for each in found:
        first, *hashes = re.split(r"\s*\\\n\s*", each.strip())
        assert re.fullmatch(r"[a-z0-9._-]+(\[[a-z,]+\])?==[\w.+!-]+( ; .+)?", first), first
        assert hashes, first
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), first


def test_every_dependency_of_the_gateway_is_locked() -> None:
    locked = {re.split(r"[=\[ ]", each)[0] for each in requirements()}

    wanted = {re.split(r"[>=<\[; ]", each)[0] for each in declared(ROOT)["project"]["dependencies"]}
    assert wanted <= locked


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_a_package_brings_the_entry_points_it_declares_and_no_others(member: Path) -> None:
    project = declared(member)["project"]
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}

    there = {(e.group, e.name, e.value) for e in distribution(project["name"]).entry_points}

    wanted = {(group, *entry) for group, entries in groups.items() for entry in entries.items()}
    assert there == wanted
    kernels = {"model_gateway_engines"} if member == ROOT else set()
    assert set(groups) <= {"console_scripts", "model_gateway", "pytest11", *kernels}


def test_the_gateway_has_one_command_and_says_which_entry_points_it_brings() -> None:
    assert declared(ROOT)["project"]["scripts"] == {CORE: "gateway_cli.main:main"}
    assert declared(ROOT)["project"]["entry-points"] == {
        "model_gateway": {
            "dashboard": "gateway_dashboard_api.plugin",
            "services": "gateway_services.plugin",
            "files": "gateway_files.plugin",
            "realtime": "gateway_realtime.plugin",
            "batches": "gateway_batches.plugin",
            "native": "gateway_native.plugin",
            "filters": "gateway_filters.plugin",
            "groups": "gateway_groups.plugin",
        },
        "model_gateway_engines": {
            "postgres": "gateway_postgres.engine:open_postgres",
            "postgres-copy": "gateway_postgres.copying:copy_of_postgres",
        },
    }
    assert declared(KIT)["project"]["entry-points"] == {
        "model_gateway": {"kit": "gateway_kit.commands"},
        "pytest11": {"model-gateway-kit": "gateway_kit.plugin"},
    }
    assert not any("scripts" in declared(member)["project"] for member in MEMBERS[1:])


def test_only_the_kit_needs_what_tests_need() -> None:
    for member in MEMBERS:
        needs = {
            re.split(r"[>=<\[; ]", each)[0] for each in declared(member)["project"]["dependencies"]
        }
        for_tests = {"pytest", "hypothesis", "model-gateway-kit"} & needs
        assert for_tests == ({"pytest", "hypothesis"} if member == KIT else set()), member
    assert declared(ROOT)["project"]["optional-dependencies"]["kit"] == ["model-gateway-kit"]


def test_no_startup_file_runs_code_and_each_is_a_checkouts() -> None:
    """Packages that are installed from this checkout have one each, which holds its place."""
    for file in map(Path, startup_files()):
        if file.name not in MADE_BY_OTHERS:
            lines = file.read_text("utf-8").split()
            assert file.suffix == ".pth"
            assert {Path(line).is_relative_to(ROOT) for line in lines} == {True}, file


def test_the_wheel_holds_source_and_data_and_nothing_else() -> None:
    files = [
        file
        for package in packages()
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    ]

    assert len(files) > 350
    assert {file.suffix for file in files} <= KINDS
    assert [file for file in files if file.is_symlink() or file.stat().st_mode & 0o111] == []


def test_importing_everything_asks_nobody_runs_nothing_and_writes_nothing() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS, *packages()], capture_output=True, text=True, cwd=ROOT
    )

    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 300
