"""Providers for a manifest."""

from typing import Any

from gateway_core import OAuth, ProviderSpec

FLOW = OAuth(
    flow="pkce",
    authorize_url="https://login.acme.example/authorize",
    token_url="https://login.acme.example/token",
    client_id="hidden-client-id",
    client_secret="hidden-client-secret",
    scopes=("hidden-scope",),
)


def spec(**fields: Any) -> ProviderSpec:
    usual = {"id": "acme", "name": "Acme", "base_url": "https://api.acme.example/v1"}
    return ProviderSpec(**{**usual, **fields})


def build_url(target: Any, credential: Any, path: str) -> str:
    return "https://hidden.example"
