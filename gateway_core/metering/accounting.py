"""What an answer used, for its row in the ledger."""

from msgspec.structs import replace

from ..contracts.exchange import Exchange
from ..contracts.provider import Call
from ..contracts.usage import Usage
from .request_record import RequestRecord


def account(call: Call, exchange: Exchange, record: RequestRecord, *, is_over: bool) -> None:
    """Add what an exchange used and lost; ``is_over`` when its vendor sent the whole answer."""
    lost = exchange.losses.names
    if lost:
        record.dropped = tuple(lost)
    record.upstream_format = exchange.upstream_format
    usage = read_usage(call, exchange, is_over=is_over)
    if record.usage is None:
        record.usage = usage
    else:
        record.add_usage(usage)


def read_usage(call: Call, exchange: Exchange, *, is_over: bool) -> Usage:
    """What the vendor reported; four characters to a token where it did not.

    Some vendors report the prompt first and the answer last. When a stream
    breaks off in between, the report covers less than the text that came.
    """
    usage = exchange.usage
    if usage is not None and is_over and exchange.failure is None:
        return usage
    estimate = -(-exchange.characters // 4)
    if usage is None:
        prompt = max(1, len(call.body) // 4)
        return Usage(input_tokens=prompt, output_tokens=estimate, estimated=True)
    # A complete report may be somewhat below the estimate, but never this far.
    if estimate <= 2 * usage.output_tokens + 16:
        return usage
    return replace(usage, output_tokens=estimate, estimated=True)
