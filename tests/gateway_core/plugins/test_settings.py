"""Which of a setting's values counts, and what becomes of those that do not fit."""

import re
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import click
import gateway_format_openai
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct

from gateway_core import ProviderSpec, hookimpl
from gateway_core.commands import add_plugin_commands
from gateway_core.contracts.errors import BadRequest
from gateway_core.plugins import Loaded, PluginSettings, State, load, replies, settings_of
from gateway_core.plugins.setting_fields import MASK
from gateway_core.plugins.setting_values import Source, shown_values
from gateway_core.registry import build
from gateway_core.storage.plugin_document import NOTHING, PluginDocument


class Acme(Struct, frozen=True, kw_only=True, rename="camel"):
    region: str = "eu"
    tries: Annotated[int, Meta(ge=1)] = 3
    hosts: tuple[str, ...] = ()
    is_loud: bool = False
    proxy: str | None = "http://p"
    api_key: str = ""

    def __post_init__(self) -> None:
        if self.region == "moon" and self.tries > 5:
            raise ValueError(f"the moon is called at most 5 times, not with {self.api_key}")


def plugin(struct: object = Acme, **hooks: Any) -> ModuleType:
    """A plugin with these settings; a function stands for the hook itself."""
    module = ModuleType("in_process")
    is_hook = callable(struct) and not isinstance(struct, type)
    module.register_settings = hookimpl(struct if is_hook else lambda: struct)  # type: ignore[attr-defined]
    for name, function in hooks.items():
        setattr(module, name, hookimpl(function))
    return module


def loaded(**plugins: ModuleType) -> Loaded:
    extra = {name.replace("_", "-"): module for name, module in plugins.items()}
    return load(extra=extra, entry_points=False)


def settings(
    stored: Mapping[str, Any] = {},
    variables: Mapping[str, str] = {},
    program: Mapping[str, Any] = {},
) -> PluginSettings:
    """Those of one plugin, ``acme``."""
    documents = {"acme": PluginDocument(members=stored)}
    return settings_of(loaded(acme=plugin()), variables, {"acme": program}, documents)


def messages(found: PluginSettings) -> list[str]:
    return [problem.message for problem in found.problems]


def test_what_is_set_nearer_to_the_process_wins() -> None:
    stored = {"region": "stored", "tries": 4, "hosts": ["stored"]}

    found = settings(stored, {"PLUGIN_ACME_HOSTS": '["env"]'}, {"tries": 5, "hosts": ["program"]})

    assert found.current("acme") == Acme(region="stored", tries=5, hosts=("env",))
    assert found.in_force("acme").sources == {
        "region": Source.STORED,
        "tries": Source.PROGRAM,
        "hosts": Source.ENVIRONMENT,
    }
    assert found.problems == []


def test_a_plugin_without_settings_has_none() -> None:
    found = settings_of(loaded(other=ModuleType("other")))

    assert found.current("other") is None
    assert found.given("other") == {"settings": None}
    assert found.fields("other") == ()


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("REGION", "us", "region", "us"),
        ("REGION", "17", "region", "17"),
        ("REGION", '"us"', "region", '"us"'),
        ("REGION", "{", "region", "{"),
        ("TRIES", "4", "tries", 4),
        ("HOSTS", '["a", "b"]', "hosts", ("a", "b")),
        ("IS_LOUD", "true", "is_loud", True),
        ("IS_LOUD", "True", "is_loud", True),
        ("IS_LOUD", "1", "is_loud", True),
        ("PROXY", "http://q", "proxy", "http://q"),
        ("API_KEY", "canary", "api_key", "canary"),
    ],
)
def test_a_variable_holds_text_or_json(variable: str, text: str, field: str, value: object) -> None:
    found = settings(variables={f"PLUGIN_ACME_{variable}": text})

    assert getattr(found.current("acme"), field) == value
    assert found.problems == []


@pytest.mark.parametrize("text", ["0", "many", "[", "1.5", "null", "[" * 100_000])
def test_a_variable_that_does_not_fit_is_told_and_left_out(text: str) -> None:
    found = settings({"tries": 4}, {"PLUGIN_ACME_TRIES": text})

    assert found.current("acme") == Acme(tries=4)
    assert messages(found) == ["the variable PLUGIN_ACME_TRIES is left out: it is to hold integer"]


