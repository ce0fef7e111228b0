"""A request that an observer follows: its run, and how it opens exchanges."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from msgspec.structs import asdict

from gateway_core.contracts.conversation import Conversation
from gateway_core.contracts.exchange import Exchange, ServiceExchange
from gateway_core.contracts.provider import Call, Credential, Target
from gateway_core.pipeline.attempt import Attempt
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.exchanges import Translated
from gateway_core.pipeline.plugin_host import Host
from gateway_core.pipeline.request_head import RequestHead
from gateway_core.pipeline.request_run import RequestRun
from gateway_core.pipeline.translation import Translation
from gateway_core.storage.stores.usage import UsageRecord

from .observer import Observer
from .watches import GuardedObserver, RequestWatches


class ObservedTranslation(Translation, kw_only=True):
    """Shows the observer each exchange that another one opens, be it held back for filters."""

    plain: Translation
    watches: RequestWatches

    def conversation(self) -> Conversation:
        return self.plain.conversation()

    def open(self, target: Target, credential: Credential) -> Exchange:
        exchange = self.plain.open(target, credential)
        self.watches.attempt(exchange, target)
        return exchange

    def translate(
        self, conversation: Conversation, target: Target, credential: Credential
    ) -> Translated:
        exchange = self.plain.translate(conversation, target, credential)
        self.watches.attempt(exchange, target)
        return exchange


class ObservedRun(RequestRun):
    """The first of two base classes of a run that is followed; the other one is a kind of run."""

    observation: "RunObservation"

    def __init__(self, core: Collaborators, head: RequestHead, *more: Any) -> None:
        super().__init__(core, head, *more)
        self._watches = self.observation.begin(head)
        self.record.on_failure = self._watches.failed

    @property
    def translation(self) -> Translation:
        """Opens what is followed, whoever has put a translation of its own in the place."""
        return self._translation

    @translation.setter
    def translation(self, plain: Translation) -> None:
        self._translation = ObservedTranslation(
            plain.call, plain.formats, plain.now, plain.ways, plain=plain, watches=self._watches
        )

    def use(self, call: Call) -> None:
        super().use(call)
        self._watches.read(call)

    def open_service(self, target: Target, credential: Credential) -> ServiceExchange:
        exchange = super().open_service(target, credential)
        self._watches.attempt(exchange, target)
        return exchange

    def on_answer(self, attempt: Attempt) -> None:
        super().on_answer(attempt)
        self._watches.answered(attempt.exchange, attempt.account.id)

    def write_row(self) -> None:
        with self.observation.ending(self.record.request_id, self._watches):
            super().write_row()


class RunObservation:
    """An observer as the gateway knows it (``Observation``)."""

    def __init__(self, observer: Observer) -> None:
        self._guard = GuardedObserver(observer)
        self._ending: dict[str, RequestWatches] = {}

    def run_type(self, plain: type[Any], /) -> type[Any]:
        """``plain``, followed."""
        return type(f"Observed{plain.__name__}", (ObservedRun, plain), {"observation": self})

    def running(self, host: Host, /) -> AbstractAsyncContextManager[None]:
        return self._guard.observer.running(host)

    def begin(self, head: RequestHead) -> RequestWatches:
        path, guard = head.route.endpoint.path, self._guard
        return RequestWatches(guard, guard.call(guard.observer.begin, path, head.headers))

    @contextmanager
    def ending(self, request_id: str, watches: RequestWatches) -> Iterator[None]:
        """The row of a request is written within the block, so that ``record`` knows its watch."""
        self._ending[request_id] = watches
        try:
            yield
        finally:
            del self._ending[request_id]

    def record(self, row: UsageRecord, /) -> None:
        ended = self._ending.get(row.request_id)
        watch = None if ended is None else ended.watch
        self._guard.call(self._guard.observer.record, asdict(row), watch)
