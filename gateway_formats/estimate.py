"""The token heuristic: four characters to a token, never less than one."""

from gateway_core import (
    AnyPart,
    Conversation,
    Foreign,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)


# "One token generally corresponds to ~4 characters of text":
# https://platform.openai.com/tokenizer
def estimate_tokens(characters: int) -> int:
    return max(1, -(-characters // 4))


def count_prompt_characters(conversation: Conversation) -> int:
    """Instructions, tools, and every turn's text, calls, results and thinking; no media bytes."""
    count = sum(len(text.text) for text in conversation.instructions)
    for tool in conversation.tools:
        count += len(tool.name) + len(tool.description or "")
        count += len(bytes(tool.schema or b"")) + len(bytes(tool.raw or b""))
    return count + sum(count_characters(part) for turn in conversation.turns for part in turn.parts)


def count_characters(part: AnyPart) -> int:
    match part:
        case Text() | Refusal() | Reasoning():
            return len(part.text)
        case ToolCall():
            return len(part.name) + len(part.arguments)
        case ToolResult():
            return sum(count_characters(piece) for piece in part.content)
        case Media():
            return len(part.text or "")
        case Foreign():
            return len(bytes(part.raw))
