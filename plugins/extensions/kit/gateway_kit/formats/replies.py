"""Laws of whole answers: what is written can be read, and what is lost is said."""

from gateway_core import (
    Reply,
    UpstreamError,
    Usage,
    seal,
    seal_base64,
)

from . import normal_form, sample_values
from .case import Law, check_each, expect, expect_equal, has_both, has_client, has_vendor, law
from .harness import FormatHarness
from .strategies import replies, rubbish

MARKS = (seal("", "")[:-1].encode(), seal_base64("", "x")[:8].encode())
"""What a sealed value begins with, in plain and in base64."""


@law(
    "replies/written-and-read",
    "reading an answer that was written gives another answer",
    "make write_reply and read_reply agree on text, reasoning, tool calls, finish and usage",
    has_both,
)
def written_and_read(bench: FormatHarness) -> None:
    def check(reply: Reply) -> None:
        body, losses = bench.write_reply(reply)
        expect(not losses, f"losses {list(losses.names)}")
        expect_equal(
            normal_form.normalize_reply(bench.vendor.read_reply(body)),
            normal_form.normalize_reply(reply),
        )

    check_each(bench, replies(), check)


@law(
    "replies/tool-ids",
    "two tool calls of one answer share an id, or a call comes without one",
    "give every call an id of its own, and keep the one it has",
    has_both,
)
def tool_ids(bench: FormatHarness) -> None:
    body, _ = bench.write_reply(sample_values.REPLIES["text and tool calls"])
    ids = normal_form.call_ids(bench.vendor.read_reply(body))

    expect(len(set(ids)) == 2 and all(ids), ids)
    if sample_values.FIRST.id.encode() in body:
        expect_equal(ids, [sample_values.FIRST.id, sample_values.SECOND.id], "ids:")


@law(
    "replies/signatures",
    "a vendor's signature of its thinking does not reach the client",
    "seal it into your dialect's own slot or into a tool call's id, or name it in losses",
    has_client,
)
def signatures(bench: FormatHarness) -> None:
    body, losses = bench.write_reply(sample_values.REPLIES["signed reasoning"])

    expect(any(mark in body for mark in MARKS) or bool(losses), body)


@law(
    "replies/parts-of-usage",
    "a part of the usage is more than the whole, or is counted twice",
    "input_tokens holds cached and cache-write tokens, output_tokens holds reasoning tokens",
    has_both,
)
def parts_of_usage(bench: FormatHarness) -> None:
    for name in ("parts of usage", "cache writes"):
        body, _ = bench.write_reply(sample_values.REPLIES[name])
        actual, expected = bench.vendor.read_reply(body).usage, sample_values.REPLIES[name].usage
        assert expected is not None
        expect_equal(normal_form.usage_counts(actual), normal_form.usage_counts(expected), "usage:")
        expect(actual is not None and _is_part(actual, expected), actual, expected)


@law(
    "replies/recorded",
    "a recorded answer cannot be read, or its usage does not add up",
    "read every member that vendors send; unknown ones are skipped or kept in extra",
    has_vendor,
)
def recorded(bench: FormatHarness) -> None:
    for body in bench.samples.replies:
        reply = bench.vendor.read_reply(body)
        expect(bool(reply.choices), body)
        expect(reply.usage is None or adds_up(reply.usage), reply.usage)


@law(
    "replies/rubbish",
    "an answer that makes no sense raises something else than UpstreamError",
    "catch what your decoder raises and raise UpstreamError",
    has_vendor,
)
def bodies_of_rubbish(bench: FormatHarness) -> None:
    def check(body: bytes) -> None:
        try:
            reply = bench.vendor.read_reply(body)
        except UpstreamError:
            return
        expect(isinstance(reply, Reply), reply)

    check_each(bench, rubbish, check)


def _is_part(actual: Usage, expected: Usage) -> bool:
    """A dialect may not have the part's count, but it may not have another one."""
    names = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")
    return all(getattr(actual, name) in (0, getattr(expected, name)) for name in names)


def adds_up(usage: Usage) -> bool:
    """Parts are within their wholes, and nothing is negative."""
    cached = usage.cached_tokens + usage.cache_write_tokens
    counts = (usage.input_tokens - cached, usage.output_tokens - usage.reasoning_tokens)
    return min(*counts, usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens) >= 0


def feature(name: str, reply: Reply) -> Law:
    """A law of one feature: it is there when read back, or losses name it."""

    @law(
        f"replies/keeps: {name}",
        f"what an answer says is lost in silence: {name}",
        "write it as your clients read it, or name it in losses",
        has_both,
    )
    def kept(bench: FormatHarness) -> None:
        body, losses = bench.write_reply(reply)
        actual = bench.vendor.read_reply(body)
        expect(
            bool(losses)
            or normal_form.normalize_reply(actual) == normal_form.normalize_reply(reply),
            actual,
            reply,
        )

    return kept


LAWS: tuple[Law, ...] = (
    written_and_read,
    tool_ids,
    signatures,
    parts_of_usage,
    recorded,
    bodies_of_rubbish,
    *(feature(name, reply) for name, reply in sample_values.REPLIES.items()),
)
