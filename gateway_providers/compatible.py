"""Vendors that speak the chat-completions format in the usual way."""

from collections.abc import Iterable

from msgspec.structs import replace

from gateway_core import Auth, Kind, ProviderSpec, Service

from .services import completions_service

COMPLETIONS_FORMAT = "openai"
ASSUMED = (Kind.RERANK, Kind.MODERATION)


def openai_compatible(spec: ProviderSpec, services: Iterable[str] = ()) -> ProviderSpec:
    """Fill in what such a vendor usually answers; what the spec declares stays.

    The key rides as a bearer token and the models are listed below the base URL. ``services``
    names the work besides chat that it has as the completions vendor has it: ``embedding``,
    ``image``, ``image/edit`` (see ``gateway_providers.services.COMPLETIONS``). Whatever it names,
    calls of ``rerank`` and ``moderation`` are sent to where such vendors have them.
    """
    models_url = spec.models_url or (spec.base_url and f"{spec.base_url}/models")
    offered = (*spec.services, *map(completions_service, services))
    if spec.format == COMPLETIONS_FORMAT:
        offered = (*offered, *assumed(offered))
    return replace(spec, auth=bearer(spec.auth), models_url=models_url, services=offered)


def assumed(services: Iterable[Service]) -> Iterable[Service]:
    """What a vendor of this format is taken to have although it does not say so."""
    kinds = {service.kind for service in services}
    for kind in ASSUMED:
        if kind not in kinds:
            yield replace(completions_service(kind), is_assumed=True)


def bearer(auth: Auth) -> Auth:
    """The same, saying that the key is a bearer token, unless it says how the key rides."""
    says_how = auth.header or auth.scheme or auth.prefix
    return auth if says_how else replace(auth, scheme="bearer")
