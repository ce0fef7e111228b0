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
NO_SPELLING: Mapping[str, str] = {}
_NOTHING_WANTED = (b"null", b"false", b"[]", b"{}")

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
    """Where the source is."""
    title: str | None = None
    """What the source calls itself."""
    quote: str | None = None
    """The words of the source."""
    start: int | None = None
    """The first character of the cited span of the answer's text part."""
    end: int | None = None
    """Behind the last character of that span."""
    document: int | None = None
    """Index of the cited document among the request's documents."""
    raw: Raw | None = None
    """The vendor's own object, for a client of the same dialect."""
    dialect: str = ""
    """Whose object ``raw`` is."""


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
    """Members without a canonical name, in the conversation's or reply's ``dialect``."""


class Text(Part, frozen=True, kw_only=True, omit_defaults=True, tag="text"):
    text: str
    """The text; in a stream it begins empty and grows."""
    citations: tuple[Citation, ...] = ()
    """The sources named for this text, in order."""


class Refusal(Part, frozen=True, kw_only=True, omit_defaults=True, tag="refusal"):
    """The model's own words for why it declines."""

    text: str
    """The words."""


class Media(Part, frozen=True, kw_only=True, omit_defaults=True, tag="media"):
    """An image, sound, film or document: by value, by address or by file id."""

    kind: MediaKind
    """What it is."""
    media_type: str | None = None
    """Such as ``image/png``; ``None`` when nobody said."""
    data: str | None = None
    """Base64 text, passed along without being decoded."""
    url: str | None = None
    """Where it can be fetched, by whoever reads it."""
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
    """What the model showed; empty when it showed nothing."""
    sealed: str | None = None
    """Thinking in a form that only the vendor named by ``origin`` can open."""
    id: str | None = None
    """The vendor's id of this item."""
    summary: bool = False
    """True when ``text`` is a summary and not the thinking itself."""


class ToolCall(Part, frozen=True, kw_only=True, omit_defaults=True, tag="tool_call"):
    """The model asks the client to run a tool."""

    id: str
    """Ties the call to its result; unique within the conversation."""
    name: str
    """The tool's name."""
    arguments: str = ""
    """JSON text exactly as the model wrote it, or free text when ``custom``."""
    custom: bool = False
    """True for a tool that takes free text."""


