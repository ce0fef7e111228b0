"""The canonical conversation: the hub every cross-format request passes through.

Values only. Two conversations with the same content are equal. Each format
reads its own dialect into these values and writes these values back out, so
*n* formats need *n* translators, not *n* squared.

What has no canonical name is kept, never lost in silence: ``extra`` holds
members verbatim, and ``dialect`` says whose they are. A writer of the same
dialect puts them back; every other writer reports them in ``Losses``.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Raw, Struct

from .usage import Usage

Extra = Mapping[str, Raw]
NOTHING: Extra = {}

MediaKind = Literal["image", "audio", "video", "document"]
Role = Literal["user", "assistant", "system"]
Finish = Literal["stop", "length", "tool_calls", "content_filter", "refusal", "pause", "error"]
"""Why an answer ended.

``stop`` a natural end or a stop sequence; ``length`` the token limit;
``tool_calls`` the client is to run tools; ``content_filter`` the vendor cut the
answer; ``refusal`` the model declined; ``pause`` the vendor wants to be called
again with the answer so far; ``error`` the vendor failed after it had begun.
"""


class Citation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A source the model named for a piece of its text."""

    url: str | None = None
    title: str | None = None
    quote: str | None = None
    """The words of the source."""
    start: int | None = None
    end: int | None = None
    """The cited span of the answer's text part, in characters."""
    document: int | None = None
    """Index of the cited document among the request's documents."""
    raw: Raw | None = None
    """The vendor's own object, for a client of the same dialect."""
    dialect: str = ""


class Part(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="part"):
    """A piece of a turn."""

    cache: str | None = None
    """A prompt-cache breakpoint after this part; the value is its lifetime, ``5m`` or ``1h``."""
    signature: str | None = None
    """The vendor's proof that it wrote this part; meaningless to any other vendor."""
    origin: str = ""
    """Who can read ``signature``: a provider id, or ``~`` and a dialect for one
    that the client brought in its own dialect."""
    extra: Extra = NOTHING


class Text(Part, frozen=True, kw_only=True, omit_defaults=True, tag="text"):
    text: str
    citations: tuple[Citation, ...] = ()


class Refusal(Part, frozen=True, kw_only=True, omit_defaults=True, tag="refusal"):
    """The model's own words for why it declines."""

    text: str


class Media(Part, frozen=True, kw_only=True, omit_defaults=True, tag="media"):
    """An image, sound, film or document: by value, by address or by file id."""

    kind: MediaKind
    media_type: str | None = None
    data: str | None = None
    """Base64 text, passed along without being decoded."""
    url: str | None = None
    file_id: str | None = None
    """An id in the file store of the vendor named by ``origin``."""
    text: str | None = None
    """A document that is plain text."""
    name: str | None = None
    """File name or title."""
    detail: str | None = None
    """How closely to look at an image: ``low``, ``high``, ``auto``."""


class Reasoning(Part, frozen=True, kw_only=True, omit_defaults=True, tag="reasoning"):
    """Thinking: what the model showed of it, its proof, or only a sealed form."""

    text: str = ""
    sealed: str | None = None
    """Thinking in a form that only the vendor named by ``origin`` can open."""
    id: str | None = None
    """The vendor's id of this item."""
    summary: bool = False
    """True when ``text`` is a summary and not the thinking itself."""


class ToolCall(Part, frozen=True, kw_only=True, omit_defaults=True, tag="tool_call"):
    """The model asks the client to run a tool."""

    id: str
    name: str
    arguments: str = ""
    """JSON text exactly as the model wrote it, or free text when ``custom``."""
    custom: bool = False


