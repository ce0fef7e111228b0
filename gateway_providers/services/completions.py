"""Services of a vendor that has them as the completions vendor has: the client's members go there
with only the model replaced, and its answer comes back as it is."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import (
    Call,
    Credential,
    Kind,
    Losses,
    Service,
    ServiceExchange,
    Target,
    UpstreamError,
    UpstreamRequest,
    Usage,
)

from .exchanges import WholeExchange
from .refusals import words_of
from .requests import encode, service_url, vendor_request
from .usages import read_usage

Units = Callable[[Call, Any], Mapping[str, float]]
"""What is counted besides tokens: from the call and its answer."""
_anything = msgspec.json.Decoder().decode


class PassedJson(WholeExchange):
    """The vendor's JSON, as it came."""

    def __init__(
        self, request: UpstreamRequest, count: Callable[[Any], Usage | None], **more: object
    ) -> None:
        super().__init__(request, **more)
        self._count = count

    def read_answer(self, body: bytes) -> bytes:
        answer = _anything(body)
        if not isinstance(answer, Mapping):
            raise UpstreamError("The upstream's answer cannot be read")
        if answer.get("error"):
            raise UpstreamError(words_of(answer["error"]) or "The upstream reported an error")
        self.usage = self._count(answer)
        return body


class PassThroughService:
    """Sends a client's JSON on with the vendor's model in it."""

    def __init__(
        self, path: str, *, units: Units | None = None, base_url: str | None = None
    ) -> None:
        """``path`` is below ``base_url``, or else below the vendor's."""
        self.path, self._units, self._base_url = path, units, base_url

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        losses = Losses()
        members = named(call.members, target, losses)
        url = service_url(target, credential, self.path, self._base_url)
        request = vendor_request(target, credential, url, encode(members))
        format = target.provider.format
        return PassedJson(request, partial(self.count, call), upstream_format=format, losses=losses)

    def count(self, call: Call, answer: Any) -> Usage | None:
        """What an answer has used."""
        return read_usage(answer, None if self._units is None else self._units(call, answer))


def named(members: Mapping[str, Raw], target: Target, losses: Losses) -> dict[str, Any]:
    """A client's members for this target: its model, and without what the model rejects.

    Some vendors take ``Model`` for ``model``, so no other spelling stays beside it.
    """
    kept: dict[str, Any] = {}
    for name, value in members.items():
        if name in target.model.unsupported:
            losses.add(name)
        elif name.lower() != "model":
            kept[name] = value
    kept["model"] = target.model.id
    return kept


def images(call: Call, answer: Any) -> Mapping[str, float]:
    """How many pictures there are, by size and quality where the client named them."""
    data = answer.get("data")
    if not isinstance(data, list) or not data:
        return {}
    return {"/".join(("images", *_words(call, "size", "quality"))): float(len(data))}


def documents(call: Call, answer: Any) -> Mapping[str, float]:
    """How many documents were ranked."""
    raw = call.members.get("documents")
    listed = None if raw is None else _anything(raw)
    return {"documents": float(len(listed))} if isinstance(listed, list) else {}


def _words(call: Call, *names: str) -> list[str]:
    words = []
    for name in names:
        raw = call.members.get(name)
        value = None if raw is None else _anything(raw)
        if not isinstance(value, str) or not value or "/" in value:
            break
        words.append(value)
    return words


COMPLETIONS: Mapping[str, PassThroughService] = {
    Kind.EMBEDDING: PassThroughService("/embeddings"),
    Kind.RERANK: PassThroughService("/rerank", units=documents),
    Kind.MODERATION: PassThroughService("/moderations"),
    Kind.IMAGE: PassThroughService("/images/generations", units=images),
    Kind.DECISION: PassThroughService("/systemone"),
    Kind.DOCUMENT_PARSING: PassThroughService("/ocr"),
}
"""The adapter of each service: a kind, with a slash and the action where it has several."""


def completions_service(name: str) -> Service:
    """The service of a vendor that has it where the completions vendor does. Raises KeyError."""
    kind, _, action = name.partition("/")
    return Service(kind, COMPLETIONS[name], action)
