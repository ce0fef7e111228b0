"""Where a request to a target goes, and what it shows there."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from ..contracts.exchange import UpstreamRequest
from ..contracts.provider import Call, Credential, Target
from ..contracts.wire import WireFormat

JSON = "application/json"


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
    made = {"content-type": JSON, **wire.headers, **target.provider.headers}
    if call.format == wire.id or wire.dialect == call.format:
        made.update((name, call.headers[name]) for name in wire.forward if name in call.headers)
    made.update(authorization(target, credential, wire))
    return made


def authorization(target: Target, credential: Credential, wire: WireFormat) -> Mapping[str, str]:
    """The header that carries the account's secret; none without a secret."""
    if not credential.secret:
        return {}
    auth = target.provider.auth
    header = auth.header.lower() if auth.header else None
    if auth.scheme == "bearer":
        return {header or "authorization": f"Bearer {credential.secret}"}
    if auth.scheme == "raw":
        return {header or wire.auth_header: credential.secret}
    prefix = auth.prefix if auth.prefix is not None or header else wire.auth_prefix
    secret = f"{prefix} {credential.secret}" if prefix else credential.secret
    return {header or wire.auth_header: secret}


def request(
    call: Call, target: Target, credential: Credential, wire: WireFormat, body: bytes, path: str
) -> UpstreamRequest:
    timeout = target.provider.timeout_ms
    return UpstreamRequest(
        url=url(target, credential, wire, path),
        headers=headers(call, target, credential, wire),
        body=body,
        first_byte_timeout=timeout / 1000 if timeout is not None else None,
    )
