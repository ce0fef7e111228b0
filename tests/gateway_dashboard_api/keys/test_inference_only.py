"""Keys for inference only: management routes are refused to them."""

import pytest
from admin_gateway import AdminGateway
from gateway_keys import PATH, bearer, key_for, remote, status_of

pytestmark = pytest.mark.anyio
REFUSED = ("/api/keys", "/api/settings", "/api/usage/stats", "/api/combos", "/api/pricing")
SETTING = "newKeysInferenceOnly"


async def test_a_key_is_for_management_too_unless_it_says_otherwise(admin: AdminGateway) -> None:
    key = await key_for(admin)

    assert key["inferenceOnly"] is False
    async with remote(admin) as client:
        assert (await client.get("/api/keys", headers=bearer(key))).status_code == 200


@pytest.mark.parametrize("path", [*REFUSED, "/api/there-is-no-such-route"])
async def test_management_is_refused_to_a_key_for_inference_only(
    admin: AdminGateway, path: str
) -> None:
    key = await key_for(admin, inferenceOnly=True)
    async with remote(admin) as client:
        read = await client.get(path, headers=bearer(key))
        write = await client.post(path, headers=bearer(key), json={})

    for answer in (read, write):
        assert answer.status_code == 403
        assert answer.json()["error"] == "This API key is for inference only"


async def test_inference_catalogs_and_the_keys_own_usage_stay_open(admin: AdminGateway) -> None:
    await admin.connect()
    key = await key_for(admin, inferenceOnly=True)
    async with remote(admin) as client:
        catalog = await client.get("/v1/models", headers=bearer(key))
        own = await client.get("/api/usage/me", headers=bearer(key))

    assert await status_of(admin, key) == 200
    assert (catalog.status_code, own.status_code) == (200, 200)


async def test_a_setting_makes_it_the_default_of_new_keys(admin: AdminGateway) -> None:
    before = await key_for(admin)
    await admin.call("PATCH", "/api/settings", {SETTING: True})

    usual, other = await key_for(admin), await key_for(admin, inferenceOnly=False)

    assert (usual["inferenceOnly"], other["inferenceOnly"]) == (True, False)
    assert (await admin.call("GET", f"{PATH}/{before['id']}"))["inferenceOnly"] is False


async def test_the_flag_can_be_changed_and_no_key_changes_the_default(admin: AdminGateway) -> None:
    key = await key_for(admin, inferenceOnly=True)
    path = f"{PATH}/{key['id']}"
    async with remote(admin) as client:
        own = await client.patch(path, headers=bearer(key), json={"inferenceOnly": False})
        assert own.status_code == 403

        assert (await admin.call("PATCH", path, {"inferenceOnly": False}))["inferenceOnly"] is False

        setting = await client.patch("/api/settings", headers=bearer(key), json={SETTING: True})
        assert setting.status_code == 403
        assert (await client.get("/api/keys", headers=bearer(key))).status_code == 200
