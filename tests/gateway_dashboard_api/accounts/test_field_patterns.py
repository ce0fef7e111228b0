"""What vendors declare of their accounts' fields is held to when accounts are saved."""

from typing import Any

import pytest

from gateway_core import AccountField, BadRequest, ProviderSpec
from gateway_dashboard_api.accounts.bodies import ConnectionBody
from gateway_dashboard_api.accounts.changes import read_provider_data
from gateway_dashboard_api.accounts.owners import Owner
from gateway_dashboard_api.vendors.account_schema import account_schema

REGION = AccountField(name="region", title="Region", pattern="^[a-z]+-[0-9]$")


def read(value: Any, field: AccountField = REGION) -> dict[str, Any]:
    spec = ProviderSpec(id="acme", name="Acme", account_fields=(field,))
    owner = Owner(id="acme", spec=spec, wire=None, node=None)
    return read_provider_data(ConnectionBody(provider_specific_data={"region": value}), owner, {})


@pytest.mark.parametrize("value", ["eu-1", "", None])
def test_what_matches_or_is_left_out_is_taken(value: str | None) -> None:
    assert read(value) == {"region": value}


@pytest.mark.parametrize("value", ["eu 1", " eu-1", 1, {"eu": 1}])
def test_what_does_not_match_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(BadRequest, match="Invalid region"):
        read(value)


def test_a_broken_pattern_refuses_nothing() -> None:
    broken = AccountField(name="region", title="Region", pattern="(")

    assert read("anything", broken) == {"region": "anything"}


def test_forms_get_the_pattern() -> None:
    spec = ProviderSpec(id="acme", name="Acme", account_fields=(REGION,))

    assert account_schema(spec)["properties"]["region"]["pattern"] == REGION.pattern
