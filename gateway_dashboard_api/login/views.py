"""Response bodies of the login."""

from msgspec import Struct


class Entered(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A right password. With ``mfaRequired`` the second factor is still owed."""

    success: bool | None = None
    must_change_password: bool | None = None
    mfa_required: bool = False


class Status(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the login page shows; ``loginMethod`` is ``Password`` or ``OIDC``."""

    require_login: bool
    auth_mode: str
    mfa_enabled: bool
    oidc_configured: bool
    oidc_login_label: str
    has_password: bool
    using_default_password: bool
    authenticated: bool
    display_name: str | None
    login_method: str | None
    oidc_login: bool
    oidc_name: str | None
    oidc_email: str | None


class Setup(Struct, frozen=True, kw_only=True, rename="camel"):
    """``qrCode`` is an SVG as a data URL."""

    secret: str
    otpauth_uri: str
    qr_code: str


class Enabled(Struct, frozen=True, kw_only=True, rename="camel"):
    """The codes are shown this once."""

    backup_codes: tuple[str, ...]
    success: bool = True


class Verified(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """``backupCodesRemaining`` is there when one was used."""

    success: bool
    backup_codes_remaining: int | None = None


class Probe(Struct, frozen=True, kw_only=True):
    """``valid`` is ``None`` when the provider did not tell."""

    tested: bool
    valid: bool | None
    message: str


class Tested(Struct, frozen=True, kw_only=True, rename="camel"):
    """The issuer was found and described itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    secret_probe: Probe
    success: bool = True


class LoginFlags(Struct, frozen=True, kw_only=True, rename="camel"):
    require_login: bool
    tunnel_dashboard_access: bool
    tunnel_url: str
    tailscale_url: str
