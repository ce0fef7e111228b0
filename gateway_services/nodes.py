"""What an operator's own node offers besides chat, by its type or its format."""

from collections.abc import Mapping

from gateway_core import Kind, Service
from gateway_providers.services import COMPLETIONS, completions_service

OFFERS: Mapping[str, tuple[Service, ...]] = {
    # A server of this format may have any of them; one that has not answers 404.
    "openai": tuple(
        completions_service(name)
        for name in COMPLETIONS
        if name != Kind.DECISION and not name.startswith(Kind.VIDEO)
    ),
    "custom-embedding": (completions_service(Kind.EMBEDDING),),
    "custom-systemone": (completions_service(Kind.DECISION),),
}
