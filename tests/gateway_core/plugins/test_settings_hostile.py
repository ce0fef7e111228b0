"""Settings that fail when they are read, never end, or would tell a secret."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta, Struct
from plugin_settings import loaded, messages, plugin

from gateway_core import ProviderSpec
from gateway_core.contracts.errors import BadRequest
from gateway_core.plugins import PluginSettings, settings_of
from gateway_core.plugins.registry import build
from gateway_core.plugins.setting_fields import MASK
from gateway_core.storage.stores.plugin_document import NOTHING, PluginDocument


class Touchy(Struct, frozen=True, kw_only=True):
    size: int = 1

    def __post_init__(self) -> None:
        if self.size == 2:
            raise KeyError("a bug")
        if self.size == 3:
            raise SystemExit(3)
        while self.size == 4:
            pass


class Nested(Struct, frozen=True, kw_only=True):
    inner: Touchy = Touchy()
    other: int = 0


def nested(size: int, limit: float = 5.0) -> PluginSettings:
    documents = {"acme": PluginDocument(members={"inner": {"size": size}, "other": 7})}
    return settings_of(loaded(limit=limit, acme=plugin(Nested)), stored=documents)


@pytest.mark.parametrize(("size", "name"), [(2, "KeyError"), (3, "SystemExit")])
def test_a_check_inside_that_fails_in_any_way_leaves_one_value_out(size: int, name: str) -> None:
    found = nested(size)

    assert found.current("acme") == Nested(other=7)
    assert messages(found) == [
        f"the setting inner (stored) is left out: inner is refused with {name}"
    ]
    with pytest.raises(BadRequest, match=f"inner is refused with {name}"):
        found.changes("acme", {"inner": {"size": size}})


def test_a_check_that_never_ends_is_cut_off() -> None:
    found = nested(4, limit=0.2)

    assert found.current("acme") == Nested()
    [reported] = messages(found)
    assert (
        reported == "its check of its settings did not finish within 0.2 s, so the defaults count"
    )
    with pytest.raises(BadRequest, match="did not finish"):
        found.changes("acme", {"inner": {"size": 4}})
    with pytest.raises(BadRequest, match="did not finish"):
        found.check("acme", NOTHING, {"inner": {"size": 4}})


Secret = Annotated[str, Meta(extra={"secret": True})]


class Keys(Struct, frozen=True, kw_only=True):
    tokens: tuple[Secret, ...] = ()
    logins: dict[str, Secret] = {}
    region: str = "eu"

    def __post_init__(self) -> None:
        if self.region == "moon":
            raise ValueError(f"not with {self.tokens} and {self.logins}")


SECRETS = {"tokens": ["canary-1", "canary-12"], "logins": {"a": "canary-3"}}


def test_no_secret_inside_a_setting_is_told() -> None:
    documents = {"acme": PluginDocument(members={**SECRETS, "region": "moon"})}

    [reported] = messages(settings_of(loaded(acme=plugin(Keys)), stored=documents))

    assert "canary" not in reported
    assert reported.count(MASK) == 3


def test_a_hook_that_fails_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    def register_providers(settings: Keys) -> list[ProviderSpec]:
        raise ValueError(f"{settings.region}: {settings.tokens} {settings.logins}")

    documents = {"acme": PluginDocument(members=SECRETS)}
    plugins = loaded(acme=plugin(Keys, register_providers=register_providers))

    registry = build(plugins, settings_of(plugins, stored=documents))

    [problem] = registry.problems
    assert "ValueError: eu: " in problem.message
    assert "canary" not in problem.message + caplog.text


class Endless(Struct, frozen=True, kw_only=True):
    anything: Any = None


@pytest.mark.parametrize("levels", [101, 900])
def test_what_is_nested_without_end_is_no_setting(levels: int) -> None:
    text = "[" * levels + "]" * levels
    found = settings_of(loaded(acme=plugin(Endless)), {"PLUGIN_ACME_ANYTHING": text})

    assert found.current("acme") == Endless()
    assert "nested more than 100 levels deep" in messages(found)[0]
    with pytest.raises(BadRequest, match="nested more than 100 levels deep"):
        found.changes("acme", {"anything": msgspec.json.decode(text)})
