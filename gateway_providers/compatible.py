"""Vendors that speak the chat-completions format in the usual way."""

from msgspec.structs import replace

from gateway_core import Auth, ProviderSpec


def openai_compatible(spec: ProviderSpec) -> ProviderSpec:
    """Fill in what such a vendor usually answers; what the spec declares stays.

    The key rides as a bearer token and the models are listed below the base URL.
    """
    models_url = spec.models_url or (spec.base_url and f"{spec.base_url}/models")
    return replace(spec, auth=bearer(spec.auth), models_url=models_url)


def bearer(auth: Auth) -> Auth:
    """The same, saying that the key is a bearer token, unless it says how the key rides."""
    says_how = auth.header or auth.scheme or auth.prefix
    return auth if says_how else replace(auth, scheme="bearer")
