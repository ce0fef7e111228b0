"""The most that a call can use, before it is sent.

```text
input    a token is a byte of the request at least, and the context window at most
output   what the request allows, or the longest answer of the model
cost     the dearest of the models it may go to, with every token of the dearest class
```

What a vendor adds by itself, such as the results of its own search, is not known before.
"""

import msgspec
from msgspec.structs import replace

from gateway_core.contracts.conversation import Conversation, Foreign, Media, ToolResult
from gateway_core.contracts.errors import Forbidden
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import Call, Target
from gateway_core.contracts.usage import Usage
from gateway_core.contracts.wire import Answered
from gateway_core.metering.prices import Prices
from gateway_core.pipeline.request_run import RequestRun
from gateway_core.routing.plan import Plan
from gateway_core.storage.stores.key_usage import Spending

CODE = "group_unbounded"
FRAME = 1024
"""Tokens that vendors put around a conversation: marks of turns, and words about tools."""
KEPT = ("previous_response_id", "conversation", "container", "cachedContent")
"""Members that stand for input which a vendor keeps, as an object ``prompt`` does."""


def greatest(run: RequestRun, plan: Plan, prices: Prices, *, in_money: bool) -> Spending:
    """The most that a call of this plan can use.

    Raises Forbidden where that is not known, and what reading the request raises.
    """
    call = run.call
    if call.kind == Kind.EMBEDDING and call.format in run.translation.formats:
        return _most(run, plan, prices, len(call.body), 0, is_whole=False, in_money=in_money)
    if call.kind != Kind.LLM or call.format not in run.translation.formats:
        raise _unbounded(f"what a call for {call.kind} costs is not known before it")
    if plan.strategy == "fusion":
        raise _unbounded("what a fusion costs is not known before it")
    try:
        conversation = run.translation.conversation()
    except Answered:  # No vendor is asked.
        return Spending()
    sampling, text = conversation.sampling, _length(call, conversation)
    answers = max(1, sampling.candidates or 1)
    output = None if sampling.max_tokens is None else sampling.max_tokens * answers
    return _most(run, plan, prices, text, output, answers=answers, in_money=in_money)


def _most(
    run: RequestRun,
    plan: Plan,
    prices: Prices,
    text: int | None,
    output: int | None,
    *,
    answers: int = 1,
    is_whole: bool = True,
    in_money: bool,
) -> Spending:
    """The dearest member; of a combo each account may give an empty answer first.

    ``text`` is in bytes; ``is_whole`` says that all of it has to fit into one context window.
    """
    accounts = (run.snapshot.accounts.get(m.target.provider.id, ()) for m in plan.members)
    tries = 1 + sum(map(len, accounts)) if plan.combo is not None else 1
    most = Spending(1)
    for member in plan.members:
        target, model = member.target, member.target.model
        read = model.context if text is None else text + FRAME
        if is_whole and read is not None and model.context is not None:
            read = min(read, model.context)
        longest = model.max_output or model.context
        written = output if output is not None else longest and longest * answers
        if read is None:
            raise _unbounded(f"the context window of {target} is not known")
        if written is None:
            raise _unbounded(f"the longest answer of {target} is not known; set a limit of tokens")
        cost = _cost(prices, target, read * tries, written) if in_money else 0
        most = Spending(
            1,
            max(most.input_tokens, read * tries),
            max(most.output_tokens, written),
            max(most.cost, cost),
        )
    return most


def _cost(prices: Prices, target: Target, read: int, written: int) -> int:
    """Millionths of a dollar, with all of the input and all of the output in one class each."""
    usage = Usage(input_tokens=read, output_tokens=written)
    classes = [usage, replace(usage, cached_tokens=read), replace(usage, cache_write_tokens=read)]
    classes += [replace(each, reasoning_tokens=written) for each in classes]
    costs = [prices.cost(target, each) for each in classes]
    if any(cost is None for cost in costs):
        raise Forbidden(
            f"The price of {target} is not known, and its calls are reserved", code="model_unpriced"
        )
    return max(cost for cost in costs if cost is not None)


def _length(call: Call, conversation: Conversation) -> int | None:
    """Bytes of what is read; ``None`` where their number says nothing about tokens."""
    prompt = bytes(call.members.get("prompt", b""))
    kept = (bytes(call.members.get(name, b"null")) for name in KEPT)
    if conversation.elsewhere or prompt.startswith(b"{") or any(one != b"null" for one in kept):
        return None
    parts = (part for turn in conversation.turns for part in turn.parts)
    if any(_is_media(part) for part in parts):
        return None
    return len(call.body) + len(msgspec.json.encode(call.conversation or ""))


def _is_media(part: object) -> bool:
    if isinstance(part, ToolResult):
        return any(_is_media(each) for each in part.content)
    return isinstance(part, Foreign) or (isinstance(part, Media) and part.text is None)


def _unbounded(why: str) -> Forbidden:
    return Forbidden(f"This key's group reserves what calls may cost, and {why}", code=CODE)
