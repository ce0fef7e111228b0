"""Gateway keys: list, create, show, change, delete, reveal, and what they have used (4.12)."""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.keys import KeyChange
from gateway_core.contracts.errors import Forbidden, NotFound, Unavailable
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access
from gateway_core.identity.policy import read
from gateway_core.routing.model_resolver import FAMILIES
from gateway_core.storage.errors import UniqueViolation
from gateway_core.storage.ids import random_id
from gateway_core.storage.stores.key_usage import NOTHING, Spending
from gateway_core.storage.stores.keys import ApiKey

from ..admin_context import AdminContext
from ..answers import Success
from ..endpoint import endpoint
from ..pagination import Pagination, page_of, pagination
from ..requests import read_json, read_query
from .bodies import KeyBody, KeysQuery, NewKeyBody, UsageQuery, read_key_change, read_new_key
from .spending import KeyUsage, read_spending
from .views import (
    CatalogModel,
    KeyList,
    KeyRow,
    NewKey,
    PolicyCatalog,
    Revealed,
    account_row,
    key_row,
    new_key_row,
)

PATH = "/api/keys"
ONE = PATH + "/{id}"
MOST_TRIES = 5
UNCOUNTED = (
    "Calls of models without a known price count as 0 towards the budget. The setting "
    "`refuseUnpricedModels` refuses such models to keys with a budget."
)
SHOWN = {*KeyRow.__struct_encode_fields__, *NewKey.__struct_encode_fields__}
NEW_EXAMPLE = {"name": "laptop", "machineId": "any", "expiresAt": None, "rpmLimit": 20}
EXAMPLE = {"isActive": False}


def routes(admin: AdminContext) -> list[Guarded]:
    route = partial(endpoint, admin, answer=KeyRow)
    change = partial(route, body=KeyBody, example=EXAMPLE)
    make = partial(endpoint, admin, body=NewKeyBody, answer=NewKey, example=NEW_EXAMPLE, status=201)
    show_text = partial(endpoint, admin, answer=Revealed, access=Access.SESSION)
    return [
        endpoint(admin, "GET", PATH, list_keys, "list API keys", query=KeysQuery, answer=KeyList),
        make("POST", PATH, create_key, "create the API key"),
        endpoint(
            admin,
            "GET",
            PATH + "/usage",
            show_usage,
            "read the usage of API keys",
            query=UsageQuery,
            answer=KeyUsage,
        ),
        endpoint(
            admin,
            "GET",
            PATH + "/policy-catalog",
            show_catalog,
            "list what API keys can be narrowed to",
            answer=PolicyCatalog,
        ),
        route("GET", ONE, show_key, "read the API key"),
        change("PUT", ONE, update_key, "update the API key"),
        change("PATCH", ONE, update_key, "update the API key"),
        endpoint(admin, "DELETE", ONE, delete_key, "delete the API key", answer=Success),
        show_text("GET", ONE + "/reveal", reveal_key, "reveal the API key"),
    ]


async def list_keys(admin: AdminContext, request: Request) -> Response:
    """List every key or a page of those that match, and the accounts that keys may be bound to."""
    parameters, stores = read_query(request, KeysQuery), admin.stores
    labels, spent = await admin.own_stores.key_groups.labels(), await _spent_ever(admin)
    term = parameters.search.strip().casefold()
    keys: Sequence[ApiKey] = [
        key
        for key in await stores.keys.list()
        if any(term in text.casefold() for text in (key.name, key.id, *labels.get(key.id, ())))
    ]
    place: Pagination | UnsetType = UNSET
    if parameters.page is not None:
        place = pagination(parameters.page, parameters.page_size, len(keys))
        keys = page_of(keys, parameters.page, parameters.page_size)
    rows = [key_row(key, labels.get(key.id, ()), spent.get(key.id, NOTHING)) for key in keys]
    accounts = [account_row(each) for each in await stores.connections.list()]
    return json_answer(KeyList(keys=tuple(rows), connections=tuple(accounts), pagination=place))


async def _spent_ever(admin: AdminContext) -> Mapping[str, Spending]:
    """What each key has used in its whole life, with the rows that the database has not yet."""
    ledger = admin.core.ledger
    async with ledger.paused():
        spent = dict(await admin.stores.key_usage.ever())
        for identity, _, used in ledger.unwritten():
            spent[identity] = spent.get(identity, NOTHING).plus(used)
    return spent


