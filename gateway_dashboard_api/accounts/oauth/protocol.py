"""OAuth 2 without I/O: what is sent to a vendor, and how its answers are read.

Authorization code with PKCE: RFC 6749 and RFC 7636. Device code: RFC 8628. Revocation: RFC 7009.
The third way, ``key``, is OpenRouter's: https://openrouter.ai/docs/use-cases/oauth-pkce
"""

import base64
import math
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct, UnsetType

from gateway_core.contracts.errors import UpstreamError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.contracts.provider import OAuth
from gateway_core.upstream.redaction import redact

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
HINTS = {"refreshToken": "refresh_token", "accessToken": "access_token"}
"""What kind of token a member of an account is, in the words of RFC 7009."""
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
VERIFIER_BYTES = 32
LONGEST_TOKEN = 16 * 1024
LONGEST_LIFE = 10 * 366 * 86_400.0
LONGEST_DEVICE_LOGIN = 1800.0
LONGEST_INTERVAL = 60.0
USUAL_INTERVAL = 5.0
"""RFC 8628, section 3.2. Seconds, all."""
_CODE = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}")
"""RFC 6749, section 5.2: of which characters an error's code is made."""


class LoginRefused(UpstreamError):
    """The vendor said no; ``code`` is its own word, such as ``invalid_grant``."""

    def __init__(self, message: str, code: str, description: str = "") -> None:
        super().__init__(message, status=400, code=code)
        self.description = description


class Grant(Struct, frozen=True, kw_only=True):
    """What a vendor gave."""

    secret: str
    """An access token, or a key that does not expire."""
    is_key: bool = False
    refresh_token: str | None = None
    expires_in: float | None = None
    """Seconds; ``None`` where the vendor does not say."""
    scope: str | None = None
    email: str | None = None

    def __repr__(self) -> str:
        return f"Grant(is_key={self.is_key})"


