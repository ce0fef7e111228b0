"""The catalog of vendors, and the JSON Schema of what their accounts hold."""

from pathlib import Path
from typing import Any

import pytest
from admin_gateway import AdminGateway
from caller_kinds import with_key, with_session, without_credentials
from jsonschema_rs import Draft202012Validator
from parametrize_ids import parametrize_id
from plugin_folders import Folder, folders, specs_of

from gateway_dashboard_api.vendors.account_schema import account_schema

pytestmark = pytest.mark.anyio
PATH = "/api/vendors"
WITHOUT_PAGE = frozenset(
    (Path(__file__).parents[2] / "data" / "vendors_without_key_page.txt").read_text().split()
)
"""Vendors of which no public page is known where keys are made: whoever finds one deletes a row."""
every_vendor = pytest.mark.parametrize("folder", folders("provider"), ids=parametrize_id)


def by_id(answer: Any) -> dict[str, Any]:
    return {row["id"]: row for row in answer["vendors"]}


async def test_a_vendor_is_listed_with_what_its_accounts_need(admin: AdminGateway) -> None:
    await admin.connect("acme")

    acme = by_id(await admin.call("GET", PATH))["acme"]

    assert (acme["name"], acme["alias"], acme["installed"]) == ("Acme", "ac", True)
    assert (acme["accounts"], acme["connected"], acme["models"]) == (1, True, 3)
    assert (acme["authType"], acme["formats"][0]) == ("apikey", "openai")
    assert acme["variables"] == ["ACME_KEY"]
    assert acme["accountSchema"]["properties"]["baseUrl"]["format"] == "uri"


async def test_a_bundled_vendor_that_is_not_loaded_is_listed_with_its_package(
    admin: AdminGateway,
) -> None:
    groq = by_id(await admin.call("GET", PATH))["groq"]

    assert groq["installed"] is False
    assert groq["distribution"] == "model-gateway-provider-groq"


async def test_a_loaded_vendor_has_the_link_of_its_plugin(admin: AdminGateway) -> None:
    echo = await admin.call("GET", f"{PATH}/echo")

    assert echo["docsUrl"] == "https://platform.openai.com/docs/api-reference/chat"
    assert echo["isFree"] is True
    assert echo["kinds"] == ["llm"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("search=acm", {"acme"}),
        ("search=AC&installed=true", {"acme"}),
        ("connected=true&installed=true", {"echo", "open", "local"}),
        ("kind=nothing", set()),
    ],
)
async def test_the_list_is_searched_and_filtered(
    admin: AdminGateway, query: str, found: set[str]
) -> None:
    rows = by_id(await admin.call("GET", f"{PATH}?{query}"))

    assert set(rows) == found


async def test_an_alias_finds_its_vendor_and_an_unknown_name_none(admin: AdminGateway) -> None:
    assert (await admin.call("GET", f"{PATH}/ac"))["id"] == "acme"
    await admin.call("GET", f"{PATH}/nobody", status=404)


async def test_it_is_for_callers_of_the_management_api(admin: AdminGateway) -> None:
    async with without_credentials(admin, "192.0.2.1") as stranger:
        await stranger.call("GET", PATH, status=401)
    async with with_session(admin) as person:
        await person.call("GET", PATH)
    async with with_key(admin) as key:
        await key.call("GET", PATH)


@every_vendor
async def test_the_schema_takes_what_a_form_gives(folder: Folder) -> None:
    for spec in specs_of(folder):
        schema = account_schema(spec)
        whole = {field.name: field.examples[0] for field in spec.account_fields if field.examples}
        needed = {field.name: "x" for field in spec.account_fields if field.needed}
        validator = Draft202012Validator(schema)

        assert validator.is_valid({**needed, **whole})
        assert validator.is_valid({"baseUrl": "https://own.example/v1"})
        assert validator.is_valid({}) is not bool(needed)


@every_vendor
async def test_each_member_that_a_variable_sets_is_described(folder: Folder) -> None:
    for spec in specs_of(folder):
        named = {"baseUrl", *(field.name for field in spec.account_fields)}

        assert named >= set(spec.environment_data.values())


@every_vendor
async def test_whoever_needs_a_key_learns_where_it_is_made(folder: Folder) -> None:
    for spec in specs_of(folder):
        is_keyed = spec.auth.type in (None, "apikey")

        assert (spec.keys_url is not None or not is_keyed) is (spec.id not in WITHOUT_PAGE)
