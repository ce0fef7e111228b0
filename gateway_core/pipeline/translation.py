"""What a client asked, read as far as needed and no further."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from ..contracts.conversation import Conversation, Media
from ..contracts.errors import GatewayError
from ..contracts.exchange import Exchange, ServiceExchange
from ..contracts.provider import Call, Credential, Target
from ..contracts.wire import WireFormat
from ..upstream.endpoints import EndpointCache
from .exchanges import PassThrough, Translated, client_side, passes_through
from .media_by_value import put_values

PREFILL = "x-gateway-assistant-prefill"
"""A header of clients of any format (4.2)."""


class Translation(Struct):
    """A call in its client's format. It is translated at most once, whoever is asked."""

    call: Call
    formats: Mapping[str, WireFormat]
    now: float = 0.0
    """When it came, Unix seconds; for answers of vendors that do not say when."""
    ways: EndpointCache | None = None
    """Where they were worked out before."""
    fetched: dict[str, Media] | None = None
    """What was fetched for vendors that take media by value only, by its address."""
    _conversation: Conversation | None = None

    @property
    def client(self) -> WireFormat:
        """The format of whoever asks."""
        return self.formats[self.call.format]

    def conversation(self) -> Conversation:
        """What was asked, in nobody's dialect. Raises BadRequest."""
        if self._conversation is None:
            conversation = self.call.conversation
            if conversation is not None:  # An interceptor's.
                return conversation
            conversation = client_side(self.client).read_request(self.call)
            prefill = self.call.headers.get(PREFILL)
            if prefill is not None and prefill.strip().lower() == "preserve":
                conversation = replace(conversation, keeps_prefill=True)
            self._conversation = conversation
        return self._conversation

    def open(self, target: Target, credential: Credential) -> Exchange:
        """The most faithful way to carry this question to this target."""
        call = self.call
        client = self.formats[call.format]
        ways = self.ways or self._own_ways()
        way = ways.find(target, credential, client, stream=call.stream)
        if passes_through(call, client, way.wire):
            return PassThrough(call, way)
        conversation = self.conversation()
        if way.wire.by_value:
            conversation = self._by_value(conversation, way.wire)
        return Translated(call, conversation, way, client, self.now)

    def translate(
        self, conversation: Conversation, target: Target, credential: Credential
    ) -> Translated:
        """By way of the hub, with a conversation that may have been changed."""
        client, ways = self.client, self.ways or self._own_ways()
        way = ways.find(target, credential, client, stream=conversation.stream)
        if way.wire.by_value:
            conversation = self._by_value(conversation, way.wire)
        return Translated(self.call, conversation, way, client, self.now)

    def _by_value(self, conversation: Conversation, wire: WireFormat) -> Conversation:
        """As a vendor of this format can take it. Raises MediaByAddress for what is to be
        fetched first."""
        if self.fetched is None:
            self.fetched = {}
        return put_values(conversation, wire.by_value, self.fetched)

    def _own_ways(self) -> EndpointCache:
        self.ways = EndpointCache(self.formats)
        return self.ways


def open_service(call: Call, target: Target, credential: Credential) -> ServiceExchange:
    """The exchange of a call that is no chat. Raises what its vendor's adapter raises."""
    service = target.provider.service(call.kind, call.action)
    if service is None:
        raise GatewayError(f"provider {target.provider.shown} has no service for {call.kind}")
    return service.adapter.open(call, target, credential)