class DeviceCode(Struct, frozen=True, kw_only=True):
    """What a person types in, and where. Times are seconds."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None = None
    expires_in: float
    interval: float

    def __repr__(self) -> str:
        return "DeviceCode()"


class _Answer(Struct, frozen=True, kw_only=True):
    access_token: str | None = None
    key: str | None = None
    token_type: str | None = None
    refresh_token: str | None = None
    expires_in: float | None = None
    scope: str | None = None
    id_token: str | None = None
    error: str | dict[str, Any] | None = None
    error_description: str | None = None


class _DeviceAnswer(Struct, frozen=True, kw_only=True):
    device_code: str
    user_code: str
    verification_uri: str | UnsetType = msgspec.UNSET
    verification_url: str = ""
    """As Google called it before the RFC."""
    verification_uri_complete: str | None = None
    expires_in: float
    interval: float | None = None


def new_verifier() -> str:
    """A PKCE verifier with 256 random bits."""
    return secrets.token_urlsafe(VERIFIER_BYTES)


def authorization_url(login: OAuth, redirect_uri: str, state: str, verifier: str) -> str:
    """Where the browser is sent."""
    # Most gateways have no logins, and the library takes long to load.
    from authlib.common.urls import add_params_to_uri
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    proof = {
        "code_challenge": create_s256_code_challenge(verifier),
        "code_challenge_method": "S256",
    }
    if login.flow == "key":
        # This vendor hands no state back, so it stands in the address that is come back to.
        back = add_params_to_uri(redirect_uri, [("state", state)])
        members = {"callback_url": back, **proof, **login.parameters}
        return str(add_params_to_uri(login.authorize_url, list(members.items())))
    return str(
        prepare_grant_uri(
            login.authorize_url,
            client_id=login.client_id,
            response_type="code",
            redirect_uri=redirect_uri,
            scope=" ".join(login.scopes) or None,
            state=state,
            **{**login.parameters, **proof},
        )
    )


def exchange_request(login: OAuth, code: str, redirect_uri: str, verifier: str) -> UpstreamRequest:
    """The request that turns a code into a grant."""
    if login.flow == "key":
        document = {"code": code, "code_verifier": verifier, "code_challenge_method": "S256"}
        headers = {"content-type": JSON, "accept": JSON}
        body = msgspec.json.encode(document)
        return _request(login.token_url, headers, body)
    return _form(
        login,
        login.token_url,
        grant_type="authorization_code",
        code=code,
        redirect_uri=redirect_uri,
        code_verifier=verifier,
    )


def refresh_request(login: OAuth, refresh_token: str) -> UpstreamRequest:
    return _form(login, login.token_url, grant_type="refresh_token", refresh_token=refresh_token)


def device_request(login: OAuth, url: str) -> UpstreamRequest:
    return _form(login, url, scope=" ".join(login.scopes))


def poll_request(login: OAuth, device_code: str) -> UpstreamRequest:
    return _form(login, login.token_url, grant_type=DEVICE_GRANT, device_code=device_code)


def revocation_request(login: OAuth, url: str, token: str, hint: str) -> UpstreamRequest:
    return _form(login, url, token=token, token_type_hint=hint)


def _form(login: OAuth, url: str, **members: str) -> UpstreamRequest:
    from authlib.oauth2.auth import ClientAuth

    way = f"client_secret_{login.client_auth}" if login.client_secret else "none"
    client = ClientAuth(login.client_id, login.client_secret, way)
    headers = {"content-type": FORM, "accept": JSON}
    body = urlencode({name: text for name, text in members.items() if text})
    url, headers, body = client.prepare("POST", url, headers, body)
    return _request(url, {name.lower(): text for name, text in headers.items()}, body.encode())


def _request(url: str, headers: Mapping[str, str], body: bytes) -> UpstreamRequest:
    # Once: a code and a refresh token that rotates are each good for one request.
    return UpstreamRequest(url=url, headers=headers, body=body, once=True, whole=True)


def read_grant(status: int, body: bytes, login: OAuth, shown: Iterable[str] = ()) -> Grant:
    """What a token endpoint gave. Raises LoginRefused, UpstreamError.

    ``shown`` are the secrets that were sent there, which its words may repeat.
    """
    answer = _read(status, body, _Answer)
    if answer.error or not 200 <= status < 300:
        raise _refusal(status, answer, shown)
    is_key = login.flow == "key"
    secret = answer.key if is_key else answer.access_token
    if not _is_token(secret) or (answer.token_type or "bearer").lower() != "bearer":
        raise UpstreamError("The vendor's token endpoint gave no token that can be used")
    if answer.refresh_token is not None and not _is_token(answer.refresh_token):
        raise UpstreamError("The vendor's token endpoint gave no token that can be used")
    return Grant(
        secret=secret or "",
        is_key=is_key,
        refresh_token=answer.refresh_token,
        expires_in=_seconds(answer.expires_in, LONGEST_LIFE),
        scope=answer.scope and redact(answer.scope),
        email=_email(answer.id_token),
    )


def read_device_code(status: int, body: bytes, shown: Iterable[str] = ()) -> DeviceCode:
    """What a person is to be shown. Raises LoginRefused, UpstreamError."""
    if not 200 <= status < 300:
        raise _refusal(status, _read(status, body, _Answer), shown)
    answer = _read(status, body, _DeviceAnswer)
    where = answer.verification_uri or answer.verification_url
    whole = answer.verification_uri_complete
    texts = (answer.device_code, answer.user_code, where, whole or "x")
    # Both are shown as links.
    are_links = all(each.startswith(("https://", "http://")) for each in (where, whole or where))
    if not all(_is_token(each) for each in texts) or not are_links:
        raise UpstreamError("The vendor's answer to the login cannot be used")
    return DeviceCode(
        device_code=answer.device_code,
        user_code=answer.user_code,
        verification_uri=where,
        verification_uri_complete=whole,
        expires_in=_seconds(answer.expires_in, LONGEST_DEVICE_LOGIN) or LONGEST_DEVICE_LOGIN,
        interval=_seconds(answer.interval, LONGEST_INTERVAL) or USUAL_INTERVAL,
    )


def check_revoked(status: int, body: bytes, shown: Iterable[str] = ()) -> None:
    """Raises LoginRefused, UpstreamError unless a token is of no use any more."""
    # RFC 7009, section 2.2: a token that is not known is answered with 200 too.
    if not 200 <= status < 300:
        raise _refusal(status, _read(status, body, _Answer), shown)


def _read(status: int, body: bytes, kind: Any) -> Any:
    try:
        # Not strict: some vendors write seconds as text.
        return msgspec.json.decode(body, type=kind, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        # Never the vendor's own status: a 401 would look like one of this gateway's.
        raise UpstreamError(f"The vendor's login answered {status}, not as agreed") from None


def _refusal(status: int, answer: _Answer, shown: Iterable[str]) -> UpstreamError:
    error = answer.error if isinstance(answer.error, str) else ""
    code = error if _CODE.fullmatch(error) else ""
    if not code or status >= 500 or status == 429:
        return UpstreamError(f"The vendor's login answered {status}, not as agreed")
    description = redact(answer.error_description or "", shown)
    said = f"{code}: {description}" if description else code
    return LoginRefused(f"The vendor refused the login: {said}", code, description)


def _is_token(text: str | None) -> bool:
    """Whether a text can stand in a header."""
    return (
        text is not None
        and 0 < len(text) <= LONGEST_TOKEN
        and text.isascii()
        and text.isprintable()
        and " " not in text
    )


def _seconds(value: float | None, most: float) -> float | None:
    if value is None or not math.isfinite(value) or value <= 0:
        return None
    return min(value, most)


def _email(id_token: str | None) -> str | None:
    """Whom an ID token is about. It came from the token endpoint itself, so its signature need
    not be checked (OpenID Connect Core 1.0, section 3.1.3.7), and it is used as a label only."""
    parts = (id_token or "").split(".")
    if len(parts) != 3 or len(parts[1]) > LONGEST_TOKEN:
        return None
    try:
        claims = msgspec.json.decode(
            base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        )
        email = claims.get("email") or claims.get("preferred_username")
    except (ValueError, AttributeError, RecursionError, msgspec.DecodeError):
        return None
    is_label = isinstance(email, str) and 0 < len(email) <= 200 and email.isprintable()
    return email if is_label else None
