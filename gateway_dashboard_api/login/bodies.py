"""The bodies and queries of requests to sign in."""

from msgspec import Struct


class PasswordBody(Struct, frozen=True):
    password: str


class ChangeBody(Struct, frozen=True, rename="camel"):
    """``proof`` is what the login gave to a caller on this machine."""

    proof: str
    new_password: str


class CodeBody(Struct, frozen=True):
    """Six digits of the app, or a backup code."""

    code: str


class EnableBody(Struct, frozen=True, kw_only=True):
    """``secret`` is the one that setup gave, ``code`` the app's first."""

    password: str
    code: str
    secret: str = ""


class DisableBody(Struct, frozen=True, kw_only=True):
    password: str
    code: str


HOME = "/dashboard"


class StartQuery(Struct, frozen=True, rename="camel"):
    """``returnTo`` is a path of the dashboard."""

    return_to: str = HOME


class CallbackQuery(Struct, frozen=True):
    """What the provider sends back."""

    code: str = ""
    state: str = ""
    error: str = ""


class ProbeBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """Without a secret the stored one is tested, if it belongs to the same client."""

    issuer_url: str
    client_id: str
    client_secret: str = ""
    scopes: str = ""
