"""Signing in at an OpenID provider, without I/O: what to send and how to read the answers.

```text
start     discovery ──▶ the browser goes to the provider with state, nonce and a PKCE challenge
callback  code + verifier ──▶ token endpoint ──▶ ID token, checked against the provider's keys
```
"""

import hmac
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import UpstreamError

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

MODES = ("oidc", "both")
"""Values of authMode with which it is offered."""
DISCOVERY = "/.well-known/openid-configuration"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
KEY_TYPES = ("RSA", "EC")
SCOPES = "openid profile email"
LEEWAY = 60
"""Seconds that the provider's clock may differ."""
VERIFIER_BYTES = 32
NONCE_BYTES = 16
_NAMES = ("preferred_username", "email", "name", "given_name", "sub")


class OidcFailed(UpstreamError):
    """The provider refused, or what it said cannot be believed."""

    code = "oidc_failed"


class OidcClient(Struct, frozen=True, kw_only=True):
    """What the gateway is to its provider."""

    issuer: str
    id: str
    secret: str
    scopes: str = SCOPES

    def __repr__(self) -> str:
        return f"Client(issuer={self.issuer!r}, id={self.id!r})"


class Provider(Struct, frozen=True, kw_only=True):
    """What a provider says of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class Journey(Struct, frozen=True, kw_only=True):
    """One browser on its way to the provider and back."""

    provider: Provider
    client_id: str
    redirect_uri: str
    nonce: str
    verifier: str
    return_to: str

    def __repr__(self) -> str:
        return f"Journey(provider={self.provider.issuer!r})"


class Person(Struct, frozen=True):
    """Who the provider says has signed in."""

    name: str
    email: str | None


def client_of(settings: Settings) -> OidcClient | None:
    """The stored client, once nothing of it is missing; whatever authMode says."""
    client = OidcClient(
        issuer=settings.oidc_issuer_url.strip(),
        id=settings.oidc_client_id.strip(),
        secret=settings.oidc_client_secret,
        scopes=settings.oidc_scopes.strip() or SCOPES,
    )
    return client if client.issuer and client.id and client.secret else None


def active_client(settings: Settings) -> OidcClient | None:
    """The client that people may sign in with."""
    return client_of(settings) if settings.auth_mode in MODES else None


def discovery_url(issuer: str) -> str:
    return issuer.rstrip("/") + DISCOVERY


def read_provider(body: bytes, issuer: str) -> Provider:
    """The discovery document of an issuer. Raises OidcFailed."""
    try:
        provider = msgspec.json.decode(body, type=Provider)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise OidcFailed("The issuer's discovery document cannot be read") from None
    if provider.issuer.rstrip("/") != issuer.rstrip("/"):
        raise OidcFailed("The issuer's discovery document is about another issuer")
    places = (provider.authorization_endpoint, provider.token_endpoint, provider.jwks_uri)
    if not all(place.startswith(("https://", "http://")) for place in places):
        raise OidcFailed("The issuer's discovery document names no usable addresses")
    return provider


def begin(provider: Provider, client: OidcClient, redirect_uri: str, return_to: str) -> Journey:
    """Prepare a journey, with fresh randomness."""
    return Journey(
        provider=provider,
        client_id=client.id,
        redirect_uri=redirect_uri,
        nonce=secrets.token_urlsafe(NONCE_BYTES),
        verifier=secrets.token_urlsafe(VERIFIER_BYTES),
        return_to=return_to,
    )


def is_of(journey: Journey, client: OidcClient) -> bool:
    """Whether a journey leads to the provider that a client's secret is for."""
    issuer = journey.provider.issuer.rstrip("/")
    return journey.client_id == client.id and issuer == client.issuer.rstrip("/")


def authorization_url(journey: Journey, scopes: str, state: str) -> str:
    """Where the browser is sent."""
    # Most gateways never sign anybody in this way, and the library takes long to load.
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    return str(
        prepare_grant_uri(
            journey.provider.authorization_endpoint,
            client_id=journey.client_id,
            response_type="code",
            redirect_uri=journey.redirect_uri,
            scope=scopes,
            state=state,
            nonce=journey.nonce,
            code_challenge=create_s256_code_challenge(journey.verifier),
            code_challenge_method="S256",
        )
    )


def token_form(client: OidcClient, code: str, redirect_uri: str, verifier: str) -> bytes:
    """The body that turns a code into tokens."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "client_id": client.id,
        "client_secret": client.secret,
        "code_verifier": verifier,
    }
    return urlencode(form).encode()


def read_error(body: bytes) -> str:
    """The provider's own code for what went wrong, or nothing."""
    try:
        error = msgspec.json.decode(body)["error"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        return ""
    return error if isinstance(error, str) else ""


def read_person(tokens: bytes, keys: bytes, journey: Journey, now: float) -> Person:
    """Who a token answer is about, when everything about it is right. Raises OidcFailed.

    ``keys`` is the provider's key set, ``now`` Unix seconds.
    """
    try:
        token = msgspec.json.decode(tokens)["id_token"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        raise OidcFailed("The provider's answer holds no ID token") from None
    if not isinstance(token, str):
        raise OidcFailed("The provider's answer holds no ID token")
    claims = _claims(token, _key_set(keys), journey, now)
    # OpenID Connect Core 1.0, 3.1.3.7: a token for several audiences names its party.
    audience, party = claims["aud"], claims.get("azp")
    is_shared = isinstance(audience, list) and len(audience) > 1
    if (is_shared or party is not None) and party != journey.client_id:
        raise OidcFailed("The provider's ID token is for somebody else")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), journey.nonce.encode()):
        raise OidcFailed("The provider's answer belongs to another sign-in")
    email = claims.get("email")
    names = (claims.get(name) for name in _NAMES)
    name = next((name for name in names if isinstance(name, str) and name), "")
    return Person(name, email if isinstance(email, str) else None)


def _claims(token: str, keys: "KeySet", journey: Journey, now: float) -> Mapping[str, Any]:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jws import JWSRegistry

    rules = jwt.JWTClaimsRegistry(
        now=int(now),
        leeway=LEEWAY,
        iss={"essential": True, "value": journey.provider.issuer},
        aud={"essential": True, "value": journey.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    lenient = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        decoded = jwt.decode(token, keys, algorithms=ALGORITHMS, registry=lenient)
        rules.validate(decoded.claims)
    except (JoseError, ValueError, RecursionError) as error:
        raise OidcFailed("The provider's ID token cannot be trusted") from error
    # RFC 7515, section 4.1.11: an extension that must be understood is not understood here.
    if "crit" in decoded.header:
        raise OidcFailed("The provider's ID token cannot be trusted")
    return decoded.claims


def _key_set(body: bytes) -> "KeySet":
    """The keys for checking signatures; providers list others beside them."""
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry, KeySet

    keys = []
    try:
        for row in msgspec.json.decode(body)["keys"]:
            if not isinstance(row, dict) or row.get("kty") not in KEY_TYPES:
                continue
            if row.get("use", "sig") == "sig":
                with suppress(JoseError, ValueError):
                    keys.append(JWKRegistry.import_key(row))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        raise OidcFailed("The provider's keys cannot be read") from None
    if not keys:
        raise OidcFailed("The provider has no key that is of use here")
    return KeySet(keys)
