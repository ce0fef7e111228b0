"""An answer to a row that is kept whole."""

from collections.abc import Mapping

from msgspec import Struct

from gateway_core.identity.caller import Caller
from gateway_core.metering.request_record import RequestRecord
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.in_process import in_process
from gateway_core.pipeline.request_head import EndpointRoute


class WholeResponse(Struct, frozen=True):
    """A whole answer; a stream's is everything that it has sent."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    record: RequestRecord


async def whole_response(
    core: Collaborators,
    route: EndpointRoute,
    caller: Caller,
    body: bytes,
    headers: Mapping[str, str],
    request_id: str,
) -> WholeResponse:
    """As ``in_process``, for an answer that is kept. Cancelling it is as if its client had left."""
    async with in_process(core, route, caller, body, headers, request_id) as response:
        content = await response.body()
    return WholeResponse(response.status, response.headers, content, response.record)
