"""Cases about habits of real vendors of chat completions, seen in recorded traffic."""

from collections.abc import Iterator
from typing import Any

from gateway_kit.mock_vendor import Said, Scene
from gateway_kit.mock_vendor.frames import data, encode

from .answers import read
from .bench import Bench
from .case import Case, expect
from .questions import question
from .subject import Route, Subject

_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_END = b"data: [DONE]\n\n"
_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
CALL = ("look_up", {"city": "Bonn"})
_ARGUMENTS = ('{"city":', '"Bonn"}')


def habits(subject: Subject, route: Route) -> Iterator[Case]:
    """For a vendor that speaks chat completions; none for any other."""
    if route.wire.id != "openai":
        return
    for name, body in _STREAMS.items():
        yield _habit(subject, route, name, body, stream=True)
    for name, answer in _WHOLES.items():
        yield _habit(subject, route, name, encode(answer), stream=False)


def _habit(subject: Subject, route: Route, name: str, body: bytes, *, stream: bool) -> Case:
    is_call = name.startswith("tool")

    async def run(bench: Bench) -> None:
        scene = Scene(dialect=route.dialect, stream=stream)
        said: Said = scene.said([body])
        asked = question(subject, route, stream=stream, tools=is_call)
        found = read(subject, route, await bench.ask(asked, said), stream=stream)
        wanted = ("", (CALL,)) if is_call else ("Hello", ())
        expect((found.text, found.calls) == wanted, f"the client heard {found}")

    return Case(
        name=f"{subject.spec.id}: {route}: {name}",
        advice="Do not insist on members that vendors leave out, repeat or spell otherwise.",
        run=run,
    )


def _chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return data({**_CHUNK, "choices": [choice], **more})


def _call(head: dict[str, Any], tail: dict[str, Any]) -> bytes:
    """A streamed tool call whose pieces name it as these members do."""
    first, second = _ARGUMENTS
    begun = {**head, "type": "function", "function": {"name": CALL[0], "arguments": first}}
    grown = {**tail, "function": {"arguments": second}}
    return b"".join(
        (
            _chunk({"role": "assistant", "content": None, "tool_calls": [begun]}),
            _chunk({"tool_calls": [grown]}),
            _chunk({}, "tool_calls"),
            _END,
        )
    )


_TEXT = (_chunk({"content": "Hel"}), _chunk({"content": "lo"}))
_STOP = _chunk({}, "stop")
_EMPTY = data({**_CHUNK, "choices": []})

_STREAMS = {
    "role only first": b"".join((_chunk({"role": "assistant"}), *_TEXT, _STOP, _END)),
    "empty deltas": b"".join((_chunk({}), *_TEXT, _chunk({}), _STOP, _END)),
    "no choices first": b"".join((_EMPTY, *_TEXT, _STOP, _END)),
    "null content": b"".join((_chunk({"content": None}), *_TEXT, _STOP, _END)),
    "usage beside content": b"".join(
        (_chunk({"content": "Hello"}, usage=_USAGE), _chunk({}, "stop", usage=_USAGE), _END)
    ),
    "content as a list": b"".join(
        (_chunk({"content": [{"type": "text", "text": "Hello"}]}), _STOP, _END)
    ),
    "tool pieces without an id": _call({"index": 0, "id": "a"}, {"index": 0}),
    "tool pieces with an empty id": _call({"index": 0, "id": "a"}, {"index": 0, "id": ""}),
    "tool pieces without an index": _call({"id": "a"}, {}),
}


def _whole(finish: str, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**_CHUNK, "object": "chat.completion", "choices": [choice], "usage": _USAGE}


_TOOL = {
    "id": "a",
    "type": "function",
    "function": {"name": CALL[0], "arguments": "".join(_ARGUMENTS)},
}
_WHOLES = {
    "whole content as a list": _whole("stop", content=[{"type": "text", "text": "Hello"}]),
    "tool call without content": _whole("tool_calls", tool_calls=[_TOOL]),
    "tool call with null content": _whole("tool_calls", content=None, tool_calls=[_TOOL]),
}
