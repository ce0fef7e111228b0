"""Trying out an endpoint that is not saved as a node yet (A.2, P.6)."""

from urllib.parse import urlsplit

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.contracts.wire import WireFormat
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.snapshot_loader import node_spec
from gateway_core.storage.stores.nodes import Node

from ..answers import NodeValidity
from ..bodies import NodeCandidateBody, said
from ..desk import AdminContext
from ..destinations import permit
from ..endpoint import endpoint
from ..node_changes import api_type_of, base_url_of, type_of, wire_of
from ..owners import Owner
from ..probes import custom
from ..probes.checks import Proof
from ..probes.findings import Finding
from ..probes.subjects import candidate, check_account
from ..requests import read
from .nodes import PATH, check_operator

LIMIT = 10.0
"""Seconds."""
HERE = ("localhost", "127.0.0.1", "::1")


def routes(admin: AdminContext) -> list[Guarded]:
    purpose = "validate the provider node"
    return [
        endpoint(
            admin,
            "POST",
            f"{PATH}/validate",
            validate,
            purpose,
            body=NodeCandidateBody,
            answer=NodeValidity,
            example={"baseUrl": "http://127.0.0.1:8080/v1", "apiKey": "sk-..."},
        )
    ]


async def validate(admin: AdminContext, request: Request) -> Response:
    body = await read(request, NodeCandidateBody)
    check_operator(admin, request)
    node = _node(admin, body)
    await permit(admin.core.network, node.base_url or "")
    spec = node_spec(node, admin.tables.registry.formats)
    wire = None if spec is None else admin.wire(spec)
    owner = Owner(id=node.id, spec=spec, wire=wire, node=node)
    account = candidate(admin, node.id, said(body.api_key), {"baseUrl": node.base_url})
    model = said(body.model_id) or None
    path = request.scope["path"]
    checked = await check_account(admin, account, owner, model, path, LIMIT, trusting=True)
    found, proof = checked.finding, checked.proof
    return json_answer(_told(found, proof))


def _told(found: Finding, proof: Proof | None) -> NodeValidity:
    dimensions = None if proof is None else proof.dimensions
    return NodeValidity(
        valid=found.valid,
        error=found.error,
        method=UNSET if proof is None else proof.method,
        dimensions=UNSET if dimensions is None else dimensions,
    )


def _node(admin: AdminContext, body: NodeCandidateBody) -> Node:
    """The node that a body describes. Raises BadRequest."""
    formats = admin.tables.registry.formats
    if not said(body.base_url):
        raise BadRequest("Base URL and API key required")
    type_ = type_of(said(body.type), formats)
    api_type = api_type_of(type_, body.api_type)
    wire = wire_of(type_, api_type, formats)
    if not said(body.api_key) and needs_key(type_, wire):
        raise BadRequest("Base URL and API key required")
    url = base_url_of(type_, said(body.base_url), wire)
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
    """Whether an endpoint is not tried without a key; one that is usually on this machine is."""
    if wire is None:
        return type_ == custom.EMBEDDING
    return urlsplit(wire.base_url or "").hostname not in HERE
