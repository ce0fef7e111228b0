"""Services of a vendor whose JSON differs: two functions, one for the question, one for the
answer."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from gateway_core import Call, Credential, Losses, ServiceExchange, Target, Usage

from .exchanges import WholeExchange
from .requests import encode, service_url, vendor_request
from .usages import read_usage

_anything = msgspec.json.Decoder().decode


class Question(Struct, frozen=True):
    """One call of a service, on its way to one vendor."""

    call: Call
    target: Target
    credential: Credential
    members: Mapping[str, Any]
    """The client's members, decoded, without ``model``."""
    losses: Losses
    """Takes the names of what cannot be carried to the vendor."""

    def lose_all_but(self, *names: str) -> None:
        """Name every member that is not among these as lost."""
        for name in self.members:
            if name not in names:
                self.losses.add(name)


Write = Callable[[Question], Mapping[str, Any]]
Read = Callable[[Question, Any], Mapping[str, Any]]
Count = Callable[[Question, Any], Usage | None]


def _reported(question: Question, answer: Any) -> Usage | None:
    return read_usage(answer)


class JsonService(Struct, frozen=True, kw_only=True):
    """Speaks a service by JSON of the vendor's own."""

    path: str | Callable[[Question], str]
    """Below ``base_url``."""
    write: Write
    """The client's question to the vendor's members; those of a GET become its query. Raises
    BadRequest for a question that the vendor cannot be asked."""
    read: Read
    """The vendor's answer to the client's. Raises UpstreamError where it is none."""
    usage: Count = _reported
    """What an answer has used."""
    base_url: str | None = None
    """``None`` takes the vendor's."""
    method: str = "POST"
    """The HTTP method."""
    headers: Mapping[str, str] = {}
    """Besides the vendor's own."""

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        members = {n: _anything(v) for n, v in call.members.items() if n.lower() != "model"}
        question = Question(call, target, credential, members, Losses())
        path = self.path if isinstance(self.path, str) else self.path(question)
        url = service_url(target, credential, path, self.base_url)
        written = self.write(question)
        body = b""
        if self.method != "GET":
            body = encode(written)
        elif written:
            url += ("&" if "?" in url else "?") + urlencode(written, doseq=True)
        request = vendor_request(
            target, credential, url, body, method=self.method, headers=self.headers
        )
        return TranslatedJson(request, self, question)


class TranslatedJson(WholeExchange):
    """The vendor's JSON, in the client's shape."""

    def __init__(self, request: Any, service: JsonService, question: Question) -> None:
        format = question.target.provider.format
        super().__init__(request, upstream_format=format, losses=question.losses)
        self._service, self._question = service, question

    def read_answer(self, body: bytes) -> bytes:
        answer = _anything(body)
        output = encode(self._service.read(self._question, answer))
        self.usage = self._service.usage(self._question, answer)
        return output
