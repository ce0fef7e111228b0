"""Recorded answers, whole and streamed, against a naive reading of the same JSON."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from corpus import Item, answer, items, named
from gateway_format_openai import CHAT, COMPLETIONS
from msgspec import Raw
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from gateway_core import (
    AnyPart,
    Call,
    ClientSide,
    Conversation,
    Foreign,
    Losses,
    Media,
    Reasoning,
    Refusal,
    Reply,
    ReplyFailed,
    StreamEvent,
    Target,
    Text,
    ToolCall,
    UpstreamError,
    VendorSide,
)
from gateway_formats.fold import gather, unfold
from gateway_formats.grammar import find_violation

ITEMS = items("openai_chat")
REFUSED = [item for item in ITEMS if item["response_status"] >= 400]
BROKEN = {
    "groq-pydantic-ai-test-tool-use-failed-error-streaming-56fbcf": 400,
    "groq-pydantic-ai-test-tool-use-failed-error-streaming-with-text-39eca1": 400,
    "groq-reqllm-meta-llama-llama-4-scout-17b-16e-instruct-object-streaming-8857fd": 400,
    "openrouter-pydantic-ai-test-openrouter-stream-error-d51b34": 400,
    "openrouter-reqllm-meta-llama-llama-3-3-70b-instruct-free-object-streaming-04ddc5": 502,
    "openrouter-reqllm-mistralai-devstral-small-2505-tool-round-trip-2-500315": 502,
    "openrouter-reqllm-mistralai-mistral-small-3-1-24b-instruct-tool-round-trip-2-548479": 502,
    "openrouter-reqllm-nousresearch-hermes-4-405b-token-limit-7feebf": 502,
}
"""Answers with status 200 that hold an error, and the status that the error amounts to."""
FAILED = [item for item in ITEMS if item["id"] in BROKEN]
GOOD = [i for i in ITEMS if i["response_status"] == 200 and i["id"] not in BROKEN]
STREAMS = [item for item in GOOD if item["stream"]]
WHOLE = [item for item in GOOD if not item["stream"]]
CUT = [item for item in STREAMS if len(answer(item)) < 6000]
"""Short enough to be cut at every byte."""

Disorder = Callable[[Iterable[StreamEvent]], str | None]
ASKED = Conversation(stream_usage=False)


def test_the_corpus_is_split_without_a_rest() -> None:
    assert len(REFUSED) + len(FAILED) + len(STREAMS) + len(WHOLE) == len(ITEMS) == 554
    assert len(FAILED) == len(BROKEN)
    assert len(CUT) > 30


def rows(item: Item) -> list[dict[str, Any]]:
    """The JSON of every frame, or of the one whole answer."""
    if not item["stream"]:
        return [msgspec.json.decode(answer(item))]
    lines = answer(item).replace(b"\r\n", b"\n").split(b"\n")
    data = [line[5:].strip() for line in lines if line.startswith(b"data:")]
    return [msgspec.json.decode(text) for text in data if text != b"[DONE]"]


def naive(item: Item) -> list[dict[str, Any]]:
    """What each choice says, read as plainly as can be."""
    output: dict[int, dict[str, Any]] = {}
    for row in rows(item):
        for choice in row.get("choices") or ():
            index = choice.get("index") or 0
            held = output.setdefault(
                index, {"text": "", "thinking": "", "refusal": "", "calls": []}
            )
            kinds = ("delta", "message") if item["stream"] else ("message", "delta")
            message = choice.get(kinds[0]) or choice.get(kinds[1]) or {}
            add(held, message)
            held["finish"] = choice.get("finish_reason") or held.get("finish")
    return [closed(output[index]) for index in sorted(output)]


def add(held: dict[str, Any], message: dict[str, Any]) -> None:
    content = message.get("content") or ""
    pieces: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
    held["text"] += "".join(p["text"] for p in pieces if p["type"] == "text")
    inner = [p["thinking"] for p in pieces if p["type"] == "thinking"]
    held["thinking"] += "".join(t["text"] for texts in inner for t in texts)
    details = message.get("reasoning_details") or []
    shown = [d.get("text") or d.get("summary") or "" for d in details]
    plain = message.get("reasoning_content") or message.get("reasoning") or ""
    held["thinking"] += "".join(shown) if details else plain
    held["refusal"] += message.get("refusal") or ""
    calls = message.get("tool_calls") or []
    if (message.get("function_call") or {}).get("name"):
        calls = [*calls, {"index": 0, "function": message["function_call"]}]
    for position, call in enumerate(calls):
        add_call(held["calls"], call, position)


def add_call(calls: list[dict[str, Any]], call: dict[str, Any], position: int) -> None:
    """In these recordings a name begins a call, and a number or the last call goes on."""
    function = call.get("function") or call.get("custom") or {}
    text = function.get("arguments") or function.get("input") or ""
    index = call.get("index")
    number = index if index is not None else max(position, len(calls) - 1)
    if function.get("name") and not any(c["number"] == number for c in calls):
        calls.append({"number": number, "name": function["name"], "text": "", "id": call.get("id")})
    next(c for c in calls if c["number"] == number)["text"] += text


def closed(output: dict[str, Any]) -> dict[str, Any]:
    word = output.pop("finish", None) or "stop"
    known = {"function_call": "tool_calls", "eos": "stop"}
    finish = known.get(word, word)
    if finish == "stop" and output["calls"]:
        finish = "tool_calls"
    if finish == "stop" and output["refusal"] and not output["text"]:
        finish = "refusal"
    calls = [(c["name"], c["text"]) for c in output.pop("calls")]
    return {**output, "calls": calls, "finish": finish}


def reported(reply: Reply) -> list[dict[str, Any]]:
    """The same of a reply that our reader gave."""
    return [
        {
            "text": joined(choice.parts, Text),
            "thinking": joined(choice.parts, Reasoning),
            "refusal": joined(choice.parts, Refusal),
            "calls": [(p.name, p.arguments) for p in choice.parts if isinstance(p, ToolCall)],
            "finish": choice.finish,
        }
        for choice in reply.choices
    ]


def joined(parts: Iterable[AnyPart], kind: type[Text | Reasoning | Refusal]) -> str:
    return "".join(part.text for part in parts if isinstance(part, kind))


def counted(item: Item) -> tuple[int, int, int] | None:
    """Prompt, completion and cached tokens of the last report, by the vendors' own books."""
    found = None
    for row in rows(item):
        usage = row.get("usage") or (row.get("x_groq") or {}).get("usage")
        if usage and (usage["prompt_tokens"] or usage["completion_tokens"]):
            found = usage
    if found is None:
        return None
    prompt, completion = found["prompt_tokens"], found["completion_tokens"]
    details = found.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or found.get("prompt_cache_hit_tokens") or 0
    cached = cached or found.get("cached_tokens") or found.get("num_cached_tokens") or 0
    if item["vendor"] == "xai":  # thinking is counted beside the completion
        completion = found["total_tokens"] - prompt
    if cached > prompt:  # cached tokens are counted beside the prompt
        prompt += cached
    return prompt, completion, cached


