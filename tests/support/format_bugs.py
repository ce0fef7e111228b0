"""Deliberate bugs in bundled formats, and the law that each of them breaks."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from format_mutations import (
    adding_up,
    as_user,
    asks,
    client,
    cooler,
    decoding,
    doubled,
    dropping,
    each,
    endpoints,
    error_as,
    failing_twice,
    finishing,
    first_only,
    forgiving,
    guardless,
    hears,
    held_back,
    indexed,
    late_usage_lost,
    learns,
    louder,
    negative,
    never_streaming,
    one_writer,
    only_json,
    over_full,
    parts,
    passes,
    raising,
    reads,
    seen,
    sends,
    spaced_whole,
    streams,
    strict,
    swapped,
    tells,
    turns,
    unguarded,
    unorphaned,
    unsigned,
    vendor,
    without,
    without_images,
    written,
)
from gateway_format_claude import CLAUDE
from gateway_format_openai import CHAT
from lenient_readers import lenient
from msgspec.structs import replace

from gateway_core import (
    Grammar,
    KeepAlive,
    Media,
    PartEnded,
    Reasoning,
    ReplyFailed,
    Sampling,
    Text,
    ToolCall,
    ToolResult,
    WireFormat,
)


class Bug(NamedTuple):
    """The law it breaks, the format it is added to, and the function that adds it."""

    law: str
    wire: WireFormat
    spoil: Callable[[WireFormat], WireFormat]


BUGS: Mapping[str, Bug] = {
    "wrong finish reason": Bug("replies/keeps: length", CHAT, learns(finishing("length", "stop"))),
    "content filter as a stop": Bug(
        "replies/keeps: content filter", CHAT, tells(finishing("content_filter", "stop"))
    ),
    "finish reason of a stream lost": Bug(
        "streams/folded",
        CHAT,
        written(lambda es: [replace(e, finish="stop") if hasattr(e, "finish") else e for e in es]),
    ),
    "tool arguments lost": Bug(
        "replies/keeps: tool call", CHAT, tells(parts(each(ToolCall, arguments="{}")))
    ),
    "short pieces of what grows lost": Bug(
        "streams/written-and-read",
        CHAT,
        reads(lambda old, chunk: [e for e in old(chunk) if len(getattr(e, "text", "")) != 1]),
    ),
    "tool index mixed up": Bug("streams/written-and-read", CHAT, written(first_only)),
    "second tool call lost": Bug(
        "replies/keeps: text and tool calls", CHAT, tells(parts(lambda found: found[:2]))
    ),
    "tool ids all the same": Bug(
        "replies/tool-ids", CHAT, learns(parts(each(ToolCall, id="call")))
    ),
    "call without arguments lost": Bug(
        "replies/keeps: tool call without arguments",
        CHAT,
        learns(parts(lambda ps: [p for p in ps if getattr(p, "arguments", "x") not in ("", "{}")])),
    ),
    "orphaned result lost": Bug("requests/orphaned-results", CHAT, asks(unorphaned)),
    "failed result as a good one": Bug(
        "requests/failed-results", CLAUDE, asks(turns(each(ToolResult, failed=False)))
    ),
    "tool results changed places": Bug(
        "requests/keeps: tool round", CHAT, asks(turns(lambda found: found[::-1]))
    ),
    "usage counted twice": Bug(
        "replies/parts-of-usage", CHAT, learns(lambda r: replace(r, usage=doubled(r.usage)))
    ),
    "usage of a stream added up": Bug("streams/repeated-usage", CLAUDE, adding_up()),
    "late usage lost": Bug("streams/repeated-usage", CHAT, written(late_usage_lost)),
    "more cached tokens than input": Bug("replies/parts-of-usage", CHAT, learns(over_full)),
    "choice index mixed up": Bug("streams/several-answers", CHAT, written(swapped)),
    "second choice lost": Bug(
        "replies/keeps: several answers", CHAT, tells(lambda r: replace(r, choices=r.choices[:1]))
    ),
    "unknown member not read": Bug(
        "requests/unknown-members", CHAT, hears(lambda received: replace(received, extra={}))
    ),
    "unknown member not written": Bug(
        "requests/unknown-members", CHAT, asks(lambda received: replace(received, extra={}))
    ),
    "stranger's member sent": Bug(
        "requests/strangers-members",
        CHAT,
        asks(lambda received: replace(received, dialect="openai")),
    ),
    "cut inside a letter": Bug(
        "streams/any-cut", CHAT, reads(lambda old, c: old(c.decode("utf-8", "replace").encode()))
    ),
    "CRLF not understood": Bug(
        "streams/comments-and-line-ends",
        CHAT,
        reads(lambda old, chunk: old(chunk.replace(b"\r\n\r\n", b"\r\n"))),
    ),
    "comments read as rubbish": Bug(
        "streams/comments-and-line-ends",
        CHAT,
        reads(lambda old, c: [ReplyFailed("rubbish")] if c.startswith(b": kept") else old(c)),
    ),
    "terminal frame missing": Bug(
        "streams/grammar", CHAT, streams(lambda old, es: old(es), lambda old: old()[:0])
    ),
    "terminal frame twice": Bug(
        "streams/grammar", CHAT, streams(lambda old, es: old(es), lambda old: old() * 2)
    ),
    "broken stream passes as whole": Bug("streams/cut-short", CHAT, seen(dropping(ReplyFailed))),
    "stream that broke off late passes as whole": Bug(
        "streams/cut-short", CHAT, vendor(stream_reader=lenient)
    ),
    "relay lets a stream pass that broke off late": Bug(
        "relays/cut-short", CHAT, vendor(relay=lenient)
    ),
    "parts never end": Bug("streams/order", CLAUDE, seen(dropping(PartEnded))),
    "failure not written": Bug("streams/failures", CHAT, written(dropping(ReplyFailed))),
    "one writer for all streams": Bug("streams/fresh", CLAUDE, client(stream_writer=one_writer)),
    "error status lost": Bug("errors/status", CHAT, error_as(status=502)),
    "Retry-After lost": Bug("errors/retry-after", CHAT, error_as(retry_after=None)),
    "kind lost": Bug("errors/words-for-conditions", CLAUDE, error_as(kind=None)),
    "error message lost": Bug(
        "errors/written",
        CHAT,
        client(write_error=lambda old, error, request_id: b'{"error":{"message":"failed"}}'),
    ),
    "error inside a 200 passes as an answer": Bug(
        "errors/inside-a-200", CHAT, vendor(read_reply=forgiving)
    ),
    "late error without a frame": Bug(
        "errors/late", CHAT, lambda wire: replace(wire, late_error=lambda body: body)
    ),
    "system text lost": Bug(
        "requests/keeps: system text",
        CHAT,
        asks(lambda received: replace(received, instructions=())),
    ),
    "system turn lost": Bug(
        "requests/carries: system turn",
        CHAT,
        asks(lambda a: replace(a, turns=tuple(t for t in a.turns if t.role != "system"))),
    ),
    "all turns the user's": Bug(
        "requests/keeps: turns",
        CHAT,
        hears(lambda received: replace(received, turns=tuple(map(as_user, received.turns)))),
    ),
    "image lost": Bug("requests/keeps: image", CHAT, asks(turns(without(Media)))),
    "image of an answer lost": Bug("replies/keeps: image", CLAUDE, tells(parts(without(Media)))),
    "reasoning lost": Bug("replies/keeps: reasoning", CHAT, tells(parts(without(Reasoning)))),
    "signature of an answer dropped": Bug(
        "replies/signatures", CLAUDE, tells(parts(each(Reasoning, signature=None)))
    ),
    "signature of a request dropped": Bug("requests/signatures", CLAUDE, sends(unsigned)),
    "stranger's signature sent": Bug(
        "requests/strangers-signatures", CLAUDE, asks(turns(each(Reasoning, origin="kit-vendor")))
    ),
    "order of parts changed": Bug(
        "requests/carries: two texts", CHAT, asks(turns(lambda found: found[::-1]))
    ),
    "temperature 0 dropped": Bug("requests/keeps: temperature 0", CHAT, asks(cooler)),
    "tool choice dropped": Bug(
        "requests/keeps: tool choice",
        CHAT,
        asks(lambda received: replace(received, tool_choice=None)),
    ),
    "tool description dropped": Bug(
        "requests/keeps: tools",
        CHAT,
        asks(lambda a: replace(a, tools=tuple(replace(t, description=None) for t in a.tools))),
    ),
    "empty text as null": Bug(
        "requests/empty-texts",
        CHAT,
        sends(lambda body: body.replace(b'"content":""', b'"content":null')),
    ),
    "letters of many bytes replaced": Bug(
        "requests/written-and-read",
        CHAT,
        sends(lambda body: body.decode("ascii", "replace").encode()),
    ),
    "reader raises at rubbish": Bug("streams/rubbish", CHAT, seen(raising)),
    "whole reader raises at rubbish": Bug("replies/rubbish", CHAT, vendor(read_reply=unguarded)),
    "request reader raises at rubbish": Bug(
        "requests/rubbish", CHAT, client(read_request=unguarded)
    ),
    "relay changes bytes": Bug(
        "relays/identity", CHAT, passes(lambda old, chunk: old(chunk).replace(b'":', b'": '))
    ),
    "relay holds bytes back": Bug("relays/at-once", CHAT, held_back()),
    "relay gives parts of frames": Bug(
        "relays/whole-frames", CHAT, passes(lambda old, chunk: old(chunk)[:0] + chunk)
    ),
    "relay learns no usage": Bug(
        "relays/usage", CHAT, passes(lambda old, chunk: old(chunk), usage=None)
    ),
    "relay lets a broken stream pass": Bug(
        "relays/cut-short",
        CHAT,
        passes(lambda old, chunk: old(chunk), lambda old: b"", failure=None),
    ),
    "relay counts no characters": Bug(
        "relays/characters", CHAT, passes(lambda old, chunk: old(chunk), characters=0)
    ),
    "estimate negative": Bug("counting/estimates", CLAUDE, negative),
    "wish for a stream not read": Bug("endpoints/read", CHAT, never_streaming),
    "keep-alive frame not whole": Bug(
        "declared/keep-alive",
        CLAUDE,
        lambda wire: replace(wire, keep_alive=KeepAlive(frame=b"event: ping\n")),
    ),
    "base URL with a slash": Bug(
        "declared/facts", CHAT, lambda wire: replace(wire, base_url="https://x/")
    ),
    "model not in the path": Bug(
        "declared/paths", CHAT, lambda wire: replace(wire, model_in_body=False)
    ),
    "texts lost": Bug("replies/written-and-read", CHAT, learns(parts(without(Text)))),
    "any frame is grammatical": Bug(
        "declared/grammar",
        CHAT,
        lambda wire: replace(wire, grammar=Grammar(words=lambda _: [], pattern=".*")),
    ),
    "endpoint without a slash": Bug(
        "endpoints/paths", CHAT, endpoints(lambda e: replace(e, path=e.path[1:]))
    ),
    "endpoint raises": Bug(
        "endpoints/rubbish", CHAT, endpoints(lambda e: replace(e, read=guardless(e.read)))
    ),
    "estimate raises": Bug(
        "counting/rubbish", CLAUDE, endpoints(lambda e: replace(e, counting=decoding(e.counting)))
    ),
    "strange part raises": Bug("requests/any-conversation", CHAT, asks(turns(indexed))),
    "odd member raises": Bug("requests/odd-members", CHAT, client(read_request=unguarded)),
    "limit lost": Bug(
        "requests/keeps: max_tokens", CHAT, asks(lambda a: replace(a, sampling=Sampling()))
    ),
    "seed 0 lost": Bug(
        "requests/keeps: seed 0",
        CHAT,
        asks(lambda a: replace(a, sampling=replace(a.sampling, seed=None))),
    ),
    "stop lost": Bug(
        "requests/keeps: stop",
        CHAT,
        asks(lambda a: replace(a, sampling=replace(a.sampling, stop=()))),
    ),
    "schema lost": Bug(
        "requests/keeps: output schema", CHAT, asks(lambda a: replace(a, output=None))
    ),
    "error message grows": Bug("errors/kind", CHAT, vendor(read_error=louder)),
    "error status of a page lost": Bug(
        "errors/status-of-the-answer", CHAT, vendor(read_error=only_json)
    ),
    "error reader raises at rubbish": Bug("errors/rubbish", CHAT, vendor(read_error=only_json)),
    "relay raises at rubbish": Bug("relays/rubbish", CHAT, passes(strict)),
    "relay changes whole answers": Bug("relays/whole-answers", CHAT, spaced_whole),
    "relay fails twice": Bug("relays/fail", CHAT, failing_twice),
    "image of a stream lost": Bug("streams/keeps-losses", CLAUDE, written(without_images)),
    "empty stream": Bug(
        "streams/nothing-said", CHAT, streams(lambda old, events: old(events), lambda old: b"")
    ),
}
"""By name, with the law that each of them breaks."""
