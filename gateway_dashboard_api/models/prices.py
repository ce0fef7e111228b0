"""The prices of models: the plugins' own, and the operator's over them (A.8, B.7)."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.stores.kv import PRICING

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..models import price_list
from ..requests import read_json, read_query
from .bodies import Which

PATH = "/api/pricing"
EXAMPLE = {
    "acme": {
        "large": {"input": 3, "output": 15, "cached": 0.3},
        "painter": {"units": {"images": 0.04}},
    }
}
Prices = dict[str, dict[str, dict[str, float | dict[str, float]]]]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, show, "read the pricing", answer=Prices),
        endpoint(
            admin,
            "PATCH",
            PATH,
            change,
            "update the pricing",
            body=Prices,
            answer=Prices,
            example=EXAMPLE,
        ),
        endpoint(admin, "DELETE", PATH, forget, "reset the pricing", query=Which, answer=Prices),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(price_list.full_list(admin, await admin.stores.kv.all(PRICING)))


async def change(admin: AdminContext, request: Request) -> Response:
    body: dict[str, Any] = await read_json(request, dict[str, Any])
    prices = price_list.read_change(admin, body)
    async with admin.writing():
        own = await admin.stores.kv.all(PRICING)
        after = price_list.apply_change(admin, own, prices)
        await admin.stores.kv.put(PRICING, {provider: after[provider] for provider in prices})
    return await show(admin, request)


async def forget(admin: AdminContext, request: Request) -> Response:
    """Restore the plugins' prices: of one model, of one provider, or all of them."""
    parameters = read_query(request, Which)
    async with admin.writing():
        if parameters.provider is None:
            await admin.stores.kv.replace(PRICING, {})
            return await show(admin, request)
        provider = admin.provider_id(parameters.provider)
        own = dict(await admin.stores.kv.get(PRICING, provider) or {})
        if parameters.model is not None:
            own.pop(parameters.model, None)
        if parameters.model is None or not own:
            await admin.stores.kv.delete(PRICING, provider)
        else:
            await admin.stores.kv.put(PRICING, {provider: own})
    return await show(admin, request)
