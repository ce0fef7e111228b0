"""The facts about one request, collected while it runs, for its row in the ledger."""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic

from ..contracts.errors import GatewayError
from ..contracts.exchange import Exchange
from ..contracts.provider import Target
from ..contracts.usage import Usage
from ..identity.keys import Key
from ..storage.stores.usage import FailedAttempt, Status
from ..upstream.redaction import redact
from .request_log_entry import RequestLogEntry

MOST_FAILURES = 32
LONGEST_ERROR = 300
"""Characters of what a vendor said, and of a plugin's note."""
MOST_NOTES = 32


class RequestRecord:
    """Filled in as a request goes along; read once, when it is over."""

    __slots__ = (
        "attempts",
        "begun",
        "combo_id",
        "combo_name",
        "connection_id",
        "detail",
        "dropped",
        "endpoint",
        "error",
        "error_code",
        "failures",
        "first_byte",
        "format",
        "http_status",
        "is_counted",
        "is_recorded",
        "key",
        "model",
        "notes",
        "on_failure",
        "over",
        "request_id",
        "started_at",
        "status",
        "stream",
        "target",
        "upstream_format",
        "usage",
    )

    def __init__(
        self,
        request_id: str,
        endpoint: str,
        client_format: str,
        started_at: float,
        key: Key | None = None,
    ) -> None:
        self.request_id = request_id
        self.endpoint = endpoint
        """The path of its route, with parameters in braces."""
        self.format = client_format
        self.started_at = started_at
        """Wall clock, seconds."""
        self.key = key
        self.begun = monotonic()
        self.is_counted = False
        """Whether the limits of its key have admitted it."""
        self.is_recorded = False
        self.first_byte: float | None = None
        """Monotonic, when the first byte of an answer went out."""
        self.over = 0.0
        self.model = ""
        self.stream = False
        self.target: Target | None = None
        self.upstream_format: str | None = None
        self.connection_id: str | None = None
        self.combo_id: str | None = None
        self.combo_name: str | None = None
        self.attempts = 0
        self.failures: tuple[FailedAttempt, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.usage: Usage | None = None
        self.status: Status = "ok"
        self.http_status = 200
        self.error: str | None = None
        """What the client was answered instead, without secrets."""
        self.error_code: str | None = None
        self.dropped: tuple[str, ...] = ()
        self.detail: RequestLogEntry | None = None
        """The contents, while the request log is on."""

    on_failure: Callable[[Exchange, str, BaseException], None]
    """Called when an attempt fails, with its exchange and the account's id. There is none, not even
    ``None``, where no observer follows the request: setting it would cost every request."""

    def add_usage(self, usage: Usage | None) -> None:
        """Count what was used besides what the answer itself will report."""
        if usage is None:
            return
        if self.usage is None:
            self.usage = usage
            return
        mine = self.usage
        self.usage = Usage(
            input_tokens=mine.input_tokens + usage.input_tokens,
            output_tokens=mine.output_tokens + usage.output_tokens,
            cached_tokens=mine.cached_tokens + usage.cached_tokens,
            cache_write_tokens=mine.cache_write_tokens + usage.cache_write_tokens,
            reasoning_tokens=mine.reasoning_tokens + usage.reasoning_tokens,
            estimated=mine.estimated or usage.estimated,
            units=added(mine.units, usage.units),
        )

    def attempt_failed(self, target: Target, error: GatewayError) -> None:
        """Note that the attempt under way gave no answer. One that never left is none."""
        if len(self.failures) >= min(self.attempts, MOST_FAILURES):
            return
        failure = FailedAttempt(
            target.provider.id,
            target.model.id,
            round((monotonic() - self.begun) * 1000),
            error.status,
            self.connection_id,
            error.code,
            error.message[:LONGEST_ERROR],
        )
        self.failures = (*self.failures, failure)

    def note(self, text: str) -> None:
        """Keep what a plugin has to say about the request, once and cut to a bound."""
        text = text[:LONGEST_ERROR]
        if len(self.notes) < MOST_NOTES and text not in self.notes:
            self.notes = (*self.notes, text)

    def failed(
        self, error: GatewayError, status: Status = "error", secrets: Iterable[str] = ()
    ) -> None:
        """Note a failure. ``secrets`` are those of the account, which a vendor may repeat."""
        self.status = status
        self.http_status = error.status
        self.error_code = error.code
        self.error = redact(error.message, secrets)


def added(
    first: Mapping[str, float] | None, second: Mapping[str, float] | None
) -> Mapping[str, float] | None:
    """Units of two usages together."""
    if not first or not second:
        return first or second
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}
