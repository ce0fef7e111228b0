"""The programs in the documentation run as they are printed."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import gateway_format_openai
import pytest
from gateway_kit.providers import ProviderSuite

from gateway_core import Kind
from gateway_core.plugins import load
from gateway_core.plugins.registry import build

DOCS = Path(__file__).parents[1] / "docs"
DATA_DIR = re.compile(r'(?<="DATA_DIR": ")[^"]+')


def block(page: str, language: str) -> str:
    """The only fenced block of a language on a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_embedding_example_opens_a_gateway_and_closes_it(tmp_path: Path) -> None:
    source, data = block("embedding.md", "python"), tmp_path / "data"
    source, places = DATA_DIR.subn(str(data), source)
    assert places == 1

    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        env={**os.environ, "HOME": str(tmp_path), "DATA_DIR": str(tmp_path / "not-read")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ended.returncode == 0, ended.stderr
    assert "'openai'" in ended.stdout
    assert (data / "db" / "data.sqlite").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_provider_example_is_a_plugin_without_faults() -> None:
    module = ModuleType("gateway_provider_acme")
    exec(block("writing-a-provider.md", "python"), vars(module))  # noqa: S102

    plugins = {"acme": module, "format-openai": gateway_format_openai}
    registry = build(load(extra=plugins, entry_points=False))

    assert registry.problems == ()
    acme = registry.providers["acme"]
    assert acme.base_url == "https://api.acme.example/v1"
    assert [(model.id, model.kind) for model in acme.models] == [
        ("acme-large", Kind.LLM),
        ("acme-embed", Kind.EMBEDDING),
    ]


def test_the_provider_example_declares_its_module_as_a_plugin() -> None:
    project = tomllib.loads(block("writing-a-provider.md", "toml"))
    text = (DOCS / "writing-a-provider.md").read_text(encoding="utf-8")

    [(name, module)] = project["project"]["entry-points"]["model_gateway"].items()

    assert name == "acme"
    assert f"`{module}/__init__.py`:\n\n```python" in text


def test_the_service_example_keeps_to_what_the_kit_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gateway_provider_acme_services.py").write_text(block("service-kinds.md", "python"))
    monkeypatch.syspath_prepend(tmp_path)
    suite = ProviderSuite(("gateway_provider_acme_services",))

    cases = [case for case in suite.cases() if "accepted" in case.name or "acme-" in case.name]
    failures = {case.name: suite.run(case, tmp_path / "data") for case in cases}

    suite.close()
    assert len(cases) > 20
    assert {name: reported for name, reported in failures.items() if reported is not None} == {}
