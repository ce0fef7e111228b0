"""Embeddings of more inputs than a vendor takes at once: several requests, whose vectors are put
together in the order of the inputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from gateway_core import Step, UpstreamError, UpstreamRequest, Usage

from .exchanges import WholeExchange
from .lazy_answer import LazyAnswer, first_byte
from .refusals import words_of
from .requests import encode

INPUT = "input"
_anything = msgspec.json.Decoder().decode
_list = msgspec.json.Decoder(list[Raw]).decode


class SplitAnswer(msgspec.Struct):
    """What is put together of the answers."""

    data: list[dict[str, Raw]]
    usage: Raw = Raw(b"null")


_read = msgspec.json.Decoder(SplitAnswer).decode


class SplitEmbeddings(WholeExchange):
    """Asks for one part of the inputs after another."""

    def __init__(
        self,
        requests: Sequence[UpstreamRequest],
        read: Callable[[bytes], bytes],
        count: Callable[[Any], Usage | None],
        **more: Any,
    ) -> None:
        """``read`` turns a vendor's answer into one of the completions style."""
        super().__init__(requests[0], **more)
        self._waiting = iter(requests[1:])
        self._read, self._count = read, count
        self._data: list[dict[str, Raw]] = []
        self._first: dict[str, Raw] = {}

    def read_answer(self, body: bytes) -> bytes:
        try:
            translated = self._read(body)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise UpstreamError("The upstream's answer cannot be read") from error
        whole = LazyAnswer(translated)
        if reported := whole.get("error"):
            raise UpstreamError(words_of(reported) or "The upstream reported an error")
        answer = _read(translated)
        offset = len(self._data)
        # Vectors stand in the order of the inputs, whatever order the vendor has them in.
        answer.data.sort(key=lambda item: _index(item))
        for place, item in enumerate(answer.data, offset):
            item["index"] = Raw(str(place).encode())
            self._data.append(item)
        self.usage = _sum(self.usage, self._count(whole))
        if not self._first:
            self._first = whole.raw
        request = next(self._waiting, None)
        if request is not None:
            self.following = Step(request=request)
            return b""
        members: dict[str, Any] = {**self._first, "data": self._data}
        if self.usage is not None and "usage" in members:
            total = self.usage.input_tokens
            members["usage"] = {"prompt_tokens": total, "total_tokens": total}
        return encode(members)


def split_embeddings(
    members: Mapping[str, Any],
    limit: int,
    ask: Callable[[bytes], UpstreamRequest],
    count: Callable[[Any], Usage | None],
) -> SplitEmbeddings | None:
    """The exchange for inputs that are too many for one request; ``None`` where they are not."""
    parts = list(parts_of(members.get(INPUT), limit))
    if len(parts) < 2:
        return None
    requests = [ask(encode({**members, INPUT: part})) for part in parts]
    return SplitEmbeddings(requests, lambda body: body, count)


def parts_of(raw: Any, limit: int) -> Iterator[list[Raw]]:
    """Lists of inputs that are not too long; none for a single input or a list of tokens."""
    if not isinstance(raw, Raw) or first_byte(raw) != b"[":
        return
    listed = _list(raw)
    # A list of numbers is one input, as tokens.
    if not listed or first_byte(listed[0]) not in (b'"', b"[", b"{"):
        return
    for start in range(0, len(listed), limit):
        yield listed[start : start + limit]


def _index(item: Mapping[str, Raw]) -> int:
    value = _anything(item["index"]) if "index" in item else 0
    return value if isinstance(value, int) else 0


def _sum(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return first or second
    return Usage(
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
    )
