"""What an answer used, for its row in the ledger."""

from msgspec.structs import replace

from ..contracts.exchange import Exchange
from ..contracts.provider import Call
from ..contracts.usage import Usage
from .request_record import RequestRecord


def account(call: Call, exchange: Exchange, record: RequestRecord, *, is_over: bool) -> None:
    """Note what an exchange has used and lost; ``is_over`` when its vendor has said it all."""
    lost = exchange.losses.names
    if lost:
        record.dropped = tuple(lost)
    record.upstream_format = exchange.upstream_format
    its = used(call, exchange, is_over=is_over)
    if record.usage is None:
        record.usage = its
    else:
        record.add_usage(its)


def used(call: Call, exchange: Exchange, *, is_over: bool) -> Usage:
    """What the vendor reported; four characters to a token where it did not.

    Some vendors report the prompt first and the answer last. Of a stream that
    broke off in between, the report so far tells less than what was heard.
    """
    usage = exchange.usage
    if usage is not None and is_over and exchange.failure is None:
        return usage
    heard = -(-exchange.characters // 4)
    if usage is None:
        return Usage(input_tokens=max(1, len(call.body) // 4), output_tokens=heard, estimated=True)
    # A complete report may be somewhat below the estimate, but never this far.
    if heard <= 2 * usage.output_tokens + 16:
        return usage
    return replace(usage, output_tokens=heard, estimated=True)
