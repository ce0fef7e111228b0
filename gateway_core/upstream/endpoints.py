"""Where a request to a target goes, and what it shows there."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from ..config.settings import ModelTimeouts
from ..contracts.errors import BadRequest, GatewayError
from ..contracts.exchange import Lasting, UpstreamRequest
from ..contracts.provider import Call, Credential, Target, credential_header
from ..contracts.wire import VendorSide, WireFormat

JSON = "application/json"
USUAL_TIMEOUTS = ModelTimeouts()
MOST_ENDPOINTS = 4096
"""Endpoints that are remembered."""
_has_dots = re.compile(r"/(?:\.|%2[eE]){1,2}(?:[/?#]|$)").search
"""RFC 3986, section 5.2.4: whoever receives such a path may take it for another one."""


def base_url(target: Target, credential: Credential, wire: WireFormat) -> str:
    """Where this format's paths begin for this account, without a slash at the end.

    An account may have a base URL of its own. It stands for the vendor's usual
    one; a further format that the vendor serves elsewhere keeps its path on
    the account's host.
    """
    spec = target.provider
    usual = spec.base_url or ""
    base = usual if wire.dialect == spec.format else spec.further_formats().get(wire.dialect, usual)
    own = credential.data.get("baseUrl")
    if not isinstance(own, str) or not own:
        return base
    if base == usual:
        return own.rstrip("/")
    host, path = urlsplit(own), urlsplit(base).path
    return f"{host.scheme}://{host.netloc}{path}"


def url(target: Target, credential: Credential, wire: WireFormat, path: str) -> str:
    """The whole address of a call; ``path`` is the format's own."""
    spec = target.provider
    if spec.url_builder is not None:
        return spec.url_builder(target, credential, path)
    if spec.chat_path and wire.id == (target.model.format or spec.format):
        path = spec.chat_path
    return f"{base_url(target, credential, wire)}{path}{spec.url_suffix or ''}"


def headers(call: Call, target: Target, credential: Credential, wire: WireFormat) -> dict[str, str]:
    """Built, not copied: content type, the format's and the vendor's own, the credential.

    Of the client's headers only those go along that the format names, and
    only when the client speaks the vendor's format.
    """
    forwarded = {}
    if call.format == wire.id or wire.dialect == call.format:
        forwarded = {name: call.headers[name] for name in wire.forward if name in call.headers}
    return _headers(forwarded, target, credential, wire)


def _headers(
    forwarded: Mapping[str, str], target: Target, credential: Credential, wire: WireFormat
) -> dict[str, str]:
    own = authorization(target, credential, wire)
    return {"content-type": JSON, **wire.headers, **target.provider.headers, **forwarded, **own}


def authorization(target: Target, credential: Credential, wire: WireFormat) -> Mapping[str, str]:
    """The header that carries the account's secret; none without a secret."""
    return credential_header(
        target.provider.auth, credential, usual=wire.auth_header, prefix=wire.auth_prefix
    )


class UpstreamEndpoint(Struct, frozen=True):
    """Where calls of one model go for one account, and what they show there."""

    target: Target
    credential: Credential
    wire: WireFormat
    url: str
    headers: Mapping[str, str]
    """Without what comes from the client."""
    whole: bool
    """Its answers are not streamed."""
    patience: float | None
    """Seconds until the first byte of an answer."""
    silence: float | None
    """Seconds between two pieces of an answer."""

    def request(self, call: Call, body: bytes) -> UpstreamRequest:
        """The request for one call."""
        shown: Mapping[str, str] = self.headers
        for name in self.wire.forward:
            if name in call.headers:
                shown = headers(call, self.target, self.credential, self.wire)
                break
        return UpstreamRequest(
            url=self.url,
            headers=shown,
            body=body,
            whole=self.whole,
            first_byte_timeout=self.patience,
            silence_timeout=self.silence,
        )


