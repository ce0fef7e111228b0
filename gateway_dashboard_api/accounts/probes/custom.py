"""The operator's own endpoints that are not for chat: embeddings and decisions."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway_core.contracts.errors import BadRequest, UpstreamError
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.pipeline.context import Collaborators
from gateway_core.routing.snapshot import Account
from gateway_core.upstream.endpoints import JSON

from .checks import Proof
from .discovery import Fetched, fetch
from .findings import shows_admission

EMBEDDING = "custom-embedding"
DECISION = "custom-systemone"
DECISION_PATH = "/systemone"
EMBEDDING_PATH = "/embeddings"
DECISION_URL = "http://127.0.0.1:8000/v1/systemone"
"""Where the local engine listens, when the operator names no address."""
TYPES = (EMBEDDING, DECISION)


async def prove(
    core: Collaborators, type_: str, base: str, account: Account, model: str | None
) -> Proof:
    """Request one embedding, or one decision. Raises GatewayError unless it is accepted."""
    if model is None:
        raise BadRequest("There is no model to test with: give one, or set a default model")
    fetched = await fetch(core, account, _request(type_, base, account, model))
    if not fetched.is_good:
        error = _refusal(fetched)
        # An engine that rejects the question as invalid has accepted the key.
        if type_ == DECISION and shows_admission(error):
            return Proof("decision")
        raise error
    if type_ == DECISION:
        return Proof("decision")
    try:
        numbers = _decoded(fetched)["data"][0]["embedding"]
    except (LookupError, TypeError):
        raise UpstreamError("The provider's answer holds no embedding") from None
    return Proof("embeddings", len(numbers) if isinstance(numbers, list) else None)


def _request(type_: str, base: str, account: Account, model: str) -> UpstreamRequest:
    body: dict[str, Any]
    path, body = EMBEDDING_PATH, {"model": model, "input": "hi"}
    if type_ == DECISION:
        path = "" if base.endswith(DECISION_PATH) else DECISION_PATH
        body = {"model": model, "state": "hi", "questions": {}}
    headers = {"content-type": JSON, "accept": JSON}
    if account.credential.secret:
        headers["authorization"] = f"Bearer {account.credential.secret}"
    return UpstreamRequest(url=base + path, headers=headers, body=msgspec.json.encode(body))


def _refusal(fetched: Fetched) -> UpstreamError:
    """Build an error with the vendor's message, from any of its usual places."""
    answer = _decoded(fetched)
    error = answer.get("error") if isinstance(answer, Mapping) else None
    if isinstance(error, Mapping):
        error = error.get("message")
    text = error if isinstance(error, str) and error else f"The provider answered {fetched.status}"
    return UpstreamError(text, status=fetched.status)


def _decoded(fetched: Fetched) -> Any:
    try:
        return msgspec.json.decode(fetched.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
