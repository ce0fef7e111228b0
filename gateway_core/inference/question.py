"""What a client asked, read as far as needed and no further."""

from collections.abc import Mapping

from ..contracts.conversation import Conversation
from ..contracts.exchange import Exchange
from ..contracts.provider import Call, Credential, Target
from ..contracts.wire import WireFormat
from .addressing import Ways
from .exchanges import Translated, Verbatim, client_side, passes_through, spoken


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
        self._ways = Ways() if ways is None else ways
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
        vendor = spoken(self.client, target, self.formats)
        if passes_through(self.call, self.client, vendor):
            return Verbatim(self.call, target, credential, vendor, self._ways)
        return self._translated(self.conversation(), target, credential, vendor)

    def translate(
        self, conversation: Conversation, target: Target, credential: Credential
    ) -> Translated:
        """By way of the hub, with a conversation that may have been changed."""
        vendor = spoken(self.client, target, self.formats)
        return self._translated(conversation, target, credential, vendor)

    def _translated(
        self,
        conversation: Conversation,
        target: Target,
        credential: Credential,
        vendor: WireFormat,
    ) -> Translated:
        return Translated(
            self.call, conversation, target, credential, self.client, vendor, self.now
        )
