"""Callers of every kind of one gateway: a session, an API key, no credential."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from admin_gateway import AdminGateway, client_of
from own_stores import own_stores

from gateway_administration.stores.keys import KeyChange

SECRET = "a-secret-of-more-than-thirty-two-bytes-for-tests"
"""For JWT_SECRET."""


async def new_key(admin: AdminGateway, **policy: Any) -> str:
    """The text of a fresh API key; with a policy it is a restricted one."""
    mint = admin.core.identity.keys.mint
    text = mint.new()
    change = KeyChange(name="test", policy=policy)
    await own_stores(admin.core).keys.create(text, mint.digest(text).hex(), mint.machine_id, change)
    await admin.core.refresh()
    return text


@asynccontextmanager
async def without_credentials(
    admin: AdminGateway, host: str = "127.0.0.1"
) -> AsyncIterator[AdminGateway]:
    """The gateway as a caller without any credential calls it."""
    async with client_of(admin.gateway, host, operator=False) as client:
        yield AdminGateway(admin.gateway, client, admin.vendor, admin.other)


@asynccontextmanager
async def with_key(admin: AdminGateway, **policy: Any) -> AsyncIterator[AdminGateway]:
    """The gateway as an API key calls it from another address."""
    key = await new_key(admin, **policy)
    async with without_credentials(admin, "192.0.2.7") as here:
        here.client.headers["x-api-key"] = key
        yield here


@asynccontextmanager
async def with_session(admin: AdminGateway) -> AsyncIterator[AdminGateway]:
    """The gateway as a signed-in person calls it; needs JWT_SECRET."""
    token = admin.core.sessions.issue()
    async with without_credentials(admin, "192.0.2.8") as here:
        here.client.cookies = httpx2.Cookies({"auth_token": token})
        yield here
