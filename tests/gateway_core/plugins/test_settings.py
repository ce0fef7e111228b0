"""Which of a setting's values counts, and what becomes of those that do not fit."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from plugin_settings import Acme, loaded, messages, plugin, settings

from gateway_core.plugins import settings_of
from gateway_core.plugins.setting_fields import MASK
from gateway_core.plugins.setting_values import SettingSource
from gateway_core.storage.stores.plugin_document import NOTHING, PluginDocument


def test_what_is_set_nearer_to_the_process_wins() -> None:
    stored = {"region": "stored", "tries": 4, "hosts": ["stored"]}

    found = settings(stored, {"PLUGIN_ACME_HOSTS": '["env"]'}, {"tries": 5, "hosts": ["program"]})

    assert found.current("acme") == Acme(region="stored", tries=5, hosts=("env",))
    assert found.in_force("acme").sources == {
        "region": SettingSource.STORED,
        "tries": SettingSource.PROGRAM,
        "hosts": SettingSource.ENVIRONMENT,
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


def test_what_is_stored_later_counts_at_once() -> None:
    found = settings()
    before = found.current("acme")

    found.take({"other": NOTHING})
    unchanged = found.current("acme")
    found.take({"acme": PluginDocument(members={"tries": 4})})

    assert unchanged is before
    assert found.current("acme") == Acme(tries=4)


@given(
    st.text(st.characters(exclude_characters="\0")), st.sampled_from(sorted(Acme.__struct_fields__))
)
def test_no_variable_stops_anything(text: str, field: str) -> None:
    found = settings(variables={f"PLUGIN_ACME_{field.upper()}": text})

    assert isinstance(found.current("acme"), Acme)
