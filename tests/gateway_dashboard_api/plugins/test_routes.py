"""The plugins that were found, over HTTP, and their switches."""

from pathlib import Path

import pytest
from admin_gateway import AdminGateway, client_of, opened
from drop_ins import folder_in, vendor
from gateway_keys import bearer, key_for, remote

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_core.plugins.switches import disabled

pytestmark = pytest.mark.anyio
PATH = "/api/plugins"


async def test_every_plugin_is_listed_with_what_became_of_it(admin: AdminGateway) -> None:
    rows = {row["name"]: row for row in (await admin.call("GET", PATH))["plugins"]}

    assert rows["format-claude"]["brings"] == ["format claude"]
    assert "acme" in rows["vendors"]["brings"]
    assert {row["state"] for row in rows.values()} == {"loaded"}
    assert {row["origin"] for row in rows.values()} == {"given"}
    assert rows["dashboard"]["tier"] == "unchecked"


async def test_one_plugin_is_shown_whole(admin: AdminGateway) -> None:
    sheet = await admin.call("GET", f"{PATH}/vendors")

    assert "acme" in sheet["providers"]
    assert sheet["variables"] == ["ACME_KEY"]
    assert admin.vendor.url.removeprefix("http://") in sheet["hosts"]
    assert sheet["settings"] == []


async def test_an_unknown_plugin_is_told_with_the_nearest(admin: AdminGateway) -> None:
    for method, path in (("GET", f"{PATH}/vendor"), ("POST", f"{PATH}/vendor/disable")):
        reported = await admin.call(method, path, status=404)

        assert reported["error"] == "There is no plugin 'vendor'. Did you mean vendors?"


async def test_a_switch_counts_from_the_next_start_and_is_noted(
    admin: AdminGateway, tmp_path: Path
) -> None:
    off = await admin.call("POST", f"{PATH}/vendors/disable")
    row = await admin.call("GET", f"{PATH}/vendors")
    again = await admin.call("POST", f"{PATH}/vendors/disable")
    on = await admin.call("POST", f"{PATH}/vendors/enable")

    assert off == {
        "name": "vendors",
        "enabled": False,
        "changed": True,
        "restartRequired": True,
        "note": None,
    }
    assert (row["state"], row["enabled"]) == ("loaded", False)
    assert (again["changed"], on["changed"], on["restartRequired"]) == (False, True, False)
    noted = (await admin.call("GET", "/api/audit?action=plugin.disable"))["rows"]
    assert [row["target"] for row in noted] == ["vendors", "vendors"]


async def test_a_plugin_that_is_off_says_so_and_that_switching_it_on_takes_a_restart(
    tmp_path: Path,
) -> None:
    folder = folder_in(tmp_path)
    folder.write_json("disabled.json", {"disabled": ["extra"]})

    async with opened(tmp_path, {"GATEWAY_BLOCK_PLUGINS": "echo"}, more={"extra": object()}) as it:
        rows = {row["name"]: row for row in (await it.call("GET", PATH))["plugins"]}
        on = await it.call("POST", f"{PATH}/extra/enable")
        blocked = await it.call("POST", f"{PATH}/echo/enable")

    assert (rows["extra"]["state"], rows["extra"]["enabled"]) == ("disabled", False)
    assert on["restartRequired"] is True
    assert disabled(folder) == frozenset()
    assert blocked["note"] == "GATEWAY_BLOCK_PLUGINS still keeps echo out."


async def test_a_damaged_file_of_switches_is_told(admin: AdminGateway) -> None:
    folder = folder_in(admin.core.data_dir.path)
    (folder.path / "disabled.json").write_text("{")

    for method, path in (
        *(("GET", PATH), ("GET", f"{PATH}/vendors")),
        ("POST", f"{PATH}/vendors/disable"),
    ):
        reported = await admin.call(method, path, status=409)

        assert "disabled.json cannot be read" in reported["error"]


async def test_a_key_may_look_but_not_switch(admin: AdminGateway) -> None:
    key = bearer(await key_for(admin))

    async with remote(admin) as client:
        client.headers.update(key)
        looked = await client.get(PATH)
        switched = await client.post(f"{PATH}/vendors/disable")

    assert looked.status_code == 200
    assert switched.status_code == 403


async def test_a_drop_in_of_the_data_directory_is_shown_with_its_file(tmp_path: Path) -> None:
    folder_in(tmp_path, acme=vendor("acme"))
    variables = {
        "DATA_DIR": str(tmp_path),
        "GATEWAY_LOAD_PLUGINS": "format-openai,acme,dashboard",
    }
    async with Gateway.open(from_environ(variables)) as gateway, client_of(gateway) as client:
        row = (await client.get(f"{PATH}/acme")).json()

    assert (row["origin"], row["state"]) == ("file", "loaded")
    assert row["path"] == str(tmp_path / "plugins" / "acme.py")
