"""Declarations of settings that cannot be used, and hooks that take settings."""

import re
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import gateway_format_openai
import pytest
from msgspec import Struct
from plugin_settings import Acme, loaded, plugin

from gateway_cli.options import add_plugin_commands
from gateway_core import ProviderSpec, hookimpl
from gateway_core.plugins import State, load, replies, settings_of
from gateway_core.plugins.registry import build
from gateway_core.storage.stores.plugin_document import PluginDocument


def raises() -> Any:
    raise RuntimeError("no")


class Loose(Struct):
    a: int = 1


class Slow(Struct, frozen=True):
    a: int = 1

    def __post_init__(self) -> None:
        while True:
            time.sleep(0.01)


class Leaving(Struct, frozen=True):
    a: int = 1

    def __post_init__(self) -> None:
        if self.a == 2:
            raise SystemExit(1)


@pytest.mark.parametrize(
    ("struct", "reason"),
    [
        (raises, "register_settings failed: RuntimeError: no"),
        (None, "its settings are refused: expected a Struct type, got NoneType"),
        (Loose, "its settings are refused: the struct is not frozen"),
        (Slow, "its settings are refused: did not finish within 0.5 s"),
    ],
)
def test_a_plugin_whose_declaration_cannot_be_used_is_switched_off(
    struct: object, reason: str
) -> None:
    received: list[str] = []
    bad = plugin(struct, register_providers=lambda: received.append("bad"))
    both = loaded(limit=0.5, bad=bad, good=plugin())

    found = settings_of(both)
    registry = build(both, found)

    assert found.current("good") == Acme()
    assert [(each.name, each.state) for each in registry.plugins] == [
        ("bad", State.FAILED),
        ("good", State.LOADED),
    ]
    assert registry.plugins[0].error == reason
    assert received == []


def test_a_plugin_that_leaves_while_a_stored_value_is_read_stops_nothing() -> None:
    documents = {"acme": PluginDocument(members={"a": 2})}

    found = settings_of(loaded(acme=plugin(Leaving)), stored=documents)

    assert found.current("acme") == Leaving()


def test_a_hook_may_take_the_settings() -> None:
    def providers(settings: Acme) -> list[ProviderSpec]:
        return [ProviderSpec(id=f"acme-{settings.region}", name="Acme")]

    given: list[object] = []
    both = loaded(
        acme=plugin(register_providers=providers),
        other=ModuleType("other"),
        plain=plugin_without(lambda settings: given.append(settings) or []),
    )

    registry = build(both, settings_of(both, {"PLUGIN_ACME_REGION": "us"}))

    assert "acme-us" in str(registry.problems)  # its format is not loaded, so it is only named
    assert given == [None]


def plugin_without(providers: Any) -> ModuleType:
    module = ModuleType("without")
    module.register_providers = hookimpl(providers)  # type: ignore[attr-defined]
    return module


def test_a_hook_that_takes_settings_gets_none_where_nobody_gives_any() -> None:
    given: list[object] = []

    def register_commands(cli: click.Group, settings: object) -> None:
        given.append(settings)

    one = loaded(acme=plugin(register_commands=register_commands))
    reported = replies(one.manager.hook.register_commands, [], {"cli": click.Group()})

    assert (reported, given) == ([("acme", None)], [None])


@pytest.mark.parametrize(
    ("hooks", "needs"),
    [
        ({}, False),
        ({"register_providers": lambda settings: []}, True),
        ({"register_providers": lambda: ()}, False),
        ({"register_commands": lambda settings: None}, False),
    ],
    ids=["no hook", "at start", "without", "for the command line"],
)
def test_a_restart_is_needed_where_a_hook_took_what_has_changed(
    hooks: dict[str, Any], needs: bool
) -> None:
    found = settings_of(loaded(acme=plugin(**hooks)))

    found.take({"acme": PluginDocument(members={"tries": 4})})
    changed = found.needs_restart("acme")
    found.take({"acme": PluginDocument(members={"tries": 3})})

    assert changed is needs
    assert not found.needs_restart("acme")


DROPPED = """
from __future__ import annotations
from msgspec import Struct
from gateway_core import hookimpl

class Settings(Struct, frozen=True):
    regions: tuple[str, ...] = ()

@hookimpl
def register_settings():
    return Settings

@hookimpl
def register_commands(cli, settings):
    print(settings)
"""


def test_the_command_line_knows_defaults_and_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugins").mkdir(mode=0o700)
    (tmp_path / "plugins" / "dropped.py").write_text(DROPPED)
    for name, text in {"DATA_DIR": str(tmp_path), "PLUGIN_DROPPED_REGIONS": '["eu"]'}.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setenv("GATEWAY_LOAD_PLUGINS", "dropped")

    add_plugin_commands(click.Group())

    assert capsys.readouterr().out == "Settings(regions=('eu',))\n"


def test_the_example_in_the_documentation_is_a_plugin_without_faults() -> None:
    page = Path(__file__).parents[3] / "docs" / "plugin-settings.md"
    [source] = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    module = ModuleType("gateway_provider_acme")
    exec(source, vars(module))  # noqa: S102
    both = load(extra={"acme": module, "format-openai": gateway_format_openai}, entry_points=False)

    registry = build(both, settings_of(both, {"PLUGIN_ACME_REGION": "us"}))

    assert registry.problems == ()
    assert registry.providers["acme"].base_url == "https://us.api.acme.example/v1"
