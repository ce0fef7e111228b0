"""Opens exchanges whose answers filters look at."""

from collections.abc import Callable

from gateway_core import Call, Conversation, Credential, Exchange, Target
from gateway_core.pipeline.exchanges import Translated
from gateway_core.pipeline.translation import Translation
from gateway_core.upstream.endpoints import EndpointCache

from .exchange import FilteredExchange
from .guarded import GuardedCheck

OpenFilters = Callable[[Call, Target], tuple[GuardedCheck, ...]]


class FilteredTranslation(Translation, kw_only=True):
    """A call whose answer is held back where a filter wants to see it.

    It is translated then, also where client and vendor speak one format: filters see the neutral
    form.
    """

    filters: OpenFilters

    def open(self, target: Target, credential: Credential) -> Exchange:
        checks = self.filters(self.call, target)
        if not checks:
            return Translation.open(self, target, credential)
        return self._filtered(self.conversation(), target, credential, checks)

    def translate(
        self, conversation: Conversation, target: Target, credential: Credential
    ) -> Translated:
        checks = self.filters(self.call, target)
        if not checks:
            return Translation.translate(self, conversation, target, credential)
        return self._filtered(conversation, target, credential, checks)

    def _filtered(
        self,
        conversation: Conversation,
        target: Target,
        credential: Credential,
        checks: tuple[GuardedCheck, ...],
    ) -> FilteredExchange:
        client = self.client
        if self.ways is None:
            self.ways = EndpointCache(self.formats)
        way = self.ways.find(target, credential, client, stream=conversation.stream)
        if way.wire.by_value:
            conversation = self._by_value(conversation, way.wire)
        return FilteredExchange(self.call, conversation, way, client, self.now, checks)
