"""Who may use a realtime socket. The handshake comes first, so that a script in a browser, which
sees no status of it, learns from an event why it was refused.

A key is looked for where every client route looks, and then in the subprotocols, because a browser
can set no header: ``openai-insecure-api-key.<key>``.
"""

import logging
from urllib.parse import quote

from gateway_core.contracts.errors import INVALID, Forbidden, Unauthorized
from gateway_core.identity.access import Access, permit
from gateway_core.identity.caller import Caller
from gateway_core.identity.credentials import check_key, is_same_origin, own_origin
from gateway_core.identity.peers import PEER, host_of_url, is_loopback
from gateway_core.pipeline.context import Collaborators

from .events import error_event
from .socket import ClientSocket

KEY_SUBPROTOCOLS = ("compat-insecure-api-key.", "openai-insecure-api-key.")
"""What the subprotocol that holds a key begins with. It is never echoed."""
SUBPROTOCOLS = ("realtime", "openai-beta.realtime-v1")
"""Those that are."""
REFUSED, PROBE_FAILED = 4001, 1011
"""Codes with which the socket is closed."""

log = logging.getLogger(__name__)


async def admit(core: Collaborators, socket: ClientSocket) -> Caller | None:
    """Accept a socket and check its caller; ``None`` if it is closed again."""
    if is_foreign_page(core, socket):
        await socket.deny(Forbidden("Pages of another origin need a key", code="foreign_origin"))
        return None
    offered = (each for each in socket.subprotocols if each in SUBPROTOCOLS)
    await socket.accept(next(offered, None))
    return await readmit(core, socket)


async def readmit(core: Collaborators, socket: ClientSocket) -> Caller | None:
    """Check the caller of an open socket, whose key may have been paused, changed or deleted."""
    try:
        return identify(core, socket)
    except Unauthorized as refused:
        event = error_event(INVALID, "invalid_api_key", refused.message)
        await socket.send(event)
        await socket.close(REFUSED, refused.message)
    except Exception:
        log.exception("the caller of a socket could not be checked")
        message = "The key could not be checked"
        await socket.send(error_event("server_error", "auth_probe_failed", message))
        await socket.close(PROBE_FAILED, message)
    return None


def identify(core: Collaborators, socket: ClientSocket) -> Caller:
    """Whoever is at the other end now. Raises Unauthorized."""
    caller = caller_of(core, socket)
    permit(Access.INFERENCE, caller)
    check_key(caller, required=core.snapshot.settings.require_api_key)
    return caller


def caller_of(core: Collaborators, socket: ClientSocket) -> Caller:
    """The caller, whether or not it may use a socket."""
    scope = socket.scope
    keys = [
        f"key={quote(offered.removeprefix(prefix))}"
        for offered in socket.subprotocols
        for prefix in KEY_SUBPROTOCOLS
        if offered.startswith(prefix)
    ]
    if keys:
        # As the last parameters of the address they are looked at after everything else.
        parameters = [(scope.get("query_string") or b"").decode("latin-1"), *keys]
        scope = {**scope, "query_string": "&".join(parameters).encode("latin-1")}
    return core.identity.client(scope, socket.headers, scope[PEER])


def is_foreign_page(core: Collaborators, socket: ClientSocket) -> bool:
    """Whether a page of another site opens the socket without a key of its own: it would use what
    the browser has, which is the operator's machine, network and cookies. No browser asks before it
    opens a socket, as it does for requests: WHATWG WebSockets, section 2.2."""
    headers = socket.headers
    origin = headers.get("origin")
    if origin is None or caller_of(core, socket).has_shown:
        return False
    host = host_of_url(origin)
    if host == "localhost" or is_loopback(host):
        return False
    own = own_origin(socket.scope, headers, core.identity.public_origin)
    return not is_same_origin(headers, own)
