"""Changes of settings: what is refused, and what counts afterwards."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from plugin_settings import Acme, settings

from gateway_core.contracts.errors import BadRequest
from gateway_core.plugins.setting_fields import MASK
from gateway_core.storage.stores.plugin_document import NOTHING, PluginDocument
from gateway_dashboard_api.plugins.settings import shown_values


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