async def create_key(admin: AdminContext, request: Request) -> Response:
    change = read_new_key(await read_json(request, NewKeyBody, ignored=SHOWN))
    if change.inference_only is UNSET:
        usual = admin.snapshot.settings.new_keys_inference_only
        change = replace(change, inference_only=usual)
    identity = random_id()
    async with admin.writing():
        await _permit_labels(admin, request, change)
        await admin.audit_change(request, "key.create", identity, None, change)
        text, key = await _create_with_new_text(admin, identity, change)
    groups = await admin.own_stores.key_groups.labels_of(identity)
    return json_answer(new_key_row(key, groups, text, _notices(admin, key)), 201)


def _notices(admin: AdminContext, key: ApiKey) -> tuple[str, ...]:
    is_limited = read(key.policy).has_budget
    return (UNCOUNTED,) if is_limited and not admin.snapshot.settings.refuse_unpriced_models else ()


async def _create_with_new_text(
    admin: AdminContext, identity: str, change: KeyChange
) -> tuple[str, ApiKey]:
    """Save a key under a new text. Only six characters are random, so it may be taken."""
    mint = admin.core.identity.keys.mint
    for _ in range(MOST_TRIES):
        text = mint.new()
        digest = mint.digest(text).hex()
        try:
            key = await admin.own_stores.keys.create(
                text, digest, mint.machine_id, change, identity
            )
        except UniqueViolation:
            continue
        return text, key
    raise Unavailable("No new key could be created; try again")


async def show_key(admin: AdminContext, request: Request) -> Response:
    return json_answer(await _row_of(admin, await key_of(admin, request.path_params["id"])))


async def update_key(admin: AdminContext, request: Request) -> Response:
    change = read_key_change(await read_json(request, KeyBody, ignored=SHOWN))
    async with admin.writing():
        await _permit_labels(admin, request, change)
        before = await _row_of(admin, await key_of(admin, request.path_params["id"]))
        await admin.audit_change(request, "key.update", before.id, before, change)
        after = await admin.own_stores.keys.update(before.id, change)
    return json_answer(await _row_of(admin, after))


async def delete_key(admin: AdminContext, request: Request) -> Response:
    identity = request.path_params["id"]
    async with admin.writing():
        before = await _row_of(admin, await key_of(admin, identity))
        await admin.audit_change(request, "key.delete", identity, before, None)
        await admin.own_stores.keys.delete(identity)
    return json_answer(Success())


async def reveal_key(admin: AdminContext, request: Request) -> Response:
    """Return the text of a key to a signed-in person."""
    key = await key_of(admin, request.path_params["id"])
    await admin.audit(request, "key.reveal", key.id, {"name": key.name})
    return json_answer(Revealed(await admin.own_stores.keys.reveal(key.id)))


async def key_of(admin: AdminContext, identity: str) -> ApiKey:
    """Return a stored key. Raises NotFound."""
    key = await admin.stores.keys.get(identity)
    if key is None:
        raise NotFound("API key not found")
    return key


async def _row_of(admin: AdminContext, key: ApiKey) -> KeyRow:
    groups = await admin.own_stores.key_groups.labels_of(key.id)
    spent = await admin.core.limits.spent(key.id)
    return key_row(key, groups, spent.ever)


async def _permit_labels(admin: AdminContext, request: Request, change: KeyChange) -> None:
    """Raises Forbidden where an API key would create a group by naming it."""
    if change.groups is UNSET or admin.caller(request).is_operator:
        return
    known = {group.name for group in await admin.own_stores.key_groups.list()}
    if not known.issuperset(change.groups):
        raise Forbidden("An API key cannot create key groups")


async def show_usage(admin: AdminContext, request: Request) -> Response:
    """Show the usage of one key, or of all."""
    identity = read_query(request, UsageQuery).api_key_id
    keys = await admin.stores.keys.list() if identity is None else [await key_of(admin, identity)]
    limits = admin.core.limits
    return json_answer(KeyUsage({key.id: await read_spending(limits, key) for key in keys}))


async def show_catalog(admin: AdminContext, request: Request) -> Response:
    """List models of connected providers, combos and families."""
    tables = admin.snapshot
    models = tuple(
        CatalogModel(
            id=f"{admin.prefix(provider)}/{row.id}",
            name=row.name or row.id,
            provider=provider,
            kind=str(row.kind),
        )
        for provider in tables.accounts
        for row in tables.models.get(provider, ())
    )
    families = tuple(f"auto/{family}" for family in FAMILIES)
    return json_answer(PolicyCatalog(models=models, combos=tuple(tables.combos), families=families))
