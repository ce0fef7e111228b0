"""What a request is written for: the provider's options and the model's traits."""

from msgspec import Struct

from gateway_core import Conversation, Losses, Target, readable_by

from .._dialect import DIALECT
from .models import Traits, traits_of


class Goal(Struct, frozen=True, kw_only=True):
    """Everything about the target that decides how a conversation is written."""

    provider: str
    traits: Traits
    own: bool
    """The conversation came in this dialect, so its own members may go out again."""
    losses: Losses
    json_schema: bool
    call_ids: bool
    placeholder: bool
    server_tools: bool
    instructed: bool

    def can_read(self, origin: str) -> bool:
        return readable_by(origin, self.provider, DIALECT)


def build_goal(target: Target, conversation: Conversation, losses: Losses) -> Goal:
    options = target.provider.options
    traits = traits_of(target.model)
    return Goal(
        provider=target.provider.id,
        traits=traits,
        own=conversation.dialect == DIALECT,
        losses=losses,
        json_schema=options.get("json_schema", False) is True,
        call_ids=options.get("call_ids", True) is True,
        placeholder=options.get("signature_placeholder", True) is True,
        server_tools=options.get("server_tool_invocations", True) is True,
        instructed=traits.instructed and options.get("system_instruction", True) is True,
    )