def read(vendor: VendorSide, chunks: Iterable[bytes]) -> list[StreamEvent]:
    reader = vendor.stream_reader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + list(reader.close())


def check(item: Item, reply: Reply) -> None:
    assert reported(reply) == naive(item)
    usage = reply.usage
    books = (usage.input_tokens, usage.output_tokens, usage.cached_tokens) if usage else None
    assert books == counted(item)
    first = next(row for row in rows(item) if row.get("choices"))
    assert reply.model == first.get("model", "")
    assert reply.id == first.get("id", "")


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_says_what_its_json_says(vendor: VendorSide, item: Item) -> None:
    reply = vendor.read_reply(answer(item))

    check(item, reply)


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_says_what_its_json_says(vendor: VendorSide, item: Item) -> None:
    check(item, gather(read(vendor, [answer(item)])))


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_is_the_same_however_it_is_cut(vendor: VendorSide, item: Item) -> None:
    data = answer(item)
    whole = read(vendor, [data])
    dice = random.Random(item["id"])

    for _ in range(3):
        cuts = sorted(dice.sample(range(1, len(data)), min(40, len(data) - 1)))
        pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        assert read(vendor, pieces) == whole


@pytest.mark.parametrize("item", CUT, ids=named)
def test_a_stream_is_the_same_byte_by_byte(vendor: VendorSide, item: Item) -> None:
    data = answer(item)

    assert read(vendor, [data[i : i + 1] for i in range(len(data))]) == read(vendor, [data])


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_the_events_of_a_stream_come_in_the_promised_order(
    vendor: VendorSide, disorder: Disorder, item: Item
) -> None:
    assert disorder(read(vendor, [answer(item)])) is None