class EndpointCache:
    """Remembers resolved endpoints, except those whose address a plugin's code chooses."""

    def __init__(
        self, formats: Mapping[str, WireFormat], timeouts: Mapping[str, ModelTimeouts] = {}
    ) -> None:
        """``timeouts`` are those that differ, by ``provider/model`` or provider."""
        self._formats, self._timeouts = formats, timeouts
        self._endpoints: dict[tuple[str, str, str, str, bool], UpstreamEndpoint] = {}

    def find(
        self, target: Target, credential: Credential, client: WireFormat, *, stream: bool
    ) -> UpstreamEndpoint:
        """The endpoint for a client's calls, in the format to use with this target."""
        key = (
            target.provider.id,
            target.model.id,
            credential.connection_id,
            client.id,
            stream,
        )
        endpoint = self._endpoints.get(key)
        # A reload of the configuration makes new targets and credentials under the same ids.
        if (
            endpoint is None
            or endpoint.target is not target
            or endpoint.credential is not credential
        ):
            wire = spoken(client, target, self._formats)
            path = vendor_side(wire).path(target.model.id, stream)
            timeouts = timeouts_of(target, self._timeouts) if self._timeouts else USUAL_TIMEOUTS
            endpoint = resolve_endpoint(target, credential, wire, path, timeouts, whole=not stream)
            # A plugin's function may choose another address for each call.
            if target.provider.url_builder is None and target.provider.executor is None:
                if len(self._endpoints) >= MOST_ENDPOINTS:
                    self._endpoints.clear()
                self._endpoints[key] = endpoint
        return endpoint


def spoken(client: WireFormat, target: Target, formats: Mapping[str, WireFormat]) -> WireFormat:
    """The format to use with this target: the client's own when the vendor knows it."""
    usual = formats[target.model.format or target.provider.format]
    if client.vendor is None:
        return usual
    further = target.provider.further_formats()
    if client.id != client.dialect:  # a variant, which a vendor of the dialect need not have
        return client if client.id in further else usual
    return client if client.dialect in (usual.dialect, *further) else usual


def vendor_side(wire: WireFormat) -> VendorSide:
    if wire.vendor is None:
        raise GatewayError(f"format {wire.id} has no vendor side")
    return wire.vendor


def timeouts_of(target: Target, timeouts: Mapping[str, ModelTimeouts]) -> ModelTimeouts:
    """The operator's limits for a model, under any of its provider's names."""
    spec, model = target.provider, target.model.id
    names = [name for name in (spec.id, spec.alias, *spec.aliases) if name]
    for name in (*(f"{name}/{model}" for name in names), *names):
        if name in timeouts:
            return timeouts[name]
    return USUAL_TIMEOUTS


def resolve_endpoint(
    target: Target,
    credential: Credential,
    wire: WireFormat,
    path: str,
    timeouts: ModelTimeouts = USUAL_TIMEOUTS,
    *,
    whole: bool = True,
) -> UpstreamEndpoint:
    """Build an endpoint; ``path`` is the format's own. Raises BadRequest for a model whose name
    would change the path."""
    address = url(target, credential, wire, path)
    if _has_dots(address):
        raise BadRequest("Invalid model format", param="model")
    fixed: Mapping[str, str] = _headers({}, target, credential, wire)
    if target.provider.executor is None:  # An executor is a plugin's, and may change them.
        fixed = Lasting(fixed)
    timeout = timeouts.timeout_ms or target.provider.timeout_ms
    stall = timeouts.stall_timeout_ms
    return UpstreamEndpoint(
        target,
        credential,
        wire,
        address,
        fixed,
        whole,
        None if timeout is None else timeout / 1000,
        None if stall is None else stall / 1000,
    )


def request(
    call: Call, target: Target, credential: Credential, wire: WireFormat, body: bytes, path: str
) -> UpstreamRequest:
    """The request for one call to an endpoint that is not remembered."""
    return resolve_endpoint(target, credential, wire, path).request(call, body)
