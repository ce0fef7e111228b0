"""A real OpenID provider on loopback, with one client and one user.

Its plugin for pytest is switched off, because it would load the whole provider
for every test run; this loads it when it is wanted.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

CLIENT = "gateway"
SECRET = "client-canary"
USER = "ada"
EMAIL = "ada@id.example"
INSECURE = "AUTHLIB_INSECURE_TRANSPORT"
"""Makes the provider use http, which is allowed on loopback."""


class IdentityProvider:
    """Its address, and a function that logs in there."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.issuer: str = server.url.rstrip("/")

    def register(self, redirect_uri: str) -> None:
        """Register the gateway, with its only redirect URI."""
        server = self._server
        with server.app.app_context():
            known = server.backend.get(server.models.Client, client_id=CLIENT)
            if known is not None:
                server.backend.delete(known)
            client = server.models.Client(
                client_id=CLIENT,
                client_secret=SECRET,
                client_name="Gateway",
                client_uri="http://127.0.0.1",
                redirect_uris=[redirect_uri],
                grant_types=["authorization_code"],
                response_types=["code"],
                token_endpoint_auth_method="client_secret_post",
                scope=["openid", "profile", "email"],
            )
            server.backend.save(client)
            client.audience = [client]
            server.backend.save(client)
        server.consent(server.logged_user, client)

    def sign_in(self, url: str) -> str:
        """Follow a gateway's redirect as the user; return the URL it leads back to."""
        server = self._server
        with server.app.app_context():
            # Its store in memory finds a code by its client too, so others must be gone.
            for code in server.backend.query(server.models.AuthorizationCode):
                server.backend.delete(code)
        answer = httpx2.get(url)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])


@contextmanager
def running() -> Iterator[IdentityProvider]:
    """Serve the provider until the block ends."""
    import portpicker
    from canaille import create_app
    from canaille.backends import Backend
    from joserfc.jwk import RSAKey
    from pytest_iam import Server

    before = os.environ.get(INSECURE)
    os.environ[INSECURE] = "1"
    port = portpicker.pick_unused_port()
    key = RSAKey.generate_key(2048, auto_kid=True)
    app = create_app(config=_configuration(port, key.as_dict(private=True)))
    server = Server(app, port, Backend.instance)
    server.login(server.random_user(user_name=USER, emails=[EMAIL]))
    thread = threading.Thread(target=server.httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield IdentityProvider(server)
    finally:
        server.httpd.shutdown()
        thread.join()
        server.httpd.server_close()
        os.environ.pop(INSECURE)
        if before is not None:
            os.environ[INSECURE] = before


def _configuration(port: int, key: Any) -> dict[str, Any]:
    return {
        "TESTING": True,
        "ENV_FILE": None,
        "SECRET_KEY": "s" * 40,
        "WTF_CSRF_ENABLED": False,
        "PREFERRED_URL_SCHEME": "http",
        "SERVER_NAME": f"localhost:{port}",
        "CANAILLE": {
            "DATABASE": "memory",
            "JAVASCRIPT": False,
            "ACL": {"DEFAULT": {"PERMISSIONS": ["use_oidc"]}},
            "LOGGING": {"version": 1, "disable_existing_loggers": False},
        },
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [key]},
    }
