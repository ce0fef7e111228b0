"""A real OAuth server on loopback, of authlib's parts: PKCE, device codes, rotation, revocation.

It consents to every browser at once. A refresh token that is shown twice counts as stolen: the
whole login ends, as at vendors that rotate them (RFC 9700, section 4.14.2).
"""

import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from authlib.common.urls import add_params_to_uri
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge, create_s256_code_challenge
from authlib.oauth2.rfc8628 import (
    DEVICE_CODE_GRANT_TYPE,
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    DeviceCredentialDict,
)
from flask import Flask, Response, request
from werkzeug.serving import make_server

INSECURE = "AUTHLIB_INSECURE_TRANSPORT"
CLIENT, SECRET = "gateway-app", "app-canary-secret"
PUBLIC = "gateway-public"
PERSON = "ada"
METHODS = ["client_secret_basic", "client_secret_post", "none"]


class App(ClientMixin):  # type: ignore[misc]  # the library has no types
    """A registered application; one without a secret is public."""

    def __init__(self, id: str, secret: str | None, redirects: list[str]) -> None:
        self.id, self.secret, self.redirects = id, secret, redirects

    def get_client_id(self) -> str:
        return self.id

    def get_default_redirect_uri(self) -> str:
        return self.redirects[0]

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.redirects

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return (method == "none") == (self.secret is None)

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return True


@dataclass(kw_only=True)
class Code(AuthorizationCodeMixin):  # type: ignore[misc]
    client: str
    redirect_uri: str
    scope: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass(kw_only=True, eq=False)
class Token(TokenMixin):  # type: ignore[misc]
    client: App
    access_token: str
    refresh_token: str
    scope: str
    expires_in: int
    made_at: float
    login: int
    """Which login it belongs to; every token of one ends with it."""
    is_ended: bool = False
    is_used: bool = False

    def check_client(self, client: App) -> bool:
        return client.id == self.client.id

    def get_scope(self) -> str:
        return self.scope

    def get_expires_in(self) -> int:
        return self.expires_in

    def is_expired(self) -> bool:
        return False

    def is_revoked(self) -> bool:
        return self.is_ended

    def get_user(self) -> str:
        return PERSON

    def get_client(self) -> App:
        return self.client


class OAuthServer:
    """Its addresses, what it gave, and what it is to do next."""

    def __init__(self) -> None:
        self.apps = {CLIENT: App(CLIENT, SECRET, []), PUBLIC: App(PUBLIC, None, [])}
        self.codes: dict[str, Code] = {}
        self.tokens: list[Token] = []
        self.devices: dict[str, DeviceCredentialDict] = {}
        self.approved: dict[str, bool] = {}
        """What a person said to a user code."""
        self.expires_in = 3600
        self.challenges: dict[str, str] = {}
        self.keys: list[str] = []
        """Plain keys that were exchanged."""
        self.gives_refresh_tokens = True
        self.thefts = 0
        self.calls: list[tuple[str, dict[str, str]]] = []
        """The path and the form of each request that came."""
        self.logins = 0
        self.is_slow_down = False
        self.holding: threading.Event | None = None
        """Refreshes wait for it."""
        self.flask = _flask(self)
        self.url = ""

    def register(self, redirect_uri: str) -> None:
        for app in self.apps.values():
            app.redirects.append(redirect_uri)

    def accepts(self, access_token: str) -> bool:
        """Whether a vendor would serve a call with this token."""
        good = {each.access_token for each in self.tokens if not each.is_ended}
        return access_token in {*good, *self.keys}

    def end(self) -> None:
        """End every login, as a person does in the vendor's settings."""
        for each in self.tokens:
            each.is_ended = True

    def expire(self) -> None:
        """Take no access token any more that was given until now; refresh tokens stay good."""
        for each in self.tokens:
            each.access_token = ""

    def asked(self, path: str, **members: str) -> list[dict[str, str]]:
        """The forms that came to a path with these members."""
        return [
            form for where, form in self.calls if where == path and members.items() <= form.items()
        ]

    def sign_in(self, url: str) -> dict[str, str]:
        """Go where a gateway sends the browser; the query it is sent back with."""
        answer = httpx2.get(url)
        assert answer.status_code == 302, answer.text
        back = urlsplit(str(answer.headers["location"]))
        self.came_back = f"{back.scheme}://{back.netloc}{back.path}"
        return {name: values[0] for name, values in parse_qs(back.query).items()}


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    @property
    def own(self) -> OAuthServer:
        own: OAuthServer = self.server.own
        return own

    def save_authorization_code(self, code: str, request: Any) -> None:
        data = request.payload.data
        self.own.codes[code] = Code(
            client=request.client.id,
            redirect_uri=request.payload.redirect_uri,
            scope=request.payload.scope or "",
            code_challenge=data.get("code_challenge", ""),
            code_challenge_method=data.get("code_challenge_method", ""),
        )

    def query_authorization_code(self, code: str, client: App) -> Code | None:
        found = self.own.codes.get(code)
        return found if found and found.client == client.id else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        self.own.codes = {
            text: each for text, each in self.own.codes.items() if each is not authorization_code
        }

    def authenticate_user(self, authorization_code: Code) -> str:
        return PERSON


