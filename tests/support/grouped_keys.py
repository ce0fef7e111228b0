"""Gateways on one data directory whose keys are in groups, and a vendor with a known price."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from admin_gateway import FORMATS, AdminGateway, Vendor, client_of
from served_gateway import PATIENT, vendor_plugin

from gateway_batches import plugin as batches
from gateway_core import Auth, Kind, Model, Price, ProviderSpec
from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ
from gateway_dashboard_api import plugin as dashboard
from gateway_filters import plugin as filters
from gateway_groups import plugin as groups

SETTINGS = "/api/plugins/groups/settings"
PRICE = Price(input=1, output=2)
"""A token of the prompt costs a millionth of a dollar."""
CONTEXT = 1000
MOST = {"model": "ac/m", "max_tokens": 100}
"""A call that may cost 1200 millionths: its prompt is as long as the context window at most."""
MODELS = (
    Model("m", context=CONTEXT, price=PRICE),
    Model("n", price=PRICE),
    Model("unpriced", context=CONTEXT),
    Model("images", kind=Kind.IMAGE, price=PRICE),
)


def used(prompt: int, answer: int) -> bytes:
    usage = f'"prompt_tokens":{prompt},"completion_tokens":{answer}'
    return (
        b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
        b'"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{'
        + usage.encode()
        + f',"total_tokens":{prompt + answer}'.encode()
        + b"}}"
    )


class Grouped(AdminGateway):
    """A gateway, as the operator and as its keys see it."""

    keys: httpx2.AsyncClient

    async def set_groups(self, *groups: dict[str, Any]) -> None:
        await self.call("PATCH", SETTINGS, {"groups": list(groups)})

    async def new_key(self, name: str, **limits: Any) -> str:
        made = await self.call(
            "POST", "/api/keys", {"name": name, "machineId": "any", **limits}, status=201
        )
        text: str = made["key"]
        return text

    async def ask(self, key: str, **members: Any) -> httpx2.Response:
        body = {**MOST, "messages": [{"role": "user", "content": "Hello"}], **members}
        return await self.keys.post(
            "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}
        )

    async def use(self) -> Any:
        """What is shown of the only group."""
        [group] = (await self.call("GET", "/api/group-limits"))["groups"]
        return group


@asynccontextmanager
async def grouped(
    data_dir: Path, count: int = 1, clock: Callable[[], float] | None = None
) -> AsyncIterator[list[Grouped]]:
    """Gateways on one data directory, as workers are, until the block ends."""
    async with AsyncExitStack() as stack:
        vendor = Vendor()
        vendor.key = None
        await vendor.open()
        stack.push_async_callback(vendor.aclose)
        spec = ProviderSpec(
            id="acme",
            name="Acme",
            alias="ac",
            base_url=f"{vendor.url}/v1",
            auth=Auth(type="none"),
            models=MODELS,
        )
        plugins = {**FORMATS, "vendors": vendor_plugin([spec]), "dashboard": dashboard}
        plugins |= {"filters": filters, "groups": groups, "batches": batches}
        environment = from_environ(
            {"DATA_DIR": str(data_dir), **PATIENT, "REQUIRE_API_KEY": "true"}
        )
        more = {} if clock is None else {"clock": clock}
        made = []
        for _ in range(count):
            gateway = await stack.enter_async_context(
                Gateway.open(
                    environment,
                    extra_plugins=plugins,
                    installed_plugins=False,
                    shares_data=count > 1,
                    **more,
                )
            )
            operator = await stack.enter_async_context(client_of(gateway))
            each = Grouped(gateway, operator, vendor, vendor)
            each.keys = await stack.enter_async_context(client_of(gateway, operator=False))
            made.append(each)
        yield made


async def settled(gateway: Grouped) -> None:
    """Return once nothing of the only group is reserved."""
    async with asyncio.timeout(20):
        while (await gateway.use())["callsReserved"]:
            await asyncio.sleep(0.05)
