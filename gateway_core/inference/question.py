"""What a client asked, read as far as needed and no further."""

from collections.abc import Mapping

from ..contracts.conversation import Conversation
from ..contracts.exchange import Exchange
from ..contracts.provider import Call, Credential, Target
from ..contracts.wire import WireFormat
from .addressing import Ways
from .exchanges import Translated, Verbatim, client_side, passes_through


class Question:
    """A call in its client's format. It is translated at most once, whoever is asked."""

    def __init__(
        self,
        call: Call,
        formats: Mapping[str, WireFormat],
        now: int = 0,
        ways: Ways | None = None,
    ) -> None:
        self.call = call
        self._ways = Ways(formats) if ways is None else ways
        self.now = now
        """Unix seconds, for answers of vendors that do not say when."""
        self.formats = formats
        self.client = formats[call.format]
        self._conversation: Conversation | None = None

    def conversation(self) -> Conversation:
        """What was asked, in nobody's dialect. Raises BadRequest."""
        if self._conversation is None:
            self._conversation = client_side(self.client).read_request(self.call)
        return self._conversation

    def open(self, target: Target, credential: Credential) -> Exchange:
        """The most faithful way to carry this question to this target."""
        call = self.call
        way = self._ways.find(target, credential, self.client, stream=call.stream)
        if passes_through(call, self.client, way.wire):
            return Verbatim(call, way)
        return Translated(call, self.conversation(), way, self.client, self.now)

    def translate(
        self, conversation: Conversation, target: Target, credential: Credential
    ) -> Translated:
        """By way of the hub, with a conversation that may have been changed."""
        way = self._ways.find(target, credential, self.client, stream=conversation.stream)
        return Translated(self.call, conversation, way, self.client, self.now)
