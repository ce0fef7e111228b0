"""Accounts in cooldown, and ending a cooldown by hand (A.5)."""

from collections.abc import Iterator, Mapping

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.routing.snapshot import PUBLIC
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import Connection
from gateway_core.upstream.redaction import redact, texts

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import read_json, strip
from .bodies import ActionBody
from .views import Cleared, Resting, RestRow

PATH = "/api/models/availability"
UNAVAILABLE = "unavailable"


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(admin, "GET", PATH, list_all, "read the availability", answer=Resting),
        endpoint(
            admin,
            "POST",
            PATH,
            act,
            "clear the cooldown",
            body=ActionBody,
            answer=Cleared,
            example={"action": "clearCooldown", "provider": "openai", "model": EVERY_MODEL},
        ),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    stored = {each.id: each for each in await admin.stores.connections.list()}
    active = admin.core.cooldowns.all_active()
    rows = []
    for account, model, cooldown in active:
        # A provider without keys has an account without a row; its id derives from the provider's.
        provider = account.removesuffix(f":{PUBLIC}")
        connection, spec = stored.get(account), admin.spec(provider)
        row = RestRow(
            provider=connection.provider if connection else provider,
            model=model,
            status="cooldown",
            until=iso(cooldown.until),
            connection_id=account,
            connection_name=connection.name if connection else spec.name if spec else provider,
            last_error=redact(cooldown.reason, texts(connection.secrets) if connection else ()),
        )
        rows.append(row)
    rows += _unavailable(stored, {account for account, _, _ in active})
    return json_answer(Resting(models=tuple(rows), unavailable_count=len(rows)))


def _unavailable(stored: Mapping[str, Connection], resting: set[str]) -> Iterator[RestRow]:
    """Yield accounts whose cooldown is over and that have not answered since."""
    for each in stored.values():
        is_usable = each.is_active and each.id not in resting
        if is_usable and each.data.get("testStatus") == UNAVAILABLE:
            yield RestRow(
                provider=each.provider,
                model=EVERY_MODEL,
                status="unavailable",
                connection_id=each.id,
                connection_name=each.name,
                last_error=redact(str(each.data.get("lastError") or ""), texts(each.secrets)),
            )


async def act(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, ActionBody)
    provider, model = strip(body.provider), strip(body.model)
    if body.action != "clearCooldown" or not provider or not model:
        raise BadRequest("Invalid request")
    provider = admin.provider_id(provider)
    stored = [each.id for each in await admin.stores.connections.list(provider)]
    accounts = [*stored, f"{provider}:{PUBLIC}"]
    if body.connection_id is not None:
        if body.connection_id not in accounts:
            raise NotFound("Connection not found")
        accounts = [body.connection_id]
    admin.core.cooldowns.clear(accounts, model)
    await _mark_usable(admin, accounts)
    return json_answer(Cleared())


async def _mark_usable(admin: AdminContext, accounts: list[str]) -> None:
    """Mark the stored rows of these accounts as usable at once."""
    resting = {account for account, _, _ in admin.core.cooldowns.all_active()}
    changes = {
        account: dict(members) for account, members in admin.core.cooldowns.take_changes().items()
    }
    for connection in await admin.stores.connections.list():
        is_usable = connection.id in accounts and connection.id not in resting
        if is_usable and connection.data.get("testStatus") == UNAVAILABLE:
            reset = {"testStatus": "active", "backoffLevel": 0, "lastError": None}
            changes.setdefault(connection.id, {}).update(reset)
    if changes:
        await admin.stores.connections.note(changes)
