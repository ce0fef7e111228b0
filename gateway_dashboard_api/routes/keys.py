"""Gateway keys: list, make, show, change, delete, reveal (4.12)."""

from functools import partial

from msgspec import UNSET, Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import Forbidden, NotFound, Unavailable
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.ids import random_id
from gateway_core.storage.stores.key_usage import NOTHING
from gateway_core.storage.stores.keys import ApiKey, KeyChange

from ..desk import AdminContext
from ..endpoint import endpoint
from ..key_bodies import KeyBody, NewKeyBody, key_change, new_key
from ..key_rows import KeyList, KeyRow, NewKey, account_row, key_row, new_key_row
from ..requests import read

PATH = "/api/keys"
ONE = PATH + "/{id}"
MOST_TRIES = 5
SHOWN = {*KeyRow.__struct_encode_fields__, *NewKey.__struct_encode_fields__}
NEW_EXAMPLE = {"name": "laptop", "machineId": "any", "expiresAt": None, "rpmLimit": 20}
EXAMPLE = {"isActive": False}


class Revealed(Struct, frozen=True):
    key: str


class Done(Struct, frozen=True):
    success: bool = True


def routes(admin: AdminContext) -> list[Guarded]:
    route = partial(endpoint, admin, answer=KeyRow)
    change = partial(route, body=KeyBody, example=EXAMPLE)
    make = partial(endpoint, admin, body=NewKeyBody, answer=NewKey, example=NEW_EXAMPLE, status=201)
    show_text = partial(endpoint, admin, answer=Revealed, access=Access.SESSION)
    return [
        endpoint(admin, "GET", PATH, list_all, "list API keys", answer=KeyList),
        make("POST", PATH, create, "create the API key"),
        route("GET", ONE, show, "read the API key"),
        change("PUT", ONE, update, "update the API key"),
        change("PATCH", ONE, update, "update the API key"),
        endpoint(admin, "DELETE", ONE, delete, "delete the API key", answer=Done),
        show_text("GET", ONE + "/reveal", reveal, "reveal the API key"),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    """Every key, and the accounts that keys may be bound to."""
    stores = admin.stores
    labels, spent = await stores.key_groups.labels(), await stores.key_usage.ever()
    keys = [
        key_row(key, labels.get(key.id, ()), spent.get(key.id, NOTHING))
        for key in await stores.keys.list()
    ]
    accounts = [account_row(each) for each in await stores.connections.list()]
    return json_answer(KeyList(keys=tuple(keys), connections=tuple(accounts)))


async def create(admin: AdminContext, request: Request) -> Response:
    wanted = new_key(await read(request, NewKeyBody, shown=SHOWN))
    identity = random_id()
    async with admin.writing():
        await _permit_labels(admin, request, wanted)
        await admin.audit(request, "key.create", identity, {"name": wanted.name})
        text, made = await _minted(admin, identity, wanted)
    groups = await admin.stores.key_groups.labels_of(identity)
    return json_answer(new_key_row(made, groups, text), 201)


async def _minted(admin: AdminContext, identity: str, wanted: KeyChange) -> tuple[str, ApiKey]:
    """Save a key under a new text. Six characters are chance, so two may once be the same."""
    mint = admin.core.identity.keys.mint
    for _ in range(MOST_TRIES):
        text = mint.new()
        digest = mint.digest(text).hex()
        try:
            key = await admin.stores.keys.create(text, digest, mint.machine_id, wanted, identity)
        except UniqueViolation:
            continue
        return text, key
    raise Unavailable("No new key could be made; try again")


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer(await _shown(admin, await key_of(admin, request.path_params["id"])))


async def update(admin: AdminContext, request: Request) -> Response:
    wanted = key_change(await read(request, KeyBody, shown=SHOWN))
    async with admin.writing():
        await _permit_labels(admin, request, wanted)
        after = await admin.stores.keys.update(request.path_params["id"], wanted)
    return json_answer(await _shown(admin, after))


async def delete(admin: AdminContext, request: Request) -> Response:
    identity = request.path_params["id"]
    async with admin.writing():
        found = await key_of(admin, identity)
        await admin.audit(request, "key.delete", identity, {"name": found.name})
        await admin.stores.keys.delete(identity)
    return json_answer(Done())


async def reveal(admin: AdminContext, request: Request) -> Response:
    """The text of a key, for a person who has logged in."""
    found = await key_of(admin, request.path_params["id"])
    await admin.audit(request, "key.reveal", found.id, {"name": found.name})
    return json_answer(Revealed(await admin.stores.keys.reveal(found.id)))


async def key_of(admin: AdminContext, identity: str) -> ApiKey:
    """A stored key. Raises NotFound."""
    found = await admin.stores.keys.get(identity)
    if found is None:
        raise NotFound("API key not found")
    return found


async def _shown(admin: AdminContext, key: ApiKey) -> KeyRow:
    stores = admin.stores
    groups = await stores.key_groups.labels_of(key.id)
    spent = await stores.key_usage.spent(key.id, admin.core.limits.today())
    return key_row(key, groups, spent.ever)


async def _permit_labels(admin: AdminContext, request: Request, wanted: KeyChange) -> None:
    """An API key cannot make groups, not even this way. Raises Forbidden."""
    if wanted.groups is UNSET or admin.caller(request).is_operator:
        return
    known = {group.name for group in await admin.stores.key_groups.list()}
    if not known.issuperset(wanted.groups):
        raise Forbidden("An API key cannot make key groups")
