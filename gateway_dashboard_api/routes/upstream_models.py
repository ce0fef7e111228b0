"""What a vendor says it has, asked live with one account (A.1)."""

from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest, GatewayError, TransportError, UpstreamError
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.routing.snapshot import account_of
from gateway_core.upstream.redaction import redact, secrets_of

from ..answers import UpstreamModels
from ..connection_rows import BROKEN
from ..desk import AdminContext
from ..endpoint import endpoint
from ..probes.discovery import discover
from ..probes.model_list import NotAList
from .connections import connection_of


def routes(admin: AdminContext) -> list[Guarded]:
    path = "/api/providers/{id}/models"
    purpose = "fetch the provider's models"
    return [endpoint(admin, "GET", path, list_models, purpose, answer=UpstreamModels)]


async def list_models(admin: AdminContext, request: Request) -> Response:
    connection = await connection_of(admin, request.path_params["id"])
    if connection.broken:
        raise BadRequest(BROKEN)
    spec = admin.spec(connection.provider)
    account = account_of(connection, admin.tables.settings, admin.tables.pools)
    found = None
    if spec is not None:
        try:
            found = await discover(admin.core, spec, admin.wire(spec), account)
        except UpstreamError as error:
            raise _worded(error, secrets_of(account.credential)) from error
    if found is None:
        raise BadRequest(f"Provider {connection.provider} does not support listing its models")
    return json_answer(
        UpstreamModels(provider=connection.provider, connection_id=connection.id, models=found)
    )


def _worded(error: UpstreamError, secrets: tuple[str, ...]) -> GatewayError:
    """The vendor's refusal as ours: its 401 must not look like one of this gateway's."""
    text = redact(error.message, secrets)
    if isinstance(error, TransportError | NotAList):
        return UpstreamError(text, status=error.status, code=error.code)
    return UpstreamError(f"The provider answered {error.status}: {text}")
