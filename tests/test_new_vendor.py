"""A new vendor is a ``pyproject.toml`` and one module; everything else is derived from them."""

import importlib.util
import json
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest
from plugin_folders import QUESTIONS, Folder, reported, specs_of

from gateway_core.plugins import Origin, load
from gateway_core.plugins.discovery import installed
from gateway_core.plugins.registry import build
from gateway_core.plugins.trust import has_precedence

ROOT = Path(__file__).parents[1]
PROJECT = """
[project]
name = "model-gateway-provider-acme"
version = "0.1.0"
description = "Acme for the model gateway"
requires-python = ">=3.11"
dependencies = ["model-gateway"]

[project.entry-points.model_gateway]
acme = "gateway_provider_acme"

[build-system]
requires = ["uv_build>=0.9,<1"]
build-backend = "uv_build"

[tool.uv.build-backend]
module-name = "gateway_provider_acme"
module-root = ""
"""
MODULE = '''"""Acme. API reference: https://docs.acme.example/api"""

from gateway_core import Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

GATEWAY_PROTOCOL = 1

ACME = openai_compatible(
    ProviderSpec(
        id="acme",
        name="Acme",
        base_url="https://api.acme.example/v1",
        environment=("ACME_API_KEY",),
        models=(Model("acme-large", context=131_072, max_output=8_192, tools=True),),
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ACME]
'''


def module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A copy of the repository's layout with one plugin folder in it."""
    path = tmp_path / "plugins" / "providers" / "acme"
    (path / "gateway_provider_acme").mkdir(parents=True)
    (path / "pyproject.toml").write_text(PROJECT)
    (path / "gateway_provider_acme" / "__init__.py").write_text(MODULE)
    (tmp_path / "plugins" / "formats").symlink_to(ROOT / "plugins" / "formats")
    (tmp_path / "gateway_core" / "plugins").mkdir(parents=True)
    monkeypatch.syspath_prepend(path)
    return Folder("provider", path)


@pytest.fixture
def checks() -> ModuleType:
    """The checks that every plugin folder of the repository has to pass."""
    return module_of(ROOT / "tests" / "test_plugins.py")


def test_what_is_derived_names_it(folder: Folder, tmp_path: Path) -> None:
    module_of(ROOT / "tools" / "bundled.py").write(tmp_path)

    written = json.loads((tmp_path / "gateway_core" / "plugins" / "bundled.json").read_text())
    assert written["model-gateway-provider-acme"] == {"providers": ["acme"]}


def test_it_passes_the_checks_of_every_plugin(
    folder: Folder, checks: ModuleType, tmp_path: Path
) -> None:
    module_of(ROOT / "tools" / "bundled.py").write(tmp_path)

    checks.test_its_names_agree(folder)
    checks.test_it_needs_no_more_than_it_must(folder)
    checks.test_it_links_to_its_documentation(folder)
    checks.test_it_is_typed(folder)
    checks.test_the_gateway_takes_all_it_brings(folder)
    checks.test_its_variables_are_spelled_as_such(folder)
    checks.test_an_account_may_name_another_address(folder)
    for client, stream in product(sorted(QUESTIONS), (False, True)):
        checks.test_a_call_shows_its_key_and_names_its_model(folder, client, stream)
        checks.test_an_answer_reaches_the_client(folder, client, stream)
    assert [reported(folder, spec)["manifest"]["id"] for spec in specs_of(folder)] == ["acme"]


def test_its_entry_point_alone_installs_it(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "site" / "model_gateway_provider_acme-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Name: model-gateway-provider-acme\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[model_gateway]\nacme = gateway_provider_acme\n")
    monkeypatch.syspath_prepend(tmp_path / "site")

    assert "acme" in {each.name for each in installed(lambda name, problem: None)}
    loaded = load(allowed=frozenset({"format-openai", "acme"}))

    assert build(loaded).provider_plugins["acme"] == "acme"
    [plugin] = [each for each in loaded.plugins if each.name == "acme"]
    assert plugin.origin is Origin.INSTALLED
    assert not has_precedence(plugin)  # its name alone does not make it one of the gateway's own
