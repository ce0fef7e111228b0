"""The bodies and answers of logins by OAuth (A.9, P.7)."""

from typing import Any

from msgspec import Struct


class AuthorizeQuery(Struct, frozen=True):
    redirect_uri: str = ""
    """Where the vendor sends the browser back to: the dashboard's own page for it, or
    ``http://localhost:8080/callback``, from where the code is taken by hand."""


class LoginMeta(Struct, frozen=True, kw_only=True, rename="camel"):
    """What becomes of a login: a new account of this name and data, or new tokens of one."""

    name: str = ""
    connection_id: str | None = None
    provider_specific_data: dict[str, Any] | None = None


class ExchangeBody(Struct, frozen=True, kw_only=True, rename="camel"):
    code: str
    state: str
    redirect_uri: str | None = None
    code_verifier: str | None = None
    meta: LoginMeta | None = None


class PollBody(Struct, frozen=True, kw_only=True, rename="camel"):
    device_code: str
    code_verifier: str | None = None
    extra_data: LoginMeta | None = None


class CancelBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """The login that is given up, by what it began with."""

    state: str | None = None
    device_code: str | None = None


class RevokeBody(Struct, frozen=True, kw_only=True, rename="camel"):
    connection_id: str


class AuthorizeAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    auth_url: str
    """Where the browser is to be sent."""
    state: str
    code_verifier: str
    redirect_uri: str


class DeviceAnswer(Struct, frozen=True, kw_only=True, rename={"code_verifier": "codeVerifier"}):
    """The vendor's own members, but for the device code, which stays here."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in: float
    """Seconds."""
    interval: float
    """Seconds between two polls."""
    code_verifier: str = ""
    """Empty: PKCE is no part of this flow."""


class LoginAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    success: bool
    connection: dict[str, Any] | None = None
    pending: bool | None = None
    error: str | None = None
    error_description: str | None = None


class RevokeAnswer(Struct, frozen=True, kw_only=True):
    success: bool
    revoked: bool
    """Whether the vendor was told; some have no way to be."""
    connection: dict[str, Any]
