"""What a request is written for: the vendor's switches and the model's nature."""

from msgspec import Struct

from gateway_core import Conversation, Losses, Target, readable_by

from .._signatures import DIALECT
from .models import Nature, nature


class Aim(Struct, frozen=True, kw_only=True):
    """Everything about the target that decides how a conversation is worded."""

    provider: str
    nature: Nature
    own: bool
    """The conversation came in this dialect, so its own members may go out again."""
    losses: Losses
    json_schema: bool
    call_ids: bool
    placeholder: bool
    server_tools: bool
    instructed: bool

    def reads(self, origin: str) -> bool:
        return readable_by(origin, self.provider, DIALECT)


def aim_at(target: Target, conversation: Conversation, losses: Losses) -> Aim:
    options = target.provider.options
    kind = nature(target.model)
    return Aim(
        provider=target.provider.id,
        nature=kind,
        own=conversation.dialect == DIALECT,
        losses=losses,
        json_schema=options.get("json_schema", False) is True,
        call_ids=options.get("call_ids", True) is True,
        placeholder=options.get("signature_placeholder", True) is True,
        server_tools=options.get("server_tool_invocations", True) is True,
        instructed=kind.instructed and options.get("system_instruction", True) is True,
    )
