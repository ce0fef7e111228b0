"""Cases about interceptors and work that is no chat: forms with files, and answers of bytes."""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core import Call, FormPart
from gateway_kit.case import Case, expect, expect_none
from gateway_kit.json_bodies import decode_members
from gateway_kit.mock_vendor import MockResponse
from gateway_kit.providers.chat_requests import ChatRequest

from .harness import ExtensionHarness
from .interceptors import run_before
from .media_calls import (
    FORM,
    PICTURE,
    PROMPT,
    SOUND,
    content_of,
    edit,
    form_calls,
    json_calls,
    multipart,
    upload,
)
from .media_vendor import ID, PAINTER, SPEAKER
from .object_checks import ObjectChecks
from .subject import ExtensionUnderTest

CHECKS = ObjectChecks("interceptor", "register_interceptors", "interceptor")
_JSON = "application/json"
_PAINTED = msgspec.json.encode({"created": 1, "data": [{"b64_json": b64encode(PICTURE).decode()}]})
_WRITTEN = b'{"text":"said4711"}'


def media_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    yield from CHECKS.cases(subject)
    yield Case(
        name=f"{subject.module}: interceptor: files and bytes",
        advice="Let forms and answers of bytes pass as they are: not every call is a chat, and not "
        "every body is JSON.",
        run=_served,
    )


@CHECKS.add(
    "forms",
    "Change a form's fields in call.form together with its members, and leave its files, their "
    "names and types, and fields that come twice as they are.",
)
async def keeps_forms(harness: ExtensionHarness, interceptor: Any) -> None:
    words = " ".join(harness.texts)
    for about, call in (*form_calls(""), *form_calls(words)):
        result = await run_before(interceptor, call, about)
        if isinstance(result, Call):
            expect_none(f"{about}: {fault}" for fault in _form_faults(call, result))


@CHECKS.add(
    "other work", "Take calls that are no chat: they have no messages, and their members stay."
)
async def keeps_other_work(harness: ExtensionHarness, interceptor: Any) -> None:
    words = " ".join(harness.texts)
    for about, call in (*json_calls(""), *json_calls(words)):
        result = await run_before(interceptor, call, about)
        if not isinstance(result, Call):
            continue
        same = (result.kind, result.action, result.format) == (call.kind, call.action, call.format)
        expect(same, f"{about}: it changes what the client waits for")
        members = decode_members(result.body)
        expect(members == dict(result.members), f"{about}: members and body differ")
        lost = sorted(call.members.keys() - members.keys())
        expect(not lost, f"{about}: {', '.join(lost)} is gone")


def _form_faults(before: Call, after: Call) -> Iterator[str]:
    if (after.kind, after.action, after.format) != (before.kind, before.action, before.format):
        yield "it changes what the client waits for"
    if _files(before.form) != _files(after.form):
        yield "the files of the form, their names or their types are changed"
    fields = [part for part in after.form if part.filename is None]
    names = Counter(part.name for part in fields)
    wanted = Counter(part.name for part in before.form if part.filename is None)
    if wanted - names:
        yield f"fields of the form are gone: {', '.join(sorted(wanted - names))}"
    for part in fields:
        told = after.members.get(part.name)
        if names[part.name] == 1 and told is None:
            yield f"the members do not have the field {part.name}"
        elif (
            names[part.name] == 1 and msgspec.json.decode(told or b"") != content_of(part).decode()
        ):
            yield f"the members and the form differ in {part.name}"


def _files(form: tuple[FormPart, ...]) -> list[tuple[Any, ...]]:
    return [
        (part.name, part.filename, part.media_type, content_of(part))
        for part in form
        if part.filename is not None
    ]


class _Asked(Struct, frozen=True, kw_only=True):
    """A client's request, the vendor's answer, and what either has to get."""

    about: str
    path: str
    body: bytes
    media_type: str = _JSON
    answer: MockResponse
    to_vendor: tuple[bytes, ...] = ()
    to_client: bytes
    as_type: str = _JSON


def _requests() -> Iterator[_Asked]:
    speech = {"model": f"{ID}/{SPEAKER}", "input": PROMPT, "voice": "alloy"}
    paint = {"model": f"{ID}/{PAINTER}", "prompt": PROMPT}
    yield _Asked(
        about="speech",
        path="/v1/audio/speech",
        body=msgspec.json.encode(speech),
        answer=MockResponse((SOUND,), content_type="audio/mpeg"),
        to_vendor=(PROMPT.encode(),),
        to_client=SOUND,
        as_type="audio/mpeg",
    )
    yield _Asked(
        about="a picture as bytes",
        path="/v1/images/generations?response_format=binary",
        body=msgspec.json.encode(paint),
        answer=MockResponse((_PAINTED,)),
        to_vendor=(PROMPT.encode(),),
        to_client=PICTURE,
        as_type="image/png",
    )
    yield _Asked(
        about="a changed picture",
        path="/v1/images/edits",
        body=multipart(edit("")),
        media_type=FORM,
        answer=MockResponse((_PAINTED,)),
        to_vendor=(PICTURE, PICTURE[::-1], PROMPT.encode(), b"one4711", b"two4712"),
        to_client=b64encode(PICTURE),
    )
    yield _Asked(
        about="a transcription",
        path="/v1/audio/transcriptions",
        body=multipart(upload("")),
        media_type=FORM,
        answer=MockResponse((_WRITTEN,)),
        to_vendor=(SOUND, PROMPT.encode()),
        to_client=b"said4711",
    )


async def _served(harness: ExtensionHarness) -> None:
    """Through a whole gateway: the vendor gets the files, and the client the bytes."""
    for asked in _requests():
        harness.calls.reset()
        warnings = len(harness.warnings.messages)
        request = ChatRequest(path=asked.path, body=asked.body, client="", stream=False)
        answer = await harness.calls.ask(request, asked.answer, content_type=asked.media_type)
        about = f"{asked.about}: status {answer.status}"
        expect(answer.status < 500, f"{about}: {answer.text[:200]}")
        if answer.status == 200:
            sent = harness.calls.received()[-1].body
            lost = [each[:40] for each in asked.to_vendor if each not in sent]
            expect(not lost, f"{asked.about}: the vendor does not get {lost}")
            media = answer.headers.get("content-type", "")
            expect(asked.to_client in answer.body, f"{asked.about}: the client gets other bytes")
            expect(media.startswith(asked.as_type), f"{asked.about}: it comes as {media}")
        await harness.gateway.core.ledger.flush()
        expect_none(harness.warnings.messages[warnings:])
