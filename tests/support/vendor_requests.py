"""A client's request, written for a vendor of any format, those of single vendors too."""

import json
from typing import Any

from gateway_provider_bedrock.converse import CONVERSE
from gateway_provider_cohere.chat import CHAT
from minimal_requests import MODELS
from snapshots import provider, target
from translation_runs import WIRES, members_of

from gateway_core import Call, Credential, Kind, Model
from gateway_core.pipeline.translation import Translation

VENDORS = {**WIRES, "cohere": CHAT, "bedrock": CONVERSE}


def request(client: str, vendor: str, body: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The vendor's request, and what could not be carried."""
    encoded = json.dumps(body).encode()
    call = Call(
        kind=Kind.LLM,
        format=client,
        model="m",
        stream=False,
        body=encoded,
        members=members_of(encoded),
    )
    translation = Translation(call, VENDORS)
    aim = target(provider("v", format=vendor), Model(MODELS.get(vendor, "m")))
    exchange = translation.translate(
        translation.conversation(), aim, Credential(connection_id="c", secret="s")
    )
    return json.loads(exchange.request.body), list(exchange.losses.names)
