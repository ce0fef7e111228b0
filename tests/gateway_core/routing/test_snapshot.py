"""The picture of the stored configuration."""

import pytest
from msgspec.structs import replace
from snapshots import provider, registry_of

from gateway_core import Auth, Kind, Model
from gateway_core.config.settings import Settings
from gateway_core.routing.environment_accounts import SET_ASIDE
from gateway_core.routing.snapshot import accounts_of, custom_model, models_of
from gateway_core.storage.stores.connection import Connection

KEYLESS = provider("free", auth=Auth(type="none"))


def stored(id: str, active: bool = True, broken: bool = False) -> Connection:
    return Connection(
        id=id,
        provider="acme",
        auth_type="apikey",
        name=None,
        email=None,
        priority=1,
        is_active=active,
        data={"modelLock_m": "2031-01-01T00:00:00Z"},
        secrets={"apiKey": f"key {id}"},
        broken=broken,
        created_at="",
        updated_at="",
    )


def test_only_active_accounts_that_open_are_used() -> None:
    held = [stored("a"), stored("b", active=False), stored("c", broken=True), stored("d")]

    found = accounts_of(held, Settings(), registry_of([provider("acme")]))

    assert [account.id for account in found["acme"]] == ["a", "d"]
    assert found["acme"][0].credential.secret == "key a"
    assert found["acme"][0].state == held[0].data


def test_a_provider_that_needs_no_account_has_a_stand_in() -> None:
    registry = registry_of([KEYLESS, provider("acme")])
    off = Settings(disabled_free_providers=("free",))

    [account] = accounts_of([], Settings(), registry)["free"]

    assert (account.id, account.credential.secret) == ("free:public", None)
    assert accounts_of([], off, registry) == {}


@pytest.mark.parametrize("account", [{"active": False}, {"broken": True}])
def test_no_stand_in_replaces_an_account_that_is_off_or_unreadable(
    account: dict[str, bool],
) -> None:
    registry = registry_of([provider("acme", auth=Auth(type="optional"))])

    assert accounts_of([stored("a", **account)], Settings(), registry) == {}


def test_a_stand_in_returns_when_the_variable_of_an_account_is_gone() -> None:
    registry = registry_of([provider("acme", auth=Auth(type="optional"))])
    aside = replace(stored("a", active=False), data={SET_ASIDE: True})

    [account] = accounts_of([aside], Settings(), registry)["acme"]

    assert account.id == "acme:public"


def test_rows_are_the_plugins_and_the_operators_without_disabled_ones() -> None:
    registry = registry_of([provider("acme", "a", "b"), provider("zed", "y", "z")])

    found = models_of(registry, {"acme": [{"id": "c"}]}, {"acme": ["a"]}, {"zed": ["z"]})

    assert {id: [row.id for row in rows] for id, rows in found.models.items()} == {
        "acme": ["b", "c"],
        "zed": ["z"],
    }
    assert (found.hidden, found.shown) == ({("acme", "a")}, {"zed": frozenset({"z"})})


def test_an_operators_row_is_a_model() -> None:
    row = {"id": "c", "kind": "image", "name": "C", "capabilities": {"contextWindow": 5}}

    assert custom_model(row) == Model("c", name="C", kind=Kind.IMAGE, context=5)
    assert custom_model({"id": "c"}) == Model("c")