class ToolResult(Part, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    call_id: str
    """The id of the call that this answers."""
    name: str | None = None
    """The tool's name, where the client repeats it."""
    content: tuple[Text | Media, ...] = ()
    """What the tool gave, in order."""
    failed: bool = False
    """True when the tool says that it failed."""
    custom: bool = False
    """True when it answers a tool that takes free text."""


class Foreign(Part, frozen=True, kw_only=True, omit_defaults=True, tag="foreign"):
    """A part that only its own dialect understands, such as a server tool's work."""

    dialect: str
    """Whose part it is."""
    type: str
    """The dialect's own word for it, named in ``Losses`` when it cannot be carried."""
    raw: Raw
    """The part, verbatim."""


AnyPart = Text | Refusal | Media | Reasoning | ToolCall | ToolResult | Foreign


class Turn(Struct, frozen=True, omit_defaults=True):
    """One message. ``system`` here is an instruction given in mid-conversation."""

    role: Role
    """Who speaks. A tool's results stand in a ``user`` turn."""
    parts: tuple[AnyPart, ...]
    """What is said, in order."""
    name: str | None = None
    """The speaker's name, where a dialect has one."""
    extra: Extra = NOTHING
    """Members without a canonical name, in the conversation's ``dialect``."""


class Tool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool the model may call: the client's function, or the vendor's own service."""

    name: str
    """What the model calls it."""
    description: str | None = None
    """What it does, in words for the model."""
    schema: Raw | None = None
    """JSON Schema of the arguments, verbatim."""
    strict: bool | None = None
    """Whether the arguments must keep to ``schema``."""
    cache: str | None = None
    """A prompt-cache breakpoint after this tool; the value is its lifetime, ``5m`` or ``1h``."""
    custom: bool = False
    """Takes free text instead of JSON arguments."""
    hosted: str | None = None
    """The neutral name of a vendor's server tool: ``web_search``, ``web_fetch``,
    ``code_execution``, ``file_search``, ``image_generation``, ``computer``, ``mcp``, ``other``."""
    raw: Raw | None = None
    """A hosted or custom tool's own declaration, verbatim, in ``dialect``."""
    dialect: str = ""
    """Whose declaration ``raw`` is."""
    extra: Extra = NOTHING
    """Members without a canonical name, in the conversation's ``dialect``."""


class ToolChoice(Struct, frozen=True, omit_defaults=True):
    mode: Literal["auto", "none", "required", "only"] = "auto"
    """``auto`` leaves it to the model, ``none`` forbids, ``required`` asks for any, ``only`` for
    one of ``names``."""
    names: tuple[str, ...] = ()
    """With ``only``: the tool, or tools, that may be called. One must be."""


class Sampling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    max_tokens: int | None = None
    """Longest answer, tokens, thinking included."""
    temperature: float | None = None
    """In the client's scale, unchanged: mostly 0 to 2, for some dialects 0 to 1."""
    top_p: float | None = None
    """Share of the probability that is sampled from, 0 to 1."""
    top_k: int | None = None
    """How many of the likeliest tokens are sampled from."""
    min_p: float | None = None
    """Least probability of a token beside the likeliest one, 0 to 1."""
    seed: int | None = None
    """For answers that can be repeated."""
    stop: tuple[str, ...] = ()
    """Texts that end the answer."""
    presence_penalty: float | None = None
    """Against tokens that have occurred at all, -2 to 2."""
    frequency_penalty: float | None = None
    """Against tokens by how often they have occurred, -2 to 2."""
    candidates: int | None = None
    """How many answers are wanted."""
    logprobs: bool | None = None
    """Whether log probabilities are wanted."""
    top_logprobs: int | None = None
    """How many alternatives of each token are wanted with them."""


class Thinking(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much the model is to think. At most one of ``effort`` and ``budget`` is said."""

    enabled: bool | None = None
    """Whether it is to think at all; ``None`` leaves it to the model."""
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
    """The JSON Schema, verbatim; ``None`` asks for any object."""
    name: str | None = None
    """What the client calls the schema."""
    description: str | None = None
    """What it is for, in words for the model."""
    strict: bool | None = None
    """Whether the answer must keep to ``schema``."""


class Conversation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the client asked, in nobody's dialect."""

    instructions: tuple[Text, ...] = ()
    """System and developer text that stands before the first turn."""
    turns: tuple[Turn, ...] = ()
    """What has been said so far, oldest first."""
    tools: tuple[Tool, ...] = ()
    """What the model may call, in the client's order."""
    tool_choice: ToolChoice | None = None
    """Whether and which tools are to be called; ``None`` says nothing about it."""
    parallel_tools: bool | None = None
    """Whether several tools may be called at once; ``None`` says nothing about it."""
    sampling: Sampling = Sampling()
    """How tokens are chosen."""
    thinking: Thinking | None = None
    """How much is to be thought; ``None`` says nothing about it."""
    output: Output | None = None
    """The form of the answer; ``None`` for free text."""
    user: str | None = None
    """The client's opaque id of its end user."""
    cache_key: str | None = None
    """Groups requests that share a prompt prefix."""
    service_tier: str | None = None
    """The vendor's word for speed and price, as the client wrote it."""
    stream: bool = False
    """Whether a streamed answer is wanted."""
    stream_usage: bool = True
    """Whether the client wants usage in its stream, where its dialect lets it choose."""
    keeps_prefill: bool = False
    """A last turn of the assistant is to be continued as it stands, for a vendor that can."""
    model: str = ""
    """The model as the client named it."""
    dialect: str = ""
    """Whose members ``extra`` holds, here and in every turn, part and tool."""
    extra: Extra = NOTHING
    """Members without a canonical name, in ``dialect``."""
    elsewhere: tuple[str, ...] = ()
    """The client's names of what stands for input which a vendor keeps, such as a file's id. A
    vendor of another dialect cannot look it up, so the request is not sent to one."""


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the answers."""

    parts: tuple[AnyPart, ...] = ()
    """What is said, in order."""
    finish: Finish = "stop"
    """Why it ended."""
    stop_sequence: str | None = None
    """The stop sequence that was met, where the vendor says."""
    failure: str | None = None
    """The vendor's words on why it failed, where ``finish`` is ``error``."""
    logprobs: Raw | None = None
    """Token log probabilities in the chat-completions shape ``{"content": [...]}``."""
    extra: Extra = NOTHING
    """Members without a canonical name, in the reply's ``dialect``."""


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the model answered, whole."""

    id: str
    """The vendor's id of the answer; empty when it gave none."""
    model: str
    """The model as the vendor names it."""
    choices: tuple[Choice, ...]
    """The answers; nearly always one."""
    usage: Usage | None = None
    """What the vendor reported; ``None`` when it said nothing."""
    created: int | None = None
    """Unix seconds."""
    dialect: str = ""
    """Whose members ``extra`` holds, here and in every choice and part."""
    extra: Extra = NOTHING
    """Members without a canonical name, in ``dialect``."""


class Losses:
    """What the target could not express, in the order it was met, each named once.

    Names are short and stable (``top_k``, ``logprobs``, ``tool:web_search``,
    ``cache_control``). ``names`` has them in the client's own spelling, for the
    response header ``x-gateway-dropped`` and the log.
    """

    __slots__ = ("_spelling", "names")

    def __init__(self, spelling: Mapping[str, str] = NO_SPELLING) -> None:
        """``spelling`` is what the client calls a neutral name: see ``WireFormat.spelling``."""
        self.names: dict[str, None] = {}
        self._spelling = spelling

    def add(self, name: str) -> None:
        self.names[self._spelling.get(name, name)] = None

    def add_extra(self, extra: Extra, *, within: str = "") -> None:
        """Record members that have no canonical name; ``within`` is where they stood, unless a
        name holds its own place, as in ``messages.name``. Nobody misses a member that asks for
        nothing."""
        place = self._spelling.get(within, within)
        for name, value in extra.items():
            if bytes(value) not in _NOTHING_WANTED:
                self.names[f"{place}.{name}" if place and "." not in name else name] = None

    def __bool__(self) -> bool:
        return bool(self.names)
