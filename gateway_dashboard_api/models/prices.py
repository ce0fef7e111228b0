"""The prices of models: the operator's, the plugins' and the table's (A.8, B.7)."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.storage.stores.kv import PRICING

from ..accounts.owners import provider_of
from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..models import price_list
from ..requests import read_json, read_query
from .bodies import PricingQuery, Which

PATH = "/api/pricing"
EXAMPLE = {
    "acme": {
        "large": {"input": 3, "output": 15, "cached": 0.3},
        "painter": {"units": {"images": 0.04}},
    }
}
Change = dict[str, dict[str, price_list.RatesBody]]


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            show,
            "read the pricing",
            query=PricingQuery,
            answer=price_list.Prices,
        ),
        endpoint(
            admin,
            "PATCH",
            PATH,
            change,
            "update the pricing",
            body=Change,
            answer=price_list.Prices,
            example=EXAMPLE,
        ),
        endpoint(
            admin,
            "DELETE",
            PATH,
            forget,
            "reset the pricing",
            query=Which,
            answer=price_list.Prices,
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    provider = read_query(request, PricingQuery).provider
    if provider is not None:
        provider = await provider_of(admin, provider)
    return await _list(admin, provider)


async def _list(admin: AdminContext, provider: str | None = None) -> Response:
    own = await admin.stores.kv.all(PRICING)
    # In a thread: looking up a vendor's hundreds of models for the first time takes long.
    prices = await asyncio.to_thread(price_list.list_prices, admin, own, provider)
    return json_answer(prices)


async def change(admin: AdminContext, request: Request) -> Response:
    body: dict[str, Any] = await read_json(request, dict[str, Any])
    prices = await price_list.read_change(admin, body)
    async with admin.writing():
        own = await admin.stores.kv.all(PRICING)
        after = price_list.apply_change(admin, own, prices)
        changed = {provider: after[provider] for provider in prices}
        await admin.audit_change(request, "price.update", None, own, changed)
        await admin.stores.kv.put(PRICING, changed)
    return await _list(admin)


async def forget(admin: AdminContext, request: Request) -> Response:
    """Remove the operator's rates: of one model, of one provider, or all of them."""
    parameters = read_query(request, Which)
    if parameters.provider is None and parameters.model is not None:
        raise BadRequest("Missing query parameter: provider")
    async with admin.writing():
        if parameters.provider is None:
            own = await admin.stores.kv.all(PRICING)
            await admin.audit_change(request, "price.delete", None, own, None)
            await admin.stores.kv.replace(PRICING, {})
        else:
            await _forget(admin, request, parameters.provider, parameters.model)
    return await _list(admin)


async def _forget(admin: AdminContext, request: Request, name: str, model: str | None) -> None:
    """Raises BadRequest for a provider that is unknown and has no rates."""
    own = await admin.stores.kv.all(PRICING)
    provider = await provider_of(admin, name, stored=name in own)
    before = own.get(provider, {})
    gone = dict.fromkeys(before) if model is None else {model: None}
    await admin.audit_change(request, "price.delete", provider, before, gone)
    rates = dict(before)
    if model is not None:
        rates.pop(model, None)
    if model is None or not rates:
        await admin.stores.kv.delete(PRICING, provider)
    else:
        await admin.stores.kv.put(PRICING, {provider: rates})
