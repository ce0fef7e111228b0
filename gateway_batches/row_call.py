"""Runs one row as a request of its batch's owner, and says what is to become of the answer."""

from collections.abc import Mapping

from msgspec.structs import replace

from gateway_core.contracts.errors import UnknownRoute
from gateway_core.contracts.wire import WireFormat
from gateway_core.http.endpoints import Endpoints
from gateway_core.identity.caller import Caller
from gateway_core.identity.peers import UNKNOWN, Peer
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.request_head import EndpointRoute
from gateway_files.store import LOCAL

from .batch import Batch
from .whole_response import WholeResponse, whole_response

USUAL_WAIT = 5.0
"""Seconds to wait after a vendor's 429 that does not say how long."""
GROUP_LIMIT = "group_limit_exceeded"
"""The code of a limit that the key has in common with others."""
SHORT_WAIT = 60.0
"""A limit of the key that ends within so many seconds is waited for."""
REFUSED = (401, 402, 403)
"""Statuses of an account that rests because its credential is refused, which time does not mend."""
OVERLOADED = 529
"""A vendor's word for 429 of its own making (https://docs.anthropic.com/en/api/errors)."""
_PEER = Peer(UNKNOWN, via_proxy=False, is_loopback=False)


class RowCalls:
    """Sends rows of batches through the pipeline."""

    def __init__(self, core: Collaborators) -> None:
        self._core = core
        self.running = 0
        """Rows in the pipeline at this moment."""
        self._formats: Mapping[str, WireFormat] = {}
        self._routes: dict[str, EndpointRoute] = {}
        """Of these formats."""

    async def call(self, batch: Batch, body: bytes, request_id: str) -> WholeResponse:
        """The answer to a row. The key's policy is the one of this moment, as are its limits."""
        core = self._core
        route = self.route(batch.endpoint)
        caller = caller_of(core, batch)
        self.running += 1
        try:
            return await whole_response(core, route, caller, body, batch.headers, request_id)
        finally:
            self.running -= 1

    def route(self, endpoint: str) -> EndpointRoute:
        """An endpoint's route without keep-alives, which would be part of the stored text.

        Raises UnknownRoute where the format of an endpoint is not installed.
        """
        formats = self._core.snapshot.registry.formats
        if formats is not self._formats:
            self._formats, self._routes = formats, {}
        route = self._routes.get(endpoint)
        if route is None:
            found = Endpoints(formats.values()).find(endpoint)
            if found is None:
                raise UnknownRoute(endpoint)
            wire = replace(found[0].wire, keep_alive=None)
            route = self._routes[endpoint] = EndpointRoute(found[0].endpoint, wire)
        return route


def caller_of(core: Collaborators, batch: Batch) -> Caller:
    """The batch's owner as a caller; with a key that is gone, paused or expired one that is
    refused."""
    if batch.owner == LOCAL:
        return Caller(peer=_PEER, is_local=True, is_cli=batch.is_cli)
    key = core.identity.keys.get(batch.owner)
    is_good = key is not None and key.is_good(core.clock())
    return Caller(
        peer=_PEER,
        key=key if is_good else None,
        was_refused=not is_good,
        has_shown=True,
    )


def row_headers(route: EndpointRoute, headers: Mapping[str, str]) -> dict[str, str]:
    """What each row is sent with, out of the headers of the request that creates a batch."""
    kept = {n: headers[n] for n in ("user-agent", *route.wire.forward) if n in headers}
    return {**kept, "content-type": "application/json", "accept": "application/json"}


def wait_of(answer: WholeResponse) -> float | None:
    """Seconds after which a row is to be sent again; ``None`` for an answer that stands.

    A vendor's 429 and accounts that rest are waited for, and so is a limit of the key that ends
    soon. A limit that is used up refuses the row, as it refuses any other request.
    """
    record, status = answer.record, answer.status
    shown = answer.headers.get("retry-after", "")
    wait = float(shown) if shown.isdecimal() else None
    if record.attempts:
        return (wait or USUAL_WAIT) if status in (429, OVERLOADED) else None
    is_key_limit = record.key is not None and record.key.has_limits and not record.is_counted
    is_key_limit = is_key_limit or record.error_code == GROUP_LIMIT
    if wait is None or status in REFUSED or (is_key_limit and wait > SHORT_WAIT):
        return None
    return wait
