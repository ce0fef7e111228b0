"""Vendors with a login: offered once an operator has registered an application, and whole."""

from types import ModuleType

import gateway_provider_azure_openai as azure
import gateway_provider_huggingface as huggingface
import gateway_provider_openrouter as openrouter
import gateway_provider_vertex as vertex
import pytest

from gateway_core import Credential, ProviderSpec, credential_header
from gateway_core.plugins.validation import provider_faults
from gateway_core.upstream.allowed_hosts import allowed_hosts, origin_of

REGISTERED = (huggingface, vertex, azure)


def declared(plugin: ModuleType, **settings: str) -> ProviderSpec:
    (spec,) = plugin.register_providers(plugin.Settings(**settings))
    assert isinstance(spec, ProviderSpec)
    return spec


@pytest.mark.parametrize("plugin", REGISTERED)
def test_a_login_is_offered_once_an_application_is_registered(plugin: ModuleType) -> None:
    before = declared(plugin)
    public = declared(plugin, client_id="app")
    confidential = declared(plugin, client_id="app", client_secret="canary")

    assert before.oauth is None
    assert before.auth.type is None
    for spec in (public, confidential):
        assert spec.oauth is not None
        assert spec.oauth.client_id == "app"
        assert spec.auth.type == "apikey"
        urls = (spec.oauth.token_url, spec.oauth.device_url, spec.oauth.revoke_url)
        assert {origin_of(url) for url in urls if url} <= allowed_hosts(spec).origins
        assert provider_faults(spec, {spec.format}) == []
        assert "canary" not in repr(spec)
    assert public.oauth is not None
    assert public.oauth.client_secret is None
    assert confidential.oauth is not None
    assert confidential.oauth.client_secret == "canary"


def test_a_directory_of_entra_is_part_of_every_address() -> None:
    spec = declared(azure, client_id="app", tenant="contoso.example")

    assert spec.oauth is not None
    for url in (spec.oauth.authorize_url, spec.oauth.token_url, spec.oauth.device_url):
        assert url is not None
        assert url.startswith("https://login.microsoftonline.com/contoso.example/oauth2/v2.0/")


def test_a_token_of_entra_rides_otherwise_than_a_key() -> None:
    spec = declared(azure, client_id="app")
    assert spec.oauth is not None
    key = Credential(connection_id="a", secret="k")
    token = Credential(connection_id="b", secret="t", auth=spec.oauth.auth)

    assert credential_header(spec.auth, key) == {"api-key": "k"}
    assert credential_header(spec.auth, token) == {"authorization": "Bearer t"}


def test_openrouter_needs_no_application() -> None:
    (spec,) = openrouter.register_providers()

    assert spec.oauth is not None
    assert (spec.oauth.flow, spec.auth.type) == ("key", "apikey")
