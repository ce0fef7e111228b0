"""A gateway whose six native vendors are one fake vendor on loopback, and calls of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from fake_vendor import ReceivedRequest, Script
from served_gateway import Served, serve_gateway

from gateway_core.storage.stores.connection import NewConnection

VENDORS = ("openai", "anthropic", "minimax", "minimax-cn", "xai", "cohere")
SECRET = "sk-vendor-0123456789"


class NativeGateway:
    """A served gateway, its vendor and its keys."""

    def __init__(self, here: Served, http: httpx2.Client, pins: dict[str, str]) -> None:
        self.here, self.http, self.pins = here, http, pins

    @property
    def received(self) -> list[ReceivedRequest]:
        return self.here.vendors["vendor"].received

    def call(
        self, method: str, path: str, *, key: str = "", pin: str = "", **more: Any
    ) -> httpx2.Response:
        """A call below ``/v1/native``."""
        return self.call_at(method, f"/v1/native/{path}", key=key, pin=pin, **more)

    def call_at(
        self, method: str, path: str, *, key: str = "", pin: str = "", **more: Any
    ) -> httpx2.Response:
        headers = dict(more.pop("headers", {}))
        if key:
            headers["authorization"] = f"Bearer {key}"
        if pin:
            headers["x-connection-id"] = pin
        return self.http.request(method, f"{self.here.url}{path}", headers=headers, **more)

    def key(self, name: str, **more: Any) -> dict[str, Any]:
        """A new gateway key; the result has its text."""
        made = self.http.post(
            f"{self.here.url}/api/keys", json={"name": name, "machineId": "any", **more}
        )
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()
        return found

    def rows(self) -> list[Any]:
        return self.here.rows()


@contextmanager
def serve_native(
    folder: Path, script: Script, http: httpx2.Client, **more: Any
) -> Iterator[NativeGateway]:
    with serve_gateway(folder, {"vendor": script}, specs=lambda vendors: [], **more) as here:

        async def connect() -> dict[str, str]:
            core, pins = here.gateway.core, {}
            own = {"baseUrl": f"{here.vendors['vendor'].url}/v1"}
            for provider in VENDORS:
                data = {"apiKey": SECRET, "providerSpecificData": own}
                new = NewConnection(provider=provider, name=provider, data=data)
                pins[provider] = (await core.stores.connections.create(new)).id
            await core.stores.settings.patch({"requireLogin": False})
            await core.refresh()
            return pins

        yield NativeGateway(here, http, here.do(connect()))


Native = Callable[..., NativeGateway]


def error_of(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the message of a refusal."""
    return answer.status_code, answer.json()["error"]["message"]
