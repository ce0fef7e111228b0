"""Callers of every kind at one office: a session, an API key, somebody without anything."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from office import Office, client_of

from gateway_core.storage.stores.keys import KeyChange

SECRET = "a-secret-of-more-than-thirty-two-bytes-for-tests"
"""For JWT_SECRET."""


async def new_key(office: Office, **policy: Any) -> str:
    """The text of a fresh API key; with a policy it is a restricted one."""
    mint = office.core.identity.keys.mint
    text = mint.new()
    change = KeyChange(name="test", policy=policy)
    await office.core.stores.keys.create(text, mint.digest(text).hex(), mint.machine_id, change)
    await office.core.refresh()
    return text


@asynccontextmanager
async def nobody(office: Office, host: str = "127.0.0.1") -> AsyncIterator[Office]:
    """The office as a caller without any credential reaches it."""
    async with client_of(office.gateway, host, operator=False) as client:
        yield Office(office.gateway, client, office.vendor, office.other)


@asynccontextmanager
async def by_key(office: Office, **policy: Any) -> AsyncIterator[Office]:
    """The office as an API key reaches it from far away."""
    key = await new_key(office, **policy)
    async with nobody(office, "192.0.2.7") as here:
        here.client.headers["x-api-key"] = key
        yield here


@asynccontextmanager
async def by_session(office: Office) -> AsyncIterator[Office]:
    """The office as a person who has signed in reaches it; needs JWT_SECRET."""
    token = office.core.sessions.issue()
    async with nobody(office, "192.0.2.8") as here:
        here.client.cookies = httpx2.Cookies({"auth_token": token})
        yield here
