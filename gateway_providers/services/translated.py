"""Services of a vendor whose requests and answers differ: one function writes the question, one
reads each answer. A job that is submitted, polled and fetched is the same: its answers say what to
ask next."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway_core import (
    BodyParts,
    Call,
    Credential,
    FileContent,
    FormPart,
    Losses,
    ServiceExchange,
    Step,
    Target,
    UpstreamError,
    UpstreamRequest,
    Usage,
)

from .embeddings import INPUT, SplitEmbeddings, parts_of
from .exchanges import PassedAnswer, WholeExchange, is_json, plain_type
from .forms import write_form
from .refusals import words_of
from .requests import JSON, encode, service_url, vendor_request
from .usages import read_usage

_anything = msgspec.json.Decoder().decode
REFUSAL = frozenset({"error", "request_id", "success", "type"})
"""What an answer has that is nothing but a refusal, although its status is 200. A job that has
failed says more."""


class Question(Struct, frozen=True):
    """One call of a service, on its way to one vendor."""

    call: Call
    target: Target
    credential: Credential
    members: Mapping[str, Any]
    """The client's members or plain fields, decoded, without ``model``."""
    losses: Losses
    """Takes the names of what cannot be carried to the vendor."""

    def lose_all_but(self, *names: str) -> None:
        """Name every member that is not among these as lost."""
        for name in self.members:
            if name not in names:
                self.losses.add(name)


class Content(Struct, frozen=True):
    """A body that is no JSON."""

    data: bytes | FileContent
    media_type: str


class Form(Struct, frozen=True):
    """A multipart body."""

    parts: Iterable[FormPart]


class Cancel(Struct, frozen=True, kw_only=True):
    """The request that stops a job."""

    path: str
    """Below the base URL, or a whole address."""
    method: str = "DELETE"
    members: Mapping[str, Any] = {}
    """Sent as JSON."""


class Again(Struct, frozen=True, kw_only=True):
    """The answer is not there yet: what to ask next."""

    path: str | None = None
    """Below the base URL, or a whole address; ``None`` asks what was asked last once more."""
    members: Mapping[str, Any] | None = None
    """Sent as JSON; ``None`` for a GET."""
    is_public: bool = False
    """The address came with the answer, and is asked without the account's credential."""
    is_job: bool = True
    """The service's interval is waited before it is asked, as for a job that runs."""
    cancel: Cancel | None = None
    """What stops the job when its client leaves or its time is up. It holds for what is asked
    later too, until the job is over."""


class JsonService(Struct, frozen=True, kw_only=True):
    """Speaks a service in words of the vendor's own."""

    path: str | Callable[[Question], str]
    """Below ``base_url``."""
    write: Callable[[Question], Mapping[str, Any] | Content | Form]
    """The client's question to the vendor's members; those of a GET become its query. Raises
    BadRequest for a question that the vendor cannot be asked."""
    read: Callable[[Question, Any], Mapping[str, Any] | Content | Again]
    """A vendor's answer, decoded, or its bytes where they are no JSON, to the client's answer or
    to what is to be asked next. Raises UpstreamError where it is neither."""
    usage: Callable[[Question, Any], Usage | None] = lambda question, answer: read_usage(answer)
    """What an answer has used; that of the last one counts."""
    base_url: str | None = None
    """``None`` takes the vendor's."""
    method: str = "POST"
    """The HTTP method of the first request."""
    headers: Mapping[str, str] | Callable[[Question], Mapping[str, str]] = {}
    """Besides the vendor's own; a function where they depend on the question."""
    interval: float = 2.0
    """Seconds between two looks at a job."""
    deadline: float | None = None
    """Seconds for all requests together; 504 afterwards."""
    batch_limit: int | None = None
    """Of embeddings: the most inputs of one request. A longer list is sent in several."""

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        question = question_of(call, target, credential)
        inputs = question.members.get(INPUT)
        if self.batch_limit is not None and isinstance(inputs, list):
            parts = list(parts_of(call.members.get(INPUT), self.batch_limit))
            if len(parts) > 1:
                return self._split(question, parts)
        path = self.path if isinstance(self.path, str) else self.path(question)
        request = self.request(question, path, self.write(question), self.method)
        return TranslatedAnswer(request, self, question)

    def _split(self, question: Question, parts: Iterable[Any]) -> ServiceExchange:
        """One request for each part of the inputs."""
        questions = [
            replace(question, members={**question.members, INPUT: _anything(encode(part))})
            for part in parts
        ]
        requests = []
        for each in questions:
            path = self.path if isinstance(self.path, str) else self.path(each)
            requests.append(self.request(each, path, self.write(each), self.method))
        return SplitEmbeddings(
            requests,
            lambda body: encode(self.read(question, _anything(body))),
            read_usage,
            upstream_format=question.target.provider.format,
            losses=question.losses,
        )

    def next_request(self, question: Question, again: Again) -> UpstreamRequest | None:
        """What is to be asked next; ``None`` for the same as before."""
        if again.path is None:
            return None
        method = "GET" if again.members is None else "POST"
        return self.request(
            question, again.path, again.members or {}, method, is_public=again.is_public
        )

    def cancel_request(self, question: Question, cancel: Cancel) -> UpstreamRequest:
        """What stops a job."""
        written = cancel.members or Content(b"", JSON)
        return self.request(question, cancel.path, written, cancel.method)

    def request(
        self,
        question: Question,
        path: str,
        written: Mapping[str, Any] | Content | Form,
        method: str,
        *,
        is_public: bool = False,
    ) -> UpstreamRequest:
        """One of the service's requests."""
        target, credential = question.target, question.credential
        if is_public:
            return UpstreamRequest(method=method, url=path)
        url = path if "://" in path else service_url(target, credential, path, self.base_url)
        body, media_type = body_of(written)
        if method == "GET":
            if isinstance(written, Mapping) and written:
                url += ("&" if "?" in url else "?") + urlencode(written, doseq=True)
            body = b""
        return vendor_request(
            target,
            credential,
            url,
            body,
            method=method,
            media_type=media_type,
            headers=headers_of(self.headers, question),
        )


