"""Where a service's request goes, and what it shows there."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from weakref import ref

import msgspec
from msgspec import Struct

from gateway_core import (
    BodyParts,
    Credential,
    Lasting,
    ProviderSpec,
    Target,
    UpstreamRequest,
    credential_header,
)

JSON = "application/json"
encode = msgspec.json.Encoder().encode


def service_url(
    target: Target, credential: Credential, path: str, base_url: str | None = None
) -> str:
    """The address of a path below the vendor's base URL, or below that of the account.

    ``base_url`` is for a service that the vendor has elsewhere than its chat; an account with a
    base URL of its own has it at the same path of its host.
    """
    spec = target.provider
    if spec.url_builder is not None and base_url is None:
        return spec.url_builder(target, credential, path)
    own = credential.data.get("baseUrl")
    base = base_url or spec.base_url or ""
    if isinstance(own, str) and own:
        base = own.rstrip("/")
        if base_url is not None:
            host = urlsplit(own)
            base = f"{host.scheme}://{host.netloc}{urlsplit(base_url).path}"
    # An operator may have written the whole address of a service into a node.
    whole = base if base.endswith(path) else base + path
    return f"{whole}{spec.url_suffix or ''}"


class Destination(Struct, frozen=True):
    """Where an account's JSON requests for one service go, and what they show there."""

    provider: ProviderSpec
    credential: "ref[Credential]"
    url: str
    headers: Mapping[str, str]
    first_byte_timeout: float | None

    def request(self, body: bytes, *, whole: bool) -> UpstreamRequest:
        """The request for one call."""
        return UpstreamRequest(
            url=self.url,
            headers=self.headers,
            body=body,
            whole=whole,
            first_byte_timeout=self.first_byte_timeout,
        )


class Destinations:
    """Remembers the destinations of one service, except those that a plugin's code may change.

    One goes with its account's credential, so that no secret outlives what it belongs to.
    """

    def __init__(self, path: str, base_url: str | None) -> None:
        self._path, self._base_url = path, base_url
        self._held: dict[str, Destination] = {}

    def find(self, target: Target, credential: Credential) -> Destination:
        """The destination of an account."""
        name, spec = credential.connection_id, target.provider
        held = self._held.get(name)
        # A reload of the configuration makes new values under the same ids.
        if held is not None and held.provider is spec and held.credential() is credential:
            return held
        url = service_url(target, credential, self._path, self._base_url)
        request = vendor_request(target, credential, url, b"{}")
        headers = request.headers
        # An executor may change them, and a function may choose another address for each call.
        is_lasting = spec.executor is None and spec.url_builder is None
        found = Destination(
            spec,
            ref(credential, partial(self._forget, name)),
            url,
            Lasting(headers) if is_lasting else headers,
            request.first_byte_timeout,
        )
        if is_lasting:
            self._held[name] = found
        return found

    def _forget(self, name: str, gone: "ref[Credential]") -> None:
        held = self._held.get(name)
        if held is not None and held.credential is gone:
            del self._held[name]


def vendor_request(
    target: Target,
    credential: Credential,
    url: str,
    body: bytes | BodyParts | Mapping[str, Any] = b"",
    *,
    method: str = "POST",
    media_type: str = JSON,
    headers: Mapping[str, str] = {},
    whole: bool = True,
) -> UpstreamRequest:
    """A request with the account's credential; a mapping is sent as JSON. ``headers`` replace
    the others of their names.

    ``whole`` says that its answer is no stream, and may be long in coming.
    """
    spec = target.provider
    content = encode(body) if isinstance(body, Mapping) else body
    parts = content if isinstance(content, BodyParts) else None
    typed = {"content-type": media_type} if content else {}
    own = credential_header(spec.auth, credential)
    return UpstreamRequest(
        method=method,
        url=url,
        headers={**typed, **spec.headers, **own, **headers},
        body=b"" if isinstance(content, BodyParts) else content,
        parts=parts,
        whole=whole,
        first_byte_timeout=None if spec.timeout_ms is None else spec.timeout_ms / 1000,
    )
