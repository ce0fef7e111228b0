"""What is published: the same bytes from the same sources, and a true list of what is in them."""

import hashlib
import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[1]
PACKAGES = ("model-gateway-provider-openai", "model-gateway-kit", "model-gateway-extension-valkey")
"""One of each way to build: a plugin, one with a command and files, one that needs libraries."""
LOCALES = ("C", "C.UTF-8")


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dist", ROOT / "tools" / "dist.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def builds(dist: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The packages, built from two checkouts in folders of other names, at other times."""
    folders = []
    for locale in LOCALES:
        here = tmp_path_factory.mktemp(f"built-{locale}")
        command = ["git", "checkout-index", "--all", f"--prefix={here}/sources/"]
        subprocess.run(command, cwd=ROOT, check=True)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("LC_ALL", locale)
            dist.build(here / "sources", here / "packages", PACKAGES)
        folders.append(here / "packages")
    return folders


def test_the_same_sources_make_the_same_bytes(builds: list[Path]) -> None:
    first, second = (
        {file.name: file.read_bytes() for file in folder.iterdir()} for folder in builds
    )

    assert len(first) == 2 * len(PACKAGES)
    assert first == second


def test_the_bill_of_materials_is_true(dist: ModuleType, builds: list[Path]) -> None:
    wheels = sorted(builds[0].glob("*.whl"))
    text = dist.bill_of_materials(wheels, dist.commit_time())

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    written = json.loads(text)
    components = {each["name"]: each for each in written["components"]}
    for wheel in wheels:
        name = wheel.name.split("-")[0].replace("_", "-")
        (only,) = components[name]["hashes"]
        assert only["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    pins = (ROOT / "requirements" / "lock.txt").read_text(encoding="utf-8")
    redis = components["redis"]
    assert f"redis=={redis['version']}" in pins
    assert redis["hashes"]
    assert all(f"sha256:{each['content']}" in pins for each in redis["hashes"])
    assert redis["purl"] == f"pkg:pypi/redis@{redis['version']}"


def test_it_names_what_each_needs(dist: ModuleType, builds: list[Path]) -> None:
    wheels = sorted(builds[0].glob("*.whl"))
    written = json.loads(dist.bill_of_materials(wheels, dist.commit_time()))
    names = {each["bom-ref"]: each["name"] for each in written["components"]}
    needs = {
        names[each["ref"]]: {names[below] for below in each.get("dependsOn", [])}
        for each in written["dependencies"]
        if each["ref"] in names
    }

    assert {"model-gateway", "redis"} <= needs["model-gateway-extension-valkey"]
    assert "starlette" in needs["model-gateway"]
    assert "anyio" in needs["starlette"]
