"""A call that the client insists on, at a server that has no tool choice.

The server can force the form of an answer (https://docs.ollama.com/capabilities/structured-outputs).
Where one function must be called, and no other, an answer of the form of its arguments is the same
as a call of it: so it is asked for, and read as the call.
"""

from collections.abc import Sequence

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    ChoiceEnded,
    Conversation,
    Output,
    PartStarted,
    Reply,
    ReplyStarted,
    StreamEvent,
    StreamReader,
    Text,
    Tool,
    ToolCall,
)

from ._arguments import new_id

_NO_ARGUMENTS = Raw(b'{"type":"object","properties":{}}')


def forced_tool(conversation: Conversation) -> Tool | None:
    """The only function that may be called and must be; ``None`` where there is a choice."""
    choice = conversation.tool_choice
    if choice is None or conversation.output is not None:
        return None
    offered = conversation.tools
    if choice.mode == "only":
        offered = tuple(tool for tool in offered if tool.name in choice.names)
    elif choice.mode != "required":
        return None
    if len(offered) != 1 or offered[0].custom or offered[0].hosted is not None:
        return None
    return offered[0]


def ask_for_arguments(conversation: Conversation, tool: Tool) -> Conversation:
    """The conversation with the tool's arguments as the form of the answer."""
    task = f"Answer with the arguments of a call of the function {tool.name}, as JSON."
    if tool.description:
        task = f"{task} What it does: {tool.description}"
    return replace(
        conversation,
        instructions=(*conversation.instructions, Text(text=task)),
        tools=(),
        tool_choice=None,
        parallel_tools=None,
        output=Output(schema=tool.schema or _NO_ARGUMENTS),
    )


def read_as_call(reply: Reply, tool: Tool) -> Reply:
    """The reply with its text as the arguments of a call."""
    choice = reply.choices[0]
    parts = list(choice.parts)
    place = next((i for i, part in enumerate(parts) if isinstance(part, Text)), None)
    if place is None:
        return reply
    text = parts[place]
    assert isinstance(text, Text)
    parts[place] = ToolCall(id=new_id(reply.id, 0), name=tool.name, arguments=text.text)
    finish = "tool_calls" if choice.finish == "stop" else choice.finish
    return replace(reply, choices=(replace(choice, parts=tuple(parts), finish=finish),))


class ForcedCallReader:
    """A reader whose text is the arguments of a call."""

    def __init__(self, reader: StreamReader, tool: Tool) -> None:
        self._reader, self._tool = reader, tool
        self._reply = ""
        self._has_call = False

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        return list(map(self._read, self._reader.feed(chunk)))

    def close(self) -> Sequence[StreamEvent]:
        return list(map(self._read, self._reader.close()))

    def _read(self, event: StreamEvent) -> StreamEvent:
        if isinstance(event, ReplyStarted):
            self._reply = event.id
        elif isinstance(event, PartStarted) and isinstance(event.part, Text):
            if not self._has_call:
                self._has_call = True
                call = ToolCall(id=new_id(self._reply, 0), name=self._tool.name)
                return replace(event, part=call)
        elif isinstance(event, ChoiceEnded) and self._has_call and event.finish == "stop":
            return replace(event, finish="tool_calls")
        return event