class RotatingGrant(RefreshTokenGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        own: OAuthServer = self.server.own
        if own.holding is not None:
            own.holding.wait(20)
        for each in own.tokens:
            if each.refresh_token == refresh_token:
                if each.is_used:
                    own.thefts += 1
                    for other in own.tokens:
                        other.is_ended |= other.login == each.login
                return None if each.is_ended else each
        return None

    def authenticate_user(self, refresh_token: Token) -> str:
        return PERSON

    def revoke_old_credential(self, refresh_token: Token) -> None:
        refresh_token.is_used = True
        self.server.own.tokens[-1].login = refresh_token.login


class TypedInGrant(DeviceCodeGrant):  # type: ignore[misc]
    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        return self.server.own.devices.get(device_code)

    def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
        said = self.server.own.approved.get(user_code)
        return None if said is None else (PERSON, said)

    def should_slow_down(self, credential: DeviceCredentialDict) -> bool:
        return bool(self.server.own.is_slow_down)


class Codes(DeviceAuthorizationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = METHODS

    def get_verification_uri(self) -> str:
        return f"{self.server.own.url}/activate"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        credential = {**data, "client_id": client_id, "scope": scope}
        credential["expires_at"] = time.time() + data["expires_in"]
        self.server.own.devices[data["device_code"]] = DeviceCredentialDict(credential)


class Revocations(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, token_string: str, token_type_hint: str) -> Token | None:
        tokens: list[Token] = self.server.own.tokens
        return next(
            (each for each in tokens if token_string in (each.access_token, each.refresh_token)),
            None,
        )

    def revoke_token(self, token: Token, request: Any) -> None:
        for each in self.server.own.tokens:
            each.is_ended |= each.login == token.login


def _flask(own: OAuthServer) -> Flask:
    app = Flask(__name__)
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True

    def save_token(token: dict[str, Any], request: Any) -> None:
        own.logins += 1
        token["expires_in"] = own.expires_in
        if not own.gives_refresh_tokens:
            token.pop("refresh_token", None)
        made = Token(
            client=request.client,
            access_token=token["access_token"],
            refresh_token=token.get("refresh_token", ""),
            scope=token.get("scope", ""),
            expires_in=own.expires_in,
            made_at=time.time(),
            login=own.logins,
        )
        own.tokens.append(made)

    server = AuthorizationServer(app, query_client=own.apps.get, save_token=save_token)
    server.own = own
    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
    server.register_grant(RotatingGrant)
    server.register_grant(TypedInGrant)
    server.register_endpoint(Codes(server))
    server.register_endpoint(Revocations(server))

    @app.before_request
    def note() -> None:
        own.calls.append((request.path, dict(request.form)))

    @app.get("/authorize")
    def authorize() -> Any:
        grant = server.get_consent_grant(end_user=PERSON)
        return server.create_authorization_response(grant_user=PERSON, grant=grant)

    @app.post("/token")
    def token() -> Response:
        answer: Response = server.create_token_response()
        return answer

    @app.post("/device")
    def device() -> Response:
        answer: Response = server.create_endpoint_response(Codes.ENDPOINT_NAME)
        return answer

    # What follows is OpenRouter's way, as it documents it: no client, no state, a key in the end.
    @app.get("/auth")
    def auth() -> Response:
        back, code = request.args["callback_url"], secrets.token_urlsafe()
        assert request.args["code_challenge_method"] == "S256"
        own.challenges[code] = request.args["code_challenge"]
        return Response(status=302, headers={"location": add_params_to_uri(back, [("code", code)])})

    @app.post("/keys")
    def keys() -> Response:
        asked = request.get_json()
        challenge = create_s256_code_challenge(asked["code_verifier"])
        if own.challenges.pop(asked["code"], None) != challenge:
            return Response('{"error":{"code":403,"message":"Invalid code"}}', 403)
        own.keys.append(f"sk-or-{secrets.token_urlsafe()}")
        return Response(f'{{"key":"{own.keys[-1]}","user_id":"u"}}', mimetype="application/json")

    @app.post("/revoke")
    def revoke() -> Response:
        answer: Response = server.create_endpoint_response(Revocations.ENDPOINT_NAME)
        return answer

    return app


@contextmanager
def running() -> Iterator[OAuthServer]:
    """Serve until the block ends."""
    before = os.environ.get(INSECURE)
    os.environ[INSECURE] = "1"
    own = OAuthServer()
    http = make_server("127.0.0.1", 0, own.flask, threaded=True)
    own.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield own
    finally:
        if own.holding is not None:
            own.holding.set()
        http.shutdown()
        thread.join()
        http.server_close()
        os.environ.pop(INSECURE)
        if before is not None:
            os.environ[INSECURE] = before


__all__ = ["CLIENT", "DEVICE_CODE_GRANT_TYPE", "PUBLIC", "SECRET", "OAuthServer", "running"]