class TranslatedAnswer(WholeExchange):
    """The vendor's answers, in the client's shape."""

    _is_json = True
    _is_plain = False
    _cancel: UpstreamRequest | None = None

    def __init__(self, request: UpstreamRequest, service: JsonService, question: Question) -> None:
        format = question.target.provider.format
        super().__init__(request, upstream_format=format, losses=question.losses)
        self._service, self._question, self._asked = service, question, request

    def read_head(self, headers: Mapping[str, str]) -> None:
        kind = plain_type(headers.get("content-type", ""))
        self._is_json, self._is_plain = not kind or is_json(kind), kind == "text/plain"

    def read_answer(self, body: bytes) -> bytes:
        answer = self._decoded(body)
        if isinstance(answer, Mapping) and answer.get("error") and answer.keys() <= REFUSAL:
            raise UpstreamError(words_of(answer["error"]) or "The upstream reported an error")
        service, question = self._service, self._question
        try:
            result = service.read(question, answer)
            usage = None if isinstance(result, Again) else service.usage(question, answer)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # A vendor that answers otherwise than it says: the function reads what is not there.
            raise UpstreamError("The upstream's answer cannot be read") from error
        if isinstance(result, Again):
            self._asked = service.next_request(question, result) or self._asked
            if result.cancel is not None:
                self._cancel = service.cancel_request(question, result.cancel)
            self.following = Step(
                request=self._asked,
                delay=service.interval if result.is_job else 0.0,
                deadline=service.deadline,
                is_public=result.is_public,
                cancel=self._cancel if result.is_job else None,
            )
            return b""
        self.usage = usage
        if isinstance(result, Content):
            self.media_type = result.media_type
            return result.data if isinstance(result.data, bytes) else b""
        self.media_type = JSON
        return encode(result)

    def _decoded(self, body: bytes) -> Any:
        if self._is_json:
            return _anything(body)
        if self._is_plain:  # Some vendors send JSON as plain text.
            with suppress(msgspec.DecodeError):
                return _anything(body)
        return body


class BytesService(Struct, frozen=True, kw_only=True):
    """Asks in words of the vendor's own for bytes, which are sent on as they come."""

    path: str | Callable[[Question], str]
    """Below ``base_url``."""
    write: Callable[[Question], Mapping[str, Any] | Content | Form]
    """As of ``JsonService``."""
    media_type: str = "audio/mpeg"
    """Of an answer whose vendor names none."""
    usage: Callable[[Question, Any], Usage | None] = lambda question, answer: None
    """What is known of a call's use from the question alone; the answer is ``None``."""
    base_url: str | None = None
    """``None`` takes the vendor's."""
    headers: Mapping[str, str] | Callable[[Question], Mapping[str, str]] = {}
    """Besides the vendor's own; a function where they depend on the question."""

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        question = question_of(call, target, credential)
        path = self.path if isinstance(self.path, str) else self.path(question)
        body, media_type = body_of(self.write(question))
        url = service_url(target, credential, path, self.base_url)
        request = vendor_request(
            target,
            credential,
            url,
            body,
            media_type=media_type,
            headers=headers_of(self.headers, question),
        )
        return PassedAnswer(
            request,
            read_usage,
            usage=self.usage(question, None),
            upstream_format=target.provider.format,
            media_type=self.media_type,
            losses=question.losses,
        )


def question_of(call: Call, target: Target, credential: Credential) -> Question:
    """A call, with its members decoded."""
    members = {n: _anything(v) for n, v in call.members.items() if n.lower() != "model"}
    return Question(call, target, credential, members, Losses())


def headers_of(
    headers: Mapping[str, str] | Callable[[Question], Mapping[str, str]], question: Question
) -> Mapping[str, str]:
    """A service's headers for one question."""
    return headers(question) if callable(headers) else headers


def body_of(written: Mapping[str, Any] | Content | Form) -> tuple[bytes | BodyParts, str]:
    """A body and its media type."""
    if isinstance(written, Form):
        return write_form(written.parts)
    if isinstance(written, Content):
        data = written.data
        return data if isinstance(data, bytes) else BodyParts((data,)), written.media_type
    return encode(written), JSON
