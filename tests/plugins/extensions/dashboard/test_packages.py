"""The source archive and the wheel: what was built is in both, so that no Node is needed later."""

import json
import os
import re
import runpy
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import gateway_extension_dashboard as dashboard
import httpx2
import pytest
from dashboard_browser import ROOT, ensure_built
from served_gateway import serve_gateway

HERE = ROOT / "plugins" / "extensions" / "dashboard"
UV = ROOT / ".tools" / "bin" / "uv"
STATIC = HERE / "gateway_extension_dashboard" / "static"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source archive, and a wheel that was built from it where npm can fetch nothing."""
    ensure_built()
    folder = tmp_path_factory.mktemp("packages")
    env = {
        **os.environ,
        "PATH": os.defpath,
        "npm_config_offline": "true",
        "npm_config_cache": str(folder / "npm"),
    }
    command = [UV, "build", "--quiet", "--out-dir", folder, HERE]
    constraints = ["--build-constraints", ROOT / "requirements" / "build.txt"]
    subprocess.run([*command, *constraints], env=env, check=True)
    return folder


def built_files() -> set[str]:
    return {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()}


def below(names: list[str], folder: str) -> set[str]:
    return {
        str(PurePosixPath(name).relative_to(folder)) for name in names if name.startswith(folder)
    }


def test_the_source_archive_holds_sources_and_what_was_built(packages: Path) -> None:
    (archive,) = packages.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = [PurePosixPath(*Path(each.name).parts[1:]).as_posix() for each in file.getmembers()]

    assert below(names, "gateway_extension_dashboard/static/") == built_files()
    assert {"hatch_build.py", "web_build.py", "web/package-lock.json", "web/src/main.tsx"} <= {
        *names
    }
    assert not [name for name in names if "node_modules" in name or name.startswith("web/dist")]


def test_the_wheel_holds_what_was_built_and_no_sources(packages: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()

    assert below(names, "gateway_extension_dashboard/static/") == built_files()
    assert {"index.html", "licences.txt"} <= built_files()
    assert not [name for name in names if name.endswith((".ts", ".tsx")) or "node_modules" in name]


def test_the_wheel_lists_the_licence_of_every_package_in_it(packages: Path) -> None:
    (wheel,) = packages.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        licences = file.read("gateway_extension_dashboard/static/licences.txt").decode()

    about = json.loads((HERE / "web" / "package.json").read_text("utf-8"))
    for name, version in about["dependencies"].items():
        assert f"{name} {version} (" in licences
    assert "see below" not in licences


def test_a_gateway_serves_what_the_wheel_holds(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel,) = packages.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path)
    monkeypatch.setattr(dashboard, "STATIC", tmp_path / "gateway_extension_dashboard" / "static")

    with serve_gateway(tmp_path / "data", {}) as here:
        page = httpx2.get(f"{here.url}/dashboard", trust_env=False)
        named = re.findall(r'(?:src|href)="(/dashboard/[^"]+)"', page.text)
        files = {path: httpx2.get(here.url + path, trust_env=False) for path in named}

    assert page.status_code == 200
    assert any(path.endswith(".js") for path in files)
    for path, answer in files.items():
        assert answer.status_code == 200, path
        is_hashed = "/assets/" in path
        assert ("immutable" in answer.headers["cache-control"]) is is_hashed, path


def test_a_build_needs_no_node_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ensure_built()
    web_build = runpy.run_path(str(HERE / "web_build.py"))
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("node") is None

    web_build["npm"]("exec", "--", "vite", "--version")

    assert "vite/" in capfd.readouterr().out
