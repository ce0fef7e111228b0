"""Fetching a vendor's list of models."""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from gateway_core.contracts.errors import BadRequest, TransportError, UpstreamError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.contracts.model import Model
from gateway_core.contracts.provider import Credential, ProviderSpec, Target
from gateway_core.contracts.wire import WireFormat
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.send import send
from gateway_core.routing.snapshot import Account
from gateway_core.upstream import endpoints
from gateway_core.upstream.endpoints import vendor_side
from gateway_core.upstream.proxies import proxy_for
from gateway_core.upstream.transport import read_all

from ...destinations import BASE_URL
from .model_list import Listed, read_page

LIMIT = 15.0
"""Seconds for a whole list."""
ANSWER_LIMIT = 16 * 1024 * 1024
MOST_PAGES = 50
USUAL_LIST = "/models"
_OTHER_LISTS = {"/api/chat": "/api/tags"}
"""Chat paths of servers that list their models at another path than usual."""


class Fetched(Struct, frozen=True):
    """A response with its whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300


def list_path(wire: WireFormat) -> str:
    """Return the path, below the base URL, where vendors of a format list their models."""
    return _OTHER_LISTS.get(vendor_side(wire).path("", False), USUAL_LIST)


def can_list(spec: ProviderSpec, wire: WireFormat, credential: Credential) -> bool:
    try:
        return list_request(spec, wire, credential) is not None
    except (Exception, SystemExit, KeyboardInterrupt):
        return False  # A plugin's broken code must not prevent listing its accounts.


def list_request(
    spec: ProviderSpec, wire: WireFormat, credential: Credential
) -> UpstreamRequest | None:
    """Build the request for a list; ``None`` for a vendor that has none."""
    if spec.executor is not None and spec.models_url is None:
        return None
    url = _list_url(spec, wire, credential)
    if url is None:
        return None
    target = Target(spec, Model(""))
    headers = {
        "accept": endpoints.JSON,
        **wire.headers,
        **spec.headers,
        **endpoints.authorization(target, credential, wire),
    }
    return UpstreamRequest(method="GET", url=url, headers=headers)


async def probe(
    core: Collaborators, account: Account, spec: ProviderSpec, wire: WireFormat
) -> Fetched:
    """Read every path that only an accepted key may read, at once; gives a refusal, if there is
    one. Raises TransportError, and BadRequest for an account with a proxy."""
    if account.proxy is not None:
        raise BadRequest(f"A key of {spec.shown} cannot be checked through a proxy")
    target, credential = Target(spec, Model("")), account.credential
    headers = {"accept": endpoints.JSON, **endpoints.authorization(target, credential, wire)}
    urls = (endpoints.url(target, credential, wire, path) for path in spec.probes)
    requests = [UpstreamRequest(method="GET", url=url, headers=headers) for url in urls]
    found = await asyncio.gather(*(fetch(core, account, each, spec) for each in requests))
    return next((each for each in found if not each.is_good), found[0])


def _list_url(spec: ProviderSpec, wire: WireFormat, credential: Credential) -> str | None:
    base, usual = credential.data.get(BASE_URL), spec.models_url
    if not isinstance(base, str) or not base:
        if usual is None and spec.url_builder is not None:
            return None
        url = usual or (spec.base_url and f"{spec.base_url}{list_path(wire)}")
        return url if url and "{" not in url else None
    # An account with an address of its own never sends its secret to the vendor's usual one.
    base = base.rstrip("/")
    if usual is None or usual.startswith(f"{spec.base_url}/"):
        path = list_path(wire) if usual is None else usual.removeprefix(spec.base_url or "")
        return f"{base}{path}"
    host = urlsplit(base)
    return urlsplit(usual)._replace(scheme=host.scheme, netloc=host.netloc).geturl()


async def fetch(
    core: Collaborators,
    account: Account,
    request: UpstreamRequest,
    spec: ProviderSpec | None = None,
) -> Fetched:
    """Send a request through the account's proxy. Raises TransportError."""
    if spec is None:
        transport = core.network.transport(proxy_for(account.proxy, request.url))
        response = await transport.send(request)
    else:
        response = await send(core, spec, account, request)
    try:
        body = await read_all(response, ANSWER_LIMIT)
        return Fetched(response.status, response.headers, body)
    finally:
        await response.aclose()


async def discover(
    core: Collaborators, spec: ProviderSpec, wire: WireFormat, account: Account
) -> tuple[Listed, ...] | None:
    """Fetch the vendor's whole list; ``None`` for a vendor that has none.

    Raises UpstreamError when it refuses, sends something else or takes too long.
    """
    request = page_request = list_request(spec, wire, account.credential)
    if request is None or page_request is None:
        return None
    models: dict[str, Listed] = {}
    separator = "&" if "?" in request.url else "?"
    try:
        async with asyncio.timeout(LIMIT):
            for _ in range(MOST_PAGES):
                fetched = await fetch(core, account, page_request, spec)
                if not fetched.is_good:
                    raise read_refusal(wire, fetched)
                page = read_page(fetched.body)
                new = {model.id: model for model in page.models if model.id not in models}
                models |= new
                # A vendor that ignores the parameter sends the same page again.
                if not page.following or not new:
                    break
                url = f"{request.url}{separator}{urlencode(page.following)}"
                page_request = replace(request, url=url)
    except TimeoutError:
        raise TransportError(f"The provider gave no list in {LIMIT:g} s", status=504) from None
    return tuple(models.values())


def read_refusal(wire: WireFormat, fetched: Fetched) -> UpstreamError:
    """Read a vendor's error by its format."""
    return vendor_side(wire).read_error(fetched.status, fetched.headers, fetched.body)
