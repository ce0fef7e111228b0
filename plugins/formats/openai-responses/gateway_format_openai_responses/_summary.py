"""What the gateway does to compact a conversation when the vendor cannot: ask for a summary.

The model is asked in a last user turn. Its answer becomes one opaque
``compaction`` item, and the item becomes a user turn again when the client
sends it with a later request.
"""

from msgspec.structs import replace

from gateway_core import Conversation, Reasoning, Text, ToolChoice, Turn, seal_id, unseal_id

REQUEST = (
    "Write a summary of this conversation that will replace it. You will continue the work from "
    "the summary alone, so leave out nothing that is still needed. State, in this order: what the "
    "user asked for, quoting exact wording, constraints and preferences that still apply; what "
    "has been done and decided, with the names, paths, identifiers, values and error messages "
    "that matter; what was learnt from tools and files; what remains to be done, and the very "
    "next step. Answer with the summary only. Do not call tools and do not address the user."
)
"""The words that ask for a summary, and by which such a request is known again."""

INTRODUCTION = (
    "The conversation up to this point was too long and has been replaced by this summary of it:"
)


def ask_for_summary(conversation: Conversation) -> Conversation:
    """The same conversation, with nothing left to do but to summarise it."""
    return replace(
        conversation,
        turns=(*conversation.turns, Turn("user", (Text(text=REQUEST),))),
        tool_choice=ToolChoice("none") if conversation.tools else None,
        output=None,
    )


def asks_for_summary(conversation: Conversation) -> bool:
    parts = conversation.turns[-1].parts if conversation.turns else ()
    return any(isinstance(part, Text) and part.text == REQUEST for part in parts)


def without_request(conversation: Conversation) -> Conversation:
    """The conversation as the client sent it, for a vendor that compacts by itself."""
    if not asks_for_summary(conversation):
        return conversation
    return replace(conversation, turns=conversation.turns[:-1])


def seal_summary(text: str) -> str:
    return seal_id("", "", None, (Reasoning(text=text, summary=True),))


def open_summary(sealed: str) -> Text | None:
    """The summary as the model is to read it, or ``None`` for another vendor's sealed item."""
    call_id, _, _, parts = unseal_id(sealed)
    if call_id or not parts:
        return None
    return Text(text=f"{INTRODUCTION}\n\n{parts[0].text}")
