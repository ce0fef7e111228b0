"""What is counted for Prometheus. ``board.json`` shows it in Grafana."""

from collections.abc import Mapping
from typing import Any

from .shared_values import Counted, SharedValues
from .spans import EndedAttempt

OTHER = "other"
SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
MODEL = ("provider", "model")

REQUESTS = Counted(
    "model_gateway_requests", "Requests that have ended.", "operation", *MODEL, "status"
)
DURATION = Counted(
    "model_gateway_request_duration_seconds", "Until the end of a request.", "operation", *MODEL
)
FIRST_BYTE = Counted(
    "model_gateway_first_byte_seconds", "Until the answer has begun.", "operation", *MODEL
)
ATTEMPTS = Counted(
    "model_gateway_attempts", "Requests to vendors that have ended.", *MODEL, "outcome"
)
TOKENS = Counted("model_gateway_tokens", "Tokens that were used.", *MODEL, "type")
COST = Counted("model_gateway_cost_dollars", "What requests cost.", *MODEL)
KEY_REQUESTS = Counted("model_gateway_key_requests", "Requests of a key.", "key", "status")
KEY_COST = Counted("model_gateway_key_cost_dollars", "What the requests of a key cost.", "key")

TOKEN_TYPES = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
}


class Names:
    """The first so many names; all further ones are ``other``, so that series have an end."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[tuple[str, ...]] = set()

    def __call__(self, *name: str) -> tuple[str, ...]:
        if name not in self._known:
            if len(self._known) >= self._most:
                return (*name[:-1], OTHER)
            self._known.add(name)
        return name


class Counts:
    """Counts requests and attempts of this process."""

    def __init__(self, values: SharedValues, most_names: int) -> None:
        self._values = values
        self._models, self._keys = Names(most_names), Names(most_names)

    def attempt(self, ended: EndedAttempt) -> None:
        outcome = "failed" if ended.error else "answered"
        self._values.add(ATTEMPTS, (*self._models(ended.provider, ended.model), outcome))

    def request(self, operation: str, row: Mapping[str, Any]) -> None:
        values, status = self._values, row["status"]
        # Not the name that the client used: nothing is known of it but that somebody wrote it.
        model = self._models(row["provider"] or "", row["model_sent"] or "")
        values.add(REQUESTS, (operation, *model, status))
        values.observe(DURATION, (operation, *model), row["duration_ms"] / 1000, SECONDS)
        if row["ttft_ms"] is not None:
            values.observe(FIRST_BYTE, (operation, *model), row["ttft_ms"] / 1000, SECONDS)
        for kind, field in TOKEN_TYPES.items():
            if row[field]:
                values.add(TOKENS, (*model, kind), row[field])
        dollars = (row["cost"] or 0) / 1_000_000
        if dollars:
            values.add(COST, model, dollars)
        if row["api_key_id"] is not None:
            key = self._keys(row["api_key_id"])
            values.add(KEY_REQUESTS, (*key, status))
            if dollars:
                values.add(KEY_COST, key, dollars)