def test_a_stored_value_that_does_not_fit_is_told_and_the_others_count() -> None:
    found = settings({"region": "us", "tries": 0, "hosts": ["a", 5]})

    assert found.current("acme") == Acme(region="us")
    assert messages(found) == [
        "the setting hosts (stored) is left out: Expected `str`, got `int` - at `$.hosts[1]`",
        "the setting tries (stored) is left out: Expected `int` >= 1 - at `$.tries`",
    ]


def test_members_of_another_version_are_left_alone() -> None:
    assert settings({"older": 1, "region": "us"}).problems == []


def test_a_secret_that_cannot_be_opened_is_told_and_its_default_counts() -> None:
    documents = {"acme": PluginDocument(broken=("apiKey",))}

    found = settings_of(loaded(acme=plugin()), stored=documents)

    assert found.current("acme") == Acme()
    assert messages(found) == ["the stored apiKey cannot be opened"]


def test_settings_that_the_plugin_itself_refuses_make_the_defaults_count() -> None:
    found = settings({"region": "moon", "tries": 9, "apiKey": "canary"})

    assert found.current("acme") == Acme()
    assert found.in_force("acme").sources == {}
    assert messages(found) == [
        "its settings are refused, so the defaults count: "
        f"the moon is called at most 5 times, not with {MASK}"
    ]


def test_a_wrong_secret_is_told_without_its_value() -> None:
    found = settings({"apiKey": 1234567}, {"PLUGIN_ACME_TRIES": "canary"})

    assert messages(found) == [
        "the setting apiKey (stored) is left out: apiKey does not fit its type",
        "the variable PLUGIN_ACME_TRIES is left out: it is to hold integer",
    ]


def test_what_is_set_and_means_nothing_is_told() -> None:
    found = settings(variables={"PLUGIN_ACME_REGOIN": "x"}, program={"regoin": "x"})

    assert messages(found) == [
        "the variable PLUGIN_ACME_REGOIN means none of its settings",
        "the embedding program sets regoin, which is no setting of it",
    ]


def test_a_variable_that_means_settings_of_two_plugins_is_read_for_neither() -> None:
    class Wide(Struct, frozen=True):
        x_region: str = "eu"

    both = loaded(acme=plugin(Wide), acme_x=plugin())

    found = settings_of(both, {"PLUGIN_ACME_X_REGION": "us", "PLUGIN_ACME_X_TRIES": "4"})

    assert found.current("acme") == Wide()
    assert found.current("acme-x") == Acme(tries=4)
    assert messages(found) == [
        "the variable PLUGIN_ACME_X_REGION is not read: it means a setting of each of acme, acme-x"
    ]


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
    asked: list[str] = []
    bad = plugin(struct, register_providers=lambda: asked.append("bad"))
    both = loaded(bad=bad, good=plugin())

    found = settings_of(both, limit=0.5)
    registry = build(both, found)

    assert found.current("good") == Acme()
    assert [(each.name, each.state) for each in registry.plugins] == [
        ("bad", State.FAILED),
        ("good", State.LOADED),
    ]
    assert registry.plugins[0].error == reason
    assert asked == []


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
    told = replies(one.manager.hook.register_commands, [], {"cli": click.Group()})

    assert (told, given) == ([("acme", None)], [None])


def test_what_is_stored_later_counts_at_once() -> None:
    found = settings()
    before = found.current("acme")

    found.take({"other": NOTHING})
    unchanged = found.current("acme")
    found.take({"acme": PluginDocument(members={"tries": 4})})

    assert unchanged is before
    assert found.current("acme") == Acme(tries=4)


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


