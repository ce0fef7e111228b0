"""Where a service's request goes, and what it shows there."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gateway_core import BodyParts, Credential, Target, UpstreamRequest, credential_header

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