@pytest.mark.parametrize("item", FAILED, ids=named)
def test_an_error_in_disguise_is_an_error(vendor: VendorSide, item: Item) -> None:
    expected = BROKEN[item["id"]]
    if item["stream"]:
        last = read(vendor, [answer(item)])[-1]
        assert isinstance(last, ReplyFailed)
        assert last.status == expected
        return
    with pytest.raises(UpstreamError) as raised:
        vendor.read_reply(answer(item))
    assert raised.value.status == expected


@pytest.mark.parametrize("item", REFUSED, ids=named)
def test_a_refusal_keeps_the_vendors_words(vendor: VendorSide, item: Item) -> None:
    body = answer(item)
    error = vendor.read_error(item["response_status"], item["response_headers"], body)

    assert error.status == item["response_status"]
    output = msgspec.json.decode(body) if body else {}
    inner = output.get("error") or output.get("detail")
    words = inner.get("message") if isinstance(inner, dict) else inner
    assert error.message.startswith(
        (words or "The upstream answered 500").split("\n")[0].strip()[:500]
    )
    header = item["response_headers"].get("x-request-id")
    assert header is None or error.request_id == header


def written_again(client: ClientSide, events: Iterable[StreamEvent]) -> bytes:
    writer = client.stream_writer(ASKED, Losses())
    return b"".join(writer.feed((event,)) for event in events) + writer.close()


def data_of(written: bytes) -> list[bytes]:
    frames = [frame for frame in written.split(b"\n\n") if frame]
    return [frame.removeprefix(b"data: ") for frame in frames if frame != b"data: [DONE]"]


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_written_again_is_the_same_answer(
    client: ClientSide, vendor: VendorSide, item: Item
) -> None:
    events = read(vendor, [answer(item)])

    written = written_again(client, events)

    assert CHAT.grammar is not None
    assert find_violation(CHAT.grammar, written) is None
    for data in data_of(written):
        ChatCompletionChunk.model_validate_json(data)
    again = gather(read(vendor, [written]))
    assert spaceless(reported(again)) == spaceless(reported(gather(events)))
    assert logprobs(again) == logprobs(gather(events))