def test_a_change_says_what_it_sets_and_what_it_brings_back() -> None:
    wanted = {"region": None, "proxy": None, "tries": 4, "apiKey": MASK}

    assert settings().changes("acme", wanted) == {"region": UNSET, "proxy": None, "tries": 4}


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"tries": 0}, "Expected `int` >= 1 - at `$.tries`"),
        ({"tries": "4"}, "Expected `int`, got `str` - at `$.tries`"),
        ({"hosts": ["a", None]}, "at `$.hosts[1]`"),
        ({"regoin": "us"}, "there is no setting regoin"),
        ({"regoin": None}, "there is no setting regoin"),
        ({"isLoud": MASK}, "Expected `bool`, got `str` - at `$.isLoud`"),
        ({"apiKey": 12345}, "apiKey does not fit its type"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_with_its_place(
    wanted: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        settings().changes("acme", wanted)

    assert caught.value.message.startswith("Invalid settings: ")
    assert caught.value.message.endswith(reason)
    assert "12345" not in caught.value.message


def test_a_change_that_the_plugin_refuses_is_refused_with_what_is_stored_and_set() -> None:
    found = settings(variables={"PLUGIN_ACME_TRIES": "9"})

    with pytest.raises(BadRequest, match="the moon is called at most 5 times"):
        found.check("acme", NOTHING, {"region": "moon"})
    with pytest.raises(BadRequest, match="the moon is called at most 5 times"):
        settings().check("acme", PluginDocument(members={"tries": 9}), {"region": "moon"})
    found.check("acme", PluginDocument(members={"region": "moon"}), {"region": UNSET})


def test_a_wrong_stored_member_stands_in_the_way_of_no_change() -> None:
    settings().check("acme", PluginDocument(members={"tries": 0}), {"region": "moon"})


def test_values_are_shown_without_secrets() -> None:
    declared = settings().declared("acme")
    assert declared is not None

    shown = shown_values(declared, Acme(api_key="canary", hosts=("a",)))

    assert shown["apiKey"] == MASK
    assert shown["hosts"] == ("a",)
    assert "canary" not in str(shown)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "region": st.text(max_size=5),
            "tries": st.integers(1, 1 << 60),
            "hosts": st.lists(st.text(max_size=5), max_size=3),
            "isLoud": st.booleans(),
            "proxy": st.none() | st.text(max_size=5),
            "apiKey": st.text(max_size=5),
        },
    )
)
def test_what_is_patched_is_what_counts(wanted: dict[str, Any]) -> None:
    found = settings()

    changes = found.changes("acme", wanted)
    found.check("acme", NOTHING, changes)
    found.take({"acme": PluginDocument(members=changes)})

    assert found.current("acme") == msgspec.convert(wanted, Acme)
    assert set(found.in_force("acme").sources) == set(wanted)


@given(
    st.text(st.characters(exclude_characters="\0")), st.sampled_from(sorted(Acme.__struct_fields__))
)
def test_no_variable_stops_anything(text: str, field: str) -> None:
    found = settings(variables={f"PLUGIN_ACME_{field.upper()}": text})

    assert isinstance(found.current("acme"), Acme)


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
    return settings_of(loaded(acme=plugin(Nested)), stored=documents, limit=limit)


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
    [told] = messages(found)
    assert told == "its check of its settings did not finish within 0.2 s, so the defaults count"
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

    [told] = messages(settings_of(loaded(acme=plugin(Keys)), stored=documents))

    assert "canary" not in told
    assert told.count(MASK) == 3


def test_a_hook_that_fails_tells_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    def register_providers(settings: Keys) -> list[ProviderSpec]:
        raise ValueError(f"{settings.region}: {settings.tokens} {settings.logins}")

    documents = {"acme": PluginDocument(members=SECRETS)}
    plugins = loaded(acme=plugin(Keys, register_providers=register_providers))

    registry = build(plugins, settings_of(plugins, stored=documents))

    [problem] = registry.problems
    assert "ValueError: eu: " in problem.message
    assert "canary" not in problem.message + caplog.text


class Loose(Struct, frozen=True, kw_only=True):
    anything: Any = None


@pytest.mark.parametrize("levels", [101, 900])
def test_what_is_nested_without_end_is_no_setting(levels: int) -> None:
    text = "[" * levels + "]" * levels
    found = settings_of(loaded(acme=plugin(Loose)), {"PLUGIN_ACME_ANYTHING": text})

    assert found.current("acme") == Loose()
    assert "nested more than 100 levels deep" in messages(found)[0]
    with pytest.raises(BadRequest, match="nested more than 100 levels deep"):
        found.changes("acme", {"anything": msgspec.json.decode(text)})
