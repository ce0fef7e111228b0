"""The operator's own endpoints: list, create, show, change, test, delete (A.2, P.6)."""

from urllib.parse import urlsplit

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_administration.stores.nodes import NodeChange, PrefixTaken
from gateway_core.contracts.errors import BadRequest, Conflict, Forbidden, NotFound
from gateway_core.contracts.wire import WireFormat
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.cooldowns import EVERY_MODEL
from gateway_core.routing.snapshot_loader import node_spec
from gateway_core.storage.errors import SealBroken
from gateway_core.storage.moments import iso
from gateway_core.storage.stores.connection import ConnectionChange
from gateway_core.storage.stores.kv import CUSTOM_MODELS, DISABLED_MODELS, ENABLED_MODELS
from gateway_core.storage.stores.nodes import Node

from ..accounts.changes import clear_credential
from ..accounts.owners import Owner
from ..accounts.probes import custom
from ..accounts.probes.subjects import build_candidate, check_account
from ..admin_context import AdminContext
from ..answers import Success
from ..destinations import origin, permit
from ..endpoint import endpoint
from ..models.sync import sync_own_server
from ..renaming import PrefixRenaming
from ..requests import read_json, strip
from .bodies import NodeBody, NodeCandidateBody
from .changes import api_type_of, base_url_of, change, is_free, new_node, type_of, wire_of
from .views import ChangedNode, Nodes, NodeShape, NodeValidity, OneNode, node_row

PATH = "/api/provider-nodes"


def routes(admin: AdminContext) -> list[Guarded]:
    one = PATH + "/{id}"
    return [
        endpoint(admin, "GET", PATH, list_all, "list provider nodes", answer=Nodes),
        endpoint(
            admin,
            "POST",
            PATH,
            create,
            "create the provider node",
            body=NodeBody,
            answer=OneNode,
            status=201,
            example={"name": "Here", "prefix": "here", "baseUrl": "http://127.0.0.1:8080/v1"},
        ),
        endpoint(
            admin,
            "POST",
            f"{PATH}/validate",
            validate_node,
            "validate the provider node",
            body=NodeCandidateBody,
            answer=NodeValidity,
            example={"baseUrl": "http://127.0.0.1:8080/v1", "apiKey": "sk-..."},
        ),
        endpoint(admin, "GET", one, show, "read the provider node", answer=OneNode),
        endpoint(
            admin,
            "PUT",
            one,
            update,
            "update the provider node",
            body=NodeBody,
            answer=ChangedNode,
            example={"name": "Over there"},
        ),
        endpoint(admin, "DELETE", one, delete, "delete the provider node", answer=Success),
    ]


async def list_all(admin: AdminContext, request: Request) -> Response:
    return json_answer({"nodes": [node_row(node) for node in await admin.stores.nodes.list()]})


async def create(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, NodeBody, ignored=NodeShape.__struct_encode_fields__)
    if strip(body.base_url):
        check_operator(admin, request)
    new = new_node(body, admin.snapshot.registry.formats)
    await permit(admin.core.network, new.base_url or "")
    async with admin.writing():
        await _claim(admin, new.prefix, None)
        await admin.audit_change(request, "node.create", new.prefix, None, new)
        node = await admin.own_stores.nodes.create(new)
    await sync_own_server(admin, node.id)
    return json_answer({"node": node_row(node)}, 201)


def check_operator(admin: AdminContext, request: Request) -> None:
    """Raises Forbidden for an API key, which may not choose where calls go."""
    if not admin.caller(request).is_operator:
        raise Forbidden("An API key may not set a node's address")


async def _claim(admin: AdminContext, prefix: str, own: str | None) -> None:
    """Raises PrefixTaken for a prefix that is in use."""
    nodes = await admin.stores.nodes.list()
    if not is_free(prefix, own, admin.snapshot.registry.names, nodes):
        raise PrefixTaken


async def show(admin: AdminContext, request: Request) -> Response:
    return json_answer({"node": node_row(await node_of(admin, request.path_params["id"]))})


async def update(admin: AdminContext, request: Request) -> Response:
    """Change a node; where its origin changes, its accounts' credentials are cleared first."""
    identity = request.path_params["id"]
    node = await node_of(admin, identity)
    body = await read_json(request, NodeBody, ignored=node_row(node))
    changes = change(node, body, admin.snapshot.registry.formats)
    if isinstance(changes.base_url, str):
        if changes.base_url != node.base_url:
            check_operator(admin, request)
        await permit(admin.core.network, changes.base_url)
    async with admin.writing():
        before = await node_of(admin, identity)
        # Built again: members that the body leaves out may have changed meanwhile.
        changes = change(before, body, admin.snapshot.registry.formats)
        await _check_prefix(admin, before, changes)
        await admin.audit_change(request, "node.update", identity, before, changes)
        await _release(admin, before, changes)
        renaming = _renaming(admin, before, changes)
        node, rewritten = await admin.own_stores.nodes.update(identity, changes, renaming)
    if node.base_url != before.base_url:
        await sync_own_server(admin, node.id)
    row = {"node": node_row(node)}
    return json_answer({**row, "rewritten": rewritten} if rewritten else row)