def spaceless(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Texts of several parts are set apart; calls without arguments get an empty object."""
    for choice in output:
        choice["calls"] = [(name, text or "{}") for name, text in choice["calls"]]
        for name in ("text", "thinking"):
            choice[name] = "".join(choice[name].split())
    return output


def logprobs(reply: Reply) -> list[Any]:
    found = [choice.logprobs for choice in reply.choices]
    return [None if raw is None else msgspec.json.decode(raw) for raw in found]


@pytest.mark.parametrize("item", GOOD, ids=named)
def test_an_answer_written_whole_is_the_same_answer(
    client: ClientSide, vendor: VendorSide, item: Item
) -> None:
    data = answer(item)
    reply = gather(read(vendor, [data])) if item["stream"] else vendor.read_reply(data)

    written = client.write_reply(reply, ASKED, Losses())

    ChatCompletion.model_validate_json(written)
    again = vendor.read_reply(written)
    assert spaceless(reported(again)) == spaceless(reported(reply))
    assert again.usage == reply.usage
    assert logprobs(again) == logprobs(reply)
    assert msgspec.json.decode(written)["choices"][0]["message"]["role"] == "assistant"


@pytest.mark.parametrize("item", GOOD, ids=named)
def test_an_answer_fits_the_older_format_too(
    older_client: ClientSide, vendor: VendorSide, item: Item
) -> None:
    data = answer(item)
    reply = gather(read(vendor, [data])) if item["stream"] else vendor.read_reply(data)

    written = written_again(older_client, unfold(reply))

    Completion.model_validate_json(older_client.write_reply(reply, ASKED, Losses()))
    assert COMPLETIONS.grammar is not None
    assert find_violation(COMPLETIONS.grammar, written) is None
    choices = [choice for row in data_of(written) for choice in msgspec.json.decode(row)["choices"]]
    output = reported(reply)
    text = "".join(choice["text"] for choice in choices if choice["index"] == 0)
    assert text == output[0]["text"] + output[0]["refusal"]


@pytest.mark.parametrize("item", STREAMS, ids=named)
def test_a_stream_passes_through_byte_for_byte(
    vendor: VendorSide, call: Callable[..., Call], target: Target, item: Item
) -> None:
    data = answer(item)
    received = call({"messages": [], "stream_options": {"include_usage": True}}, stream=True)
    members = msgspec.json.decode(received.body, type=dict[str, Raw])
    relay = vendor.relay(received, target, members)
    dice = random.Random(item["id"])
    cuts = sorted(dice.sample(range(1, len(data)), min(20, len(data) - 1)))

    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    passed = b"".join(relay.feed(piece) for piece in pieces) + relay.close()

    end = b"" if b"[DONE]" in data else b"data: [DONE]\n\n"
    assert passed.rstrip() == (data + end).rstrip()
    assert relay.failure is None
    reply = gather(read(vendor, [data]))
    assert relay.usage == reply.usage
    assert relay.started
    assert relay.characters == sum(length(p) for c in reply.choices for p in c.parts)
    assert CHAT.grammar is not None
    assert find_violation(CHAT.grammar, passed) is None


def length(part: AnyPart) -> int:
    if isinstance(part, ToolCall):
        return len(part.name) + len(part.arguments)
    return 0 if isinstance(part, Foreign | Media) else len(getattr(part, "text", ""))


@pytest.mark.parametrize("item", WHOLE, ids=named)
def test_a_whole_answer_passes_through_byte_for_byte(
    vendor: VendorSide, call: Callable[..., Call], target: Target, item: Item
) -> None:
    relay = vendor.relay(call({"messages": []}), target, {})

    passed = relay.feed(answer(item)) + relay.close()

    assert passed == answer(item)
    reply = vendor.read_reply(answer(item))
    assert relay.usage == reply.usage
    assert relay.characters == sum(length(p) for c in reply.choices for p in c.parts)


@pytest.mark.parametrize("item", FAILED, ids=named)
def test_an_error_in_disguise_does_not_pass(
    vendor: VendorSide, call: Callable[..., Call], target: Target, item: Item
) -> None:
    relay = vendor.relay(call({"messages": []}, stream=item["stream"]), target, {})

    passed = relay.feed(answer(item)) + relay.close()

    assert relay.failure is not None
    assert relay.failure.status == BROKEN[item["id"]]
    assert CHAT.grammar is not None
    assert not passed or find_violation(CHAT.grammar, passed) is None


@pytest.mark.parametrize("item", STREAMS[::7], ids=named)
def test_a_stream_cut_short_anywhere_ends_with_an_error(
    client: ClientSide, vendor: VendorSide, item: Item
) -> None:
    data = answer(item)
    dice = random.Random(item["id"])
    for end in dice.sample(range(len(data)), 5):
        events = read(vendor, [data[:end]])
        written = written_again(client, events)
        assert CHAT.grammar is not None
        assert find_violation(CHAT.grammar, written) is None
        is_whole = not isinstance(events[-1], ReplyFailed)
        assert is_whole == (b"[DONE]" in written)
