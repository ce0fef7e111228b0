"""Services of a vendor that has them as the completions vendor has: the client's members or form
go there with only the model replaced, and its answer comes back as it is."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Raw

from gateway_core import (
    Adapter,
    Call,
    Credential,
    FormPart,
    Kind,
    Losses,
    Service,
    ServiceExchange,
    Target,
    Usage,
)

from .embeddings import INPUT, split_embeddings
from .exchanges import Count, PassedAnswer
from .forms import field, write_form
from .lazy_answer import first_byte, length_of
from .requests import JSON, Destinations, encode, service_url, vendor_request
from .usages import read_usage
from .web import PLAIN_SEARCH

Units = Callable[[Call, Any], Mapping[str, float]]
"""What is counted besides tokens: from the call and its answer, which is ``None`` for bytes."""
MODEL = "model"
_SPELLINGS = frozenset(map("".join, product(*zip(MODEL, MODEL.upper(), strict=True)))) - {MODEL}
"""What some vendors take for ``model``."""
_anything = msgspec.json.Decoder().decode


class PassThroughService:
    """Sends a client's JSON or form on with the vendor's model in it."""

    def __init__(
        self,
        path: str,
        *,
        units: Units | None = None,
        media_type: str = JSON,
        base_url: str | None = None,
        batch_limit: int | None = None,
        rename: Mapping[str, str] = {},
        drop: Iterable[str] = (),
    ) -> None:
        """``path`` is below ``base_url``, or else below the vendor's. ``media_type`` is of an
        answer whose vendor names none. ``batch_limit`` is the most inputs of one request for
        embeddings; a longer list is sent in several requests. ``rename`` has the vendor's names of
        members that it calls otherwise, ``drop`` those that it refuses."""
        self._path, self._units, self._media_type = path, units, media_type
        self._base_url, self._batch_limit = base_url, batch_limit
        self._rename, self._drop = rename, frozenset(drop)
        self._destinations = Destinations(path, base_url)

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        losses, format = Losses(), target.provider.format
        count: Count = read_usage if self._units is None else partial(self.count, call)
        if call.form:
            url = service_url(target, credential, self._path, self._base_url)
            parts, media_type = write_form(named_parts(call.form, target, losses))
            request = vendor_request(
                target, credential, url, parts, media_type=media_type, whole=not call.stream
            )
        else:
            destination = self._destinations.find(target, credential)
            members = self._members(call, target, losses)
            if self._batch_limit is not None and _is_list(members.get(INPUT)):
                ask = partial(destination.request, whole=True)
                split = split_embeddings(members, self._batch_limit, ask, count)
                if split is not None:
                    split.upstream_format, split.losses = format, losses
                    return split
            request = destination.request(encode(members), whole=not call.stream)
        return PassedAnswer(
            request,
            count,
            usage=None if self._media_type == JSON else self.count(call, None),
            upstream_format=format,
            media_type=self._media_type,
            losses=losses,
        )

    def _members(self, call: Call, target: Target, losses: Losses) -> dict[str, Any]:
        members = named(call.members, target, losses)
        for name in self._drop.intersection(members) if self._drop else ():
            del members[name]
            losses.add(name)
        if not self._rename:
            return members
        return {self._rename.get(name, name): value for name, value in members.items()}

    def count(self, call: Call, answer: Any) -> Usage | None:
        """What an answer has used."""
        return read_usage(answer, None if self._units is None else self._units(call, answer))


class StatusService:
    """Asks for something by the id that stands in the client's path."""

    def __init__(self, path: str, *, base_url: str | None = None) -> None:
        """``path`` has parameters of the client's path in braces."""
        self._path, self._base_url = path, base_url

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        names = {name: quote(value, safe="") for name, value in call.path.items()}
        path = self._path.format(**names)
        url = service_url(target, credential, path, self._base_url)
        request = vendor_request(target, credential, url, method="GET")
        # What a job used was counted when it was submitted.
        return PassedAnswer(request, lambda answer: Usage(), upstream_format=target.provider.format)


