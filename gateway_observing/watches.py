"""What an observer follows one request with, guarded: no observer breaks a request."""

import logging
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from gateway_core.contracts.exchange import Exchange
from gateway_core.contracts.provider import Call, Target

from .observer import AttemptWatch, Observer, RequestWatch

MOST_FAILURES = 5
"""After so many an observer is left out until the next start."""

log = logging.getLogger(__name__)


class GuardedObserver:
    """An observer that breaks no request."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.failures = 0

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """What the function gives; ``None`` where it fails, or the observer is left out."""
        if self.failures < MOST_FAILURES:
            try:
                return function(*arguments)
            except Exception:
                self.failures += 1
                log.exception("failure %d of the observer", self.failures)
        return None


class RequestWatches:
    """What the observer follows one request with, and each of its attempts."""

    def __init__(self, guard: GuardedObserver, watch: RequestWatch | None) -> None:
        self.watch = watch
        self._guard = guard
        self._attempts: list[tuple[Exchange, AttemptWatch]] = []

    def read(self, call: Call) -> None:
        if self.watch is not None:
            self._guard.call(self.watch.read, call)

    def attempt(self, exchange: Exchange, target: Target) -> None:
        """Put the context of the trace into the headers of what is about to leave."""
        if self.watch is None:
            return
        url = exchange.request.url
        attempt: AttemptWatch | None = self._guard.call(self.watch.attempt, target, url)
        if attempt is not None:
            self._attempts.append((exchange, attempt))
            context = zip(("traceparent", "tracestate"), attempt.trace_context, strict=True)
            headers = {name: value for name, value in context if value}
            headers = {**exchange.request.headers, **headers}
            exchange.request = replace(exchange.request, headers=headers)

    def answered(self, exchange: Exchange, account: str) -> None:
        for opened, attempt in self._attempts:
            if opened is exchange:
                self._guard.call(attempt.answered, account)

    def failed(self, exchange: Exchange, account: str, error: BaseException) -> None:
        for opened, attempt in self._attempts:
            if opened is exchange:
                self._guard.call(attempt.failed, account, error)