class ToolResult(Part, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    call_id: str
    name: str | None = None
    """The tool's name, where the client repeats it."""
    content: tuple[Text | Media, ...] = ()
    failed: bool = False
    custom: bool = False


class Foreign(Part, frozen=True, kw_only=True, omit_defaults=True, tag="foreign"):
    """A part that only its own dialect understands, such as a server tool's work."""

    dialect: str
    type: str
    """The dialect's own word for it, named in ``Losses`` when it cannot be carried."""
    raw: Raw


AnyPart = Text | Refusal | Media | Reasoning | ToolCall | ToolResult | Foreign


class Turn(Struct, frozen=True, omit_defaults=True):
    """One message. ``system`` here is an instruction given in mid-conversation."""

    role: Role
    parts: tuple[AnyPart, ...]
    name: str | None = None
    extra: Extra = NOTHING


class Tool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool the model may call: the client's function, or the vendor's own service."""

    name: str
    description: str | None = None
    schema: Raw | None = None
    """JSON Schema of the arguments, verbatim."""
    strict: bool | None = None
    cache: str | None = None
    custom: bool = False
    """Takes free text instead of JSON arguments."""
    hosted: str | None = None
    """The neutral name of a vendor's server tool: ``web_search``, ``web_fetch``,
    ``code_execution``, ``file_search``, ``image_generation``, ``computer``, ``mcp``, ``other``."""
    raw: Raw | None = None
    """A hosted or custom tool's own declaration, verbatim, in ``dialect``."""
    dialect: str = ""
    extra: Extra = NOTHING


class ToolChoice(Struct, frozen=True, omit_defaults=True):
    mode: Literal["auto", "none", "required", "only"] = "auto"
    names: tuple[str, ...] = ()
    """With ``only``: the tool, or tools, that may be called. One must be."""


class Sampling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    candidates: int | None = None
    """How many answers are wanted."""
    logprobs: bool | None = None
    top_logprobs: int | None = None


class Thinking(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much the model is to think. At most one of ``effort`` and ``budget`` is said."""

    enabled: bool | None = None
    effort: str | None = None
    """``none``, ``minimal``, ``low``, ``medium``, ``high``, ``xhigh`` or ``max``."""
    budget: int | None = None
    """Tokens; -1 leaves it to the model."""
    show: bool | None = None
    """Whether the thinking, or a summary of it, is wanted in the answer."""
    summary: str | None = None
    """``auto``, ``concise`` or ``detailed``, where a dialect grades summaries."""


class Output(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The form the answer must take: any JSON object, or JSON of one schema."""

    schema: Raw | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None


class Conversation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the client asked, in nobody's dialect."""

    instructions: tuple[Text, ...] = ()
    """System and developer text that stands before the first turn."""
    turns: tuple[Turn, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tools: bool | None = None
    sampling: Sampling = Sampling()
    thinking: Thinking | None = None
    output: Output | None = None
    user: str | None = None
    """The client's opaque id of its end user."""
    cache_key: str | None = None
    """Groups requests that share a prompt prefix."""
    service_tier: str | None = None
    stream: bool = False
    stream_usage: bool = True
    """Whether the client wants usage in its stream, where its dialect lets it choose."""
    model: str = ""
    """The model as the client named it."""
    dialect: str = ""
    """Whose members ``extra`` holds, here and in every turn, part and tool."""
    extra: Extra = NOTHING


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the answers."""

    parts: tuple[AnyPart, ...] = ()
    finish: Finish = "stop"
    stop_sequence: str | None = None
    """The stop sequence that was met, where the vendor says."""
    logprobs: Raw | None = None
    """Token log probabilities in the chat-completions shape ``{"content": [...]}``."""
    extra: Extra = NOTHING


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the model answered, whole."""

    id: str
    model: str
    choices: tuple[Choice, ...]
    usage: Usage | None = None
    created: int | None = None
    """Unix seconds."""
    dialect: str = ""
    extra: Extra = NOTHING


class Losses:
    """What the target could not express, in the order it was met, each named once.

    Names are short and stable (``top_k``, ``logprobs``, ``tool:web_search``,
    ``cache_control``); the response header ``x-gateway-dropped`` and the log
    show them as they are.
    """

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def add(self, name: str) -> None:
        self.names[name] = None

    def add_extra(self, extra: Extra, *, within: str = "") -> None:
        """Record members that have no canonical name; ``within`` is where they stood."""
        for name in extra:
            self.names[f"{within}.{name}" if within else name] = None

    def __bool__(self) -> bool:
        return bool(self.names)