def named(members: Mapping[str, Raw], target: Target, losses: Losses) -> dict[str, Any]:
    """A client's members for this target: its model, and without what the model rejects.

    Some vendors take ``Model`` for ``model``, so no other spelling stays beside it.
    """
    kept: dict[str, Any] = dict(members)
    if target.model.unsupported:
        for name in members:
            if name in target.model.unsupported:
                del kept[name]
                losses.add(name)
    if not _SPELLINGS.isdisjoint(kept):
        for name in _SPELLINGS.intersection(kept):
            del kept[name]
    kept.pop(MODEL, None)  # So that it stands at the end, wherever the client had it.
    kept[MODEL] = target.model.id
    return kept


def named_parts(parts: Iterable[FormPart], target: Target, losses: Losses) -> Iterable[FormPart]:
    """The same for a form. The model comes first: some vendors read a form as it arrives."""
    yield field("model", target.model.id)
    for part in parts:
        if part.name in target.model.unsupported:
            losses.add(part.name)
        elif part.name.lower() != "model":
            yield part


def images(call: Call, answer: Any) -> Mapping[str, float]:
    """How many pictures there are, by size and quality where the client named them."""
    # Nothing is known of an answer that is a stream; it is one picture at least.
    count = 1 if answer is None else length_of(answer, "data")
    return {"/".join(("images", *_words(call, "size", "quality"))): float(count)} if count else {}


def documents(call: Call, answer: Any) -> Mapping[str, float]:
    """How many documents were ranked."""
    listed = _member(call, "documents")
    return {"documents": float(len(listed))} if isinstance(listed, list) else {}


def characters(call: Call, answer: Any) -> Mapping[str, float]:
    """How many characters were spoken."""
    text = _member(call, "input")
    return {"characters": float(len(text))} if isinstance(text, str) and text else {}


def seconds(call: Call, answer: Any) -> Mapping[str, float]:
    """How long a recording is, where the answer tells its duration."""
    duration = answer.get("duration") if isinstance(answer, Mapping) else None
    try:
        length = float(duration) if isinstance(duration, int | float | str) else 0.0
    except ValueError:
        length = 0.0
    return {"seconds": length} if 0 < length < 1e9 else {}


def pages(call: Call, answer: Any) -> Mapping[str, float]:
    """How many pages were read."""
    count = length_of(answer, "pages")
    return {"pages": float(count)} if count else {}


def videos(call: Call, answer: Any) -> Mapping[str, float]:
    """One job."""
    return {"videos": 1.0}


def _member(call: Call, name: str) -> Any:
    raw = call.members.get(name)
    return None if raw is None else _anything(raw)


def _is_list(raw: Any) -> bool:
    return isinstance(raw, Raw) and first_byte(raw) == b"["


def _words(call: Call, *names: str) -> list[str]:
    words = []
    for name in names:
        value = _member(call, name)
        if not isinstance(value, str) or not value or "/" in value:
            break
        words.append(value)
    return words


COMPLETIONS: Mapping[str, Adapter] = {
    # https://platform.openai.com/docs/api-reference/embeddings/create: at most 2048 inputs.
    Kind.EMBEDDING: PassThroughService("/embeddings", batch_limit=2048),
    Kind.RERANK: PassThroughService("/rerank", units=documents),
    Kind.MODERATION: PassThroughService("/moderations"),
    Kind.IMAGE: PassThroughService("/images/generations", units=images),
    f"{Kind.IMAGE}/edit": PassThroughService("/images/edits", units=images),
    Kind.SPEECH: PassThroughService("/audio/speech", units=characters, media_type="audio/mpeg"),
    Kind.TRANSCRIPTION: PassThroughService("/audio/transcriptions", units=seconds),
    f"{Kind.TRANSCRIPTION}/translation": PassThroughService("/audio/translations", units=seconds),
    Kind.DECISION: PassThroughService("/systemone"),
    Kind.SEARCH: PLAIN_SEARCH,
    Kind.DOCUMENT_PARSING: PassThroughService("/ocr", units=pages),
    f"{Kind.VIDEO}/generations": PassThroughService("/videos/generations", units=videos),
    f"{Kind.VIDEO}/edits": PassThroughService("/videos/edits", units=videos),
    f"{Kind.VIDEO}/extensions": PassThroughService("/videos/extensions", units=videos),
    f"{Kind.VIDEO}/status": StatusService("/videos/{request_id}"),
}
"""The adapter of each service: a kind, with a slash and the action where it has several."""


def completions_service(name: str) -> Service:
    """The service of a vendor that has it where the completions vendor does. Raises KeyError."""
    kind, _, action = name.partition("/")
    return Service(kind, COMPLETIONS[name], action)