def _renaming(admin: AdminContext, before: Node, changes: NodeChange) -> PrefixRenaming | None:
    if not isinstance(changes.prefix, str) or changes.prefix == before.prefix:
        return None
    listed = {row.id for row in admin.snapshot.models.get(before.id, ())}
    return PrefixRenaming(before=before.prefix, after=changes.prefix, node=before.id, listed=listed)


async def _check_prefix(admin: AdminContext, before: Node, changes: NodeChange) -> None:
    """Raises Conflict for a prefix that is in use or that registered models depend on."""
    if not isinstance(changes.prefix, str) or changes.prefix == before.prefix:
        return
    await _claim(admin, changes.prefix, before.id)
    if before.type == custom.DECISION and await admin.stores.kv.get(CUSTOM_MODELS, before.id):
        raise Conflict("The prefix cannot be changed while models are registered for this node")


async def _release(admin: AdminContext, before: Node, changes: NodeChange) -> None:
    """Clear the credentials of a node's accounts if they would go to another origin.

    This comes before the change itself: should the gateway stop in between,
    the keys are gone rather than at the wrong place.
    """
    if not isinstance(changes.base_url, str):
        return
    if origin(changes.base_url) == origin(before.base_url or ""):
        return
    accounts = await admin.stores.connections.list(before.id)
    broken = next((each for each in accounts if each.broken), None)
    if broken is not None:
        raise SealBroken("connections", broken.id)
    now = iso(admin.core.clock())
    for connection in accounts:
        if connection.secrets:
            cleared = ConnectionChange(data=clear_credential(connection, {}, now))
            await admin.stores.connections.update(connection.id, cleared)


async def delete(admin: AdminContext, request: Request) -> Response:
    """Delete a node and everything that depends on it."""
    identity = request.path_params["id"]
    async with admin.writing():
        before = await node_of(admin, identity)
        accounts = await admin.stores.connections.list(identity)
        await admin.audit_change(request, "node.delete", identity, before, None)
        await admin.own_stores.nodes.delete(identity)
        for scope in (DISABLED_MODELS, ENABLED_MODELS):
            await admin.stores.kv.delete(scope, identity)
    admin.core.cooldowns.clear([each.id for each in accounts], EVERY_MODEL)
    return json_answer(Success())


async def node_of(admin: AdminContext, identity: str) -> Node:
    """Return a stored node. Raises NotFound."""
    node = await admin.stores.nodes.get(identity)
    if node is None:
        raise NotFound("Provider node not found")
    return node


LIMIT = 10.0
"""Seconds."""
HERE = ("localhost", "127.0.0.1", "::1")


async def validate_node(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, NodeCandidateBody)
    check_operator(admin, request)
    node = _candidate(admin, body)
    await permit(admin.core.network, node.base_url or "")
    spec = node_spec(node, admin.snapshot.registry.formats)
    wire = None if spec is None else admin.wire(spec)
    owner = Owner(id=node.id, spec=spec, wire=wire, node=node)
    account = build_candidate(admin, node.id, strip(body.api_key), {"baseUrl": node.base_url})
    model = strip(body.model_id) or None
    path = request.scope["path"]
    checked = await check_account(admin, account, owner, model, path, LIMIT, trusting=True)
    finding, proof = checked.finding, checked.proof
    dimensions = None if proof is None else proof.dimensions
    return json_answer(
        NodeValidity(
            valid=finding.valid,
            error=finding.error,
            method=UNSET if proof is None else proof.method,
            dimensions=UNSET if dimensions is None else dimensions,
        )
    )


def _candidate(admin: AdminContext, body: NodeCandidateBody) -> Node:
    """Build the node that a body describes. Raises BadRequest."""
    formats = admin.snapshot.registry.formats
    if not strip(body.base_url):
        raise BadRequest("Base URL and API key required")
    type_ = type_of(strip(body.type), formats)
    api_type = api_type_of(type_, body.api_type)
    wire = wire_of(type_, api_type, formats)
    if not strip(body.api_key) and needs_key(type_, wire):
        raise BadRequest("Base URL and API key required")
    url = base_url_of(type_, strip(body.base_url), wire)
    return Node(
        id="candidate",
        type=type_,
        name="candidate",
        prefix="candidate",
        api_type=api_type,
        base_url=url,
        created_at="",
        updated_at="",
    )


def needs_key(type_: str, wire: WireFormat | None) -> bool:
    """Whether a test needs a key; endpoints that usually run on this machine do not."""
    if wire is None:
        return type_ == custom.EMBEDDING
    return urlsplit(wire.base_url or "").hostname not in HERE
