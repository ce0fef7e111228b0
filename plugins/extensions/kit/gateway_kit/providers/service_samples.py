"""A question of each kind of service, and an answer in the shape that most vendors give it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import FormPart, Kind, Usage

JSON = "application/json"
FORM = "multipart/form-data; boundary=kit-5511"


class ServiceSample(Struct, frozen=True, kw_only=True):
    """One call of a service, and what its vendor answers.

    A vendor whose answers look otherwise is checked with a sample of its own.
    """

    request: bytes = b"{}"
    """The client's body; ``MODEL`` in it stands for the model as the client names it."""
    request_type: str = JSON
    form: tuple[FormPart, ...] = ()
    """The client's form in the place of a body; a field ``model`` gets the model's name."""
    path: Mapping[str, str] = {}
    """Parameters of the client's path and query."""
    before: tuple[bytes, ...] = ()
    """What the vendor answers before that, as JSON: to the submission of a job, to looks at it."""
    reply: bytes
    """The vendor's whole answer, with status 200; of a job the last one."""
    reply_type: str = JSON
    """Its media type."""
    is_json: bool = True
    """Whether an answer that is no JSON is a broken one."""
    named_as: str | None = None
    """What names the model to the vendor where that is not its id, such as a path of its own."""
    stream: bool = False
    usage: Usage | None = None
    """What the answer reports; ``None`` when it reports nothing."""
    shown: tuple[bytes, ...] = ()
    """Words that the client's answer has to hold, in their order."""

    def type_of(self, *, is_last: bool) -> str:
        """The media type of an answer."""
        return self.reply_type if is_last else JSON


def _json_sample(
    reply: Any, *shown: str, usage: Usage | None = None, **members: Any
) -> ServiceSample:
    """A sample whose question and answer are JSON."""
    return ServiceSample(
        request=msgspec.json.encode({"model": "MODEL", **members}),
        reply=msgspec.json.encode(reply),
        usage=usage,
        shown=tuple(word.encode() for word in shown),
    )


_AUDIO = (
    FormPart(name="model", content=b"MODEL"),
    FormPart(name="response_format", content=b"json"),
    FormPart(name="file", content=b"RIFF", filename="a.wav", media_type="audio/wav"),
)
_EDIT = (
    FormPart(name="model", content=b"MODEL"),
    FormPart(name="prompt", content=b"A hello"),
    FormPart(name="image", content=b"\x89PNG\r\n", filename="a.png", media_type="image/png"),
)
_JOB = {"request_id": "v-1", "status": "pending"}
_PICTURE = {"b64_json": "aGVsbG8=", "revised_prompt": "A hello in red"}
_VIDEO = "https://videos.example/1.mp4"
_DECISION_TOKENS = {"input_tokens": 9, "output_tokens": 2}
_VECTOR = {"object": "embedding", "index": 0, "embedding": [0.25, -0.5]}
_TOKENS = {"prompt_tokens": 12, "total_tokens": 12}
_IMAGE_TOKENS = {"input_tokens": 12, "output_tokens": 70, "total_tokens": 82}
_SEARCH_RESULT = {"title": "Köln", "url": "https://example.com/1", "content": "A city"}
_RANKING = [{"index": 1, "relevance_score": 0.875}, {"index": 0, "relevance_score": 0.125}]
_VERDICT = {"flagged": True, "categories": {"violence": True}, "category_scores": {"violence": 0.5}}

SAMPLES: Mapping[str, ServiceSample] = {
    Kind.EMBEDDING: _json_sample(
        {"object": "list", "data": [_VECTOR], "model": "m", "usage": _TOKENS},
        "0.25",
        "-0.5",
        usage=Usage(input_tokens=12),
        input="Say hello",
    ),
    Kind.RERANK: _json_sample(
        {"id": "r-1", "results": _RANKING},
        "0.875",
        "0.125",
        query="city",
        documents=["A dog", "Köln"],
    ),
    Kind.MODERATION: _json_sample(
        {"id": "m-1", "model": "m", "results": [_VERDICT]}, "violence", input="Say hello"
    ),
    Kind.IMAGE: _json_sample(
        {"created": 1, "data": [_PICTURE], "usage": _IMAGE_TOKENS},
        "aGVsbG8=",
        usage=Usage(input_tokens=12, output_tokens=70),
        prompt="A hello",
    ),
    f"{Kind.IMAGE}/edit": ServiceSample(
        form=_EDIT,
        request_type=FORM,
        reply=msgspec.json.encode({"created": 1, "data": [{"b64_json": "aGVsbG8="}]}),
        shown=(b"aGVsbG8=",),
    ),
    Kind.IMAGE_TO_TEXT: _json_sample(
        {"text": "Grüße"}, "Gr", image="data:image/png;base64,aGVsbG8=", prompt="What is this?"
    ),
    Kind.SPEECH: ServiceSample(
        reply_type="audio/mpeg",
        request=msgspec.json.encode({"model": "MODEL", "input": "Say hello", "voice": "a"}),
        reply=b"\xff\xf3\x44\xc4\x00\x01hello\x00\xff",
        is_json=False,
        shown=(b"\xff\xf3\x44\xc4", b"hello"),
    ),
    Kind.TRANSCRIPTION: ServiceSample(
        form=_AUDIO,
        request_type=FORM,
        reply='{"text":"Grüße, 世界","duration":3.5}'.encode(),
        shown=("Grüße, 世界".encode(),),
    ),
    f"{Kind.TRANSCRIPTION}/translation": ServiceSample(
        form=_AUDIO,
        request_type=FORM,
        reply=b'{"text":"Hello"}',
        shown=(b"Hello",),
    ),
    Kind.MUSIC: _json_sample({"id": "m-1", "audio": "aGVsbG8="}, "aGVsbG8=", prompt="A hello"),
    Kind.AUDIO: _json_sample({"id": "a-1", "audio": "aGVsbG8="}, "aGVsbG8=", prompt="A hello"),
    Kind.VIDEO: _json_sample({"id": "v-1", "status": "queued"}, "v-1", "queued", prompt="A hello"),
    **{
        f"{Kind.VIDEO}/{action}": _json_sample(_JOB, "v-1", "pending", prompt="A hello")
        for action in ("generations", "edits", "extensions")
    },
    f"{Kind.VIDEO}/status": ServiceSample(
        request=b"",
        path={"request_id": "v/4711?x=1"},
        reply=msgspec.json.encode({**_JOB, "status": "done", "video": {"url": _VIDEO}}),
        shown=(b"done", _VIDEO.encode()),
    ),
    Kind.DECISION: _json_sample(
        {"answers": {"kit": {"answer": True, "confidence": 0.875}}, "usage": _DECISION_TOKENS},
        "0.875",
        usage=Usage(input_tokens=9, output_tokens=2),
        state="It is raining",
        questions={"kit": {"question": "Take an umbrella?"}},
    ),
    Kind.SEARCH: _json_sample({"results": [_SEARCH_RESULT]}, "https://example.com/1", query="Köln"),
    Kind.FETCH: _json_sample({"content": "Grüße"}, "Gr", url="https://example.com/1"),
    Kind.DOCUMENT_PARSING: _json_sample(
        {"pages": [{"index": 0, "markdown": "Grüße"}]}, "Gr", document="https://example.com/1"
    ),
}
"""The usual sample of each kind. Kinds that speak over a socket have none, and no cases."""
