"""Gateway keys: created over REST, used by clients without any other credential."""

from typing import Any

import httpx2
from admin_gateway import AdminGateway, client_of

REMOTE = "203.0.113.9"
PATH = "/api/keys"


async def key_for(admin: AdminGateway, name: str = "one", **more: Any) -> dict[str, Any]:
    """Create a key; the result has its text."""
    body = {"name": name, "machineId": "any", **more}
    made: dict[str, Any] = await admin.call("POST", PATH, body, status=201)
    return made


def bearer(key: dict[str, Any]) -> dict[str, str]:
    return {"authorization": f"Bearer {key['key']}"}


async def chat(
    client: httpx2.AsyncClient, key: dict[str, Any] | None, model: str = "acme/large"
) -> httpx2.Response:
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    headers = {} if key is None else bearer(key)
    return await client.post("/v1/chat/completions", json=body, headers=headers)


def remote(admin: AdminGateway) -> httpx2.AsyncClient:
    """Return a client at another address, without any credential."""
    return client_of(admin.gateway, REMOTE, operator=False)


async def status_of(admin: AdminGateway, key: dict[str, Any], model: str = "acme/large") -> int:
    """Return the status of a call with a key from another address."""
    async with remote(admin) as client:
        return (await chat(client, key, model)).status_code
