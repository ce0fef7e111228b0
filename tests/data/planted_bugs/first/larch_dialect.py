"""How the mock vendor answers in Larch's format."""

import json
from collections.abc import Sequence
from typing import Any

from gateway_kit.mock_vendor import Content, Dialect, Frame


def tally(content: Content) -> dict[str, Any]:
    counts = content.usage
    if counts is None:
        return {}
    numbers = {
        "fresh": counts.input - counts.cached,
        "held": counts.cached,
        "out": counts.output - counts.reasoning,
        "musing": counts.reasoning,
    }
    return {"tally": numbers}


def finish(content: Content) -> dict[str, Any]:
    return {"why": "calls" if content.calls else "done", **tally(content)}


def whole(content: Content, model: str) -> bytes:
    items: list[dict[str, Any]] = []
    if content.thinking:
        items.append({"is": "musing", "words": "".join(content.thinking)})
    if content.text:
        items.append({"is": "words", "words": content.words})
    items += [
        {"is": "call", "ref": call.id, "fn": call.name, "args": call.arguments}
        for call in content.calls
    ]
    answer = {"is": "answer", "ref": "l-1", "engine": model, "items": items}
    return json.dumps({**answer, **finish(content)}).encode()


def event(**members: Any) -> bytes:
    return b"data: " + json.dumps(members).encode() + b"\n\n"


def stream(content: Content, model: str) -> Sequence[Frame]:
    frames = [Frame("start", event(**{"is": "opened"}, ref="l-1", engine=model))]
    frames += [
        Frame("thinking", event(**{"is": "musing"}, words=words)) for words in content.thinking
    ]
    frames += [Frame("text", event(**{"is": "words"}, words=words)) for words in content.text]
    for call in content.calls:
        frames.append(Frame("call", event(**{"is": "call"}, ref=call.id, fn=call.name)))
        text = json.dumps(call.arguments)
        frames += [
            Frame("call", event(**{"is": "args"}, ref=call.id, text=piece))
            for piece in (text[:5], text[5:])
        ]
    frames.append(Frame("finish", event(**{"is": "closed"}, **finish(content))))
    return frames


def refusal(text: str, status: int) -> bytes:
    return json.dumps({"is": "trouble", "kind": "refused", "words": text}).encode()


def broken(text: str) -> bytes:
    return event(**{"is": "trouble"}, kind="broken", words=text)


LARCH = Dialect(
    id="larch",
    whole=whole,
    stream=stream,
    refusal=refusal,
    broken=broken,
    model_member="engine",
    stream_member="streaming",
)
