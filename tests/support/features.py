"""What a request can ask for and an answer can say, in every dialect that has words for it.

For each feature a request in each client dialect that can express it, and for
each vendor dialect a probe that finds it in a vendor's request by plain means.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

FORMATS = ("openai", "openai-responses", "claude", "gemini", "ollama")
MODELS = {
    "openai": "gpt-5",
    "openai-responses": "gpt-5",
    "claude": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "ollama": "qwen3",
}
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PDF = "JVBERi0xLjQKJcOkw7zDtsOfCg=="
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
PLAIN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WORD = "zebra-4711"
"""Stands where a feature's value is free, so that a probe can look for it anywhere."""

Json = dict[str, Any]
Probe = Callable[[Json], bool]


def says(word: str) -> Probe:
    """The word stands somewhere in the request."""
    return lambda sent: word in json.dumps(sent)


def at(*path: str | int, equals: Any = ...) -> Probe:
    """Something stands at a path, or just this."""

    def probe(sent: Json) -> bool:
        here: Any = sent
        for step in path:
            try:
                here = here[step]
            except (KeyError, IndexError, TypeError):
                return False
        return here is not None if equals is ... else here == equals

    return probe


def either(*probes: Probe) -> Probe:
    return lambda sent: any(probe(sent) for probe in probes)


def both(*probes: Probe) -> Probe:
    return lambda sent: all(probe(sent) for probe in probes)


@dataclass
class Feature:
    """``asks`` are members of a client's request; ``found`` looks for them in a vendor's."""

    name: str
    asks: Mapping[str, Json]
    found: Mapping[str, Probe]
    lost: tuple[str, ...] = field(default=())
    """Names in ``Losses`` that speak of this feature, besides its own."""


def base(wire: str) -> Json:
    """The least request of a dialect."""
    if wire == "gemini":
        return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    if wire == "openai-responses":
        return {"model": "m", "input": "hi"}
    turns = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    return {**turns, "max_tokens": 5000} if wire == "claude" else turns


def asked(wire: str, members: Json) -> Json:
    return {**base(wire), **members}


def generation(**members: Any) -> Json:
    return {"generationConfig": members}


def options(**members: Any) -> Json:
    return {"options": members}


def chat(*messages: Json) -> Json:
    return {"messages": list(messages)}


def items(*entries: Json) -> Json:
    return {"input": list(entries)}


def contents(*entries: Json) -> Json:
    return {"contents": list(entries)}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def with_words(wire: str, part: Json) -> Json:
    """A user's turn with a question and something to look at beside it."""
    if wire == "gemini":
        return contents({"role": "user", "parts": [{"text": "what is this?"}, part]})
    word = {"type": "input_text" if wire == "openai-responses" else "text", "text": "what is this?"}
    turn = user([word, part])
    return items(turn) if wire == "openai-responses" else chat(turn)


ANY = {wire: says(WORD) for wire in FORMATS}

GPT_TOOL = {"type": "function", "function": {"name": WORD, "description": "d", "parameters": PLAIN}}
RESPONSES_TOOL = {"type": "function", "name": WORD, "description": "d", "parameters": PLAIN}
CLAUDE_TOOL = {"name": WORD, "description": "d", "input_schema": PLAIN}
GEMINI_TOOL = {"functionDeclarations": [{"name": WORD, "description": "d", "parameters": PLAIN}]}
TOOLS: Mapping[str, Json] = {
    "openai": {"tools": [GPT_TOOL]},
    "openai-responses": {"tools": [RESPONSES_TOOL]},
    "claude": {"tools": [CLAUDE_TOOL]},
    "gemini": {"tools": [GEMINI_TOOL]},
    "ollama": {"tools": [GPT_TOOL]},
}
TOOL_NAMES: Mapping[str, Probe] = {
    "openai": at("tools", 0, "function", "name", equals=WORD),
    "openai-responses": at("tools", 0, "name", equals=WORD),
    "claude": at("tools", 0, "name", equals=WORD),
    "gemini": at("tools", 0, "functionDeclarations", 0, "name", equals=WORD),
    "ollama": at("tools", 0, "function", "name", equals=WORD),
}


def with_tools(more: Mapping[str, Json]) -> Mapping[str, Json]:
    return {wire: {**TOOLS[wire], **members} for wire, members in more.items()}


def gpt_call(number: int) -> Json:
    arguments = json.dumps({"city": f"{WORD}-{number}"})
    function = {"name": "look", "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def history(wire: str, results: list[Any], failed: bool = False) -> Json:
    """A question, as many tool calls as results, and the results."""
    numbers = range(1, len(results) + 1)
    if wire == "openai":
        return chat(
            user("q"),
            {"role": "assistant", "content": None, "tool_calls": [gpt_call(n) for n in numbers]},
            *(
                {"role": "tool", "tool_call_id": f"call_{n}", "content": result}
                for n, result in zip(numbers, results, strict=True)
            ),
        )
    if wire == "ollama":
        calls = [
            {"function": {"name": "look", "arguments": {"city": f"{WORD}-{n}"}}} for n in numbers
        ]
        return chat(
            user("q"),
            {"role": "assistant", "content": "", "tool_calls": calls},
            *({"role": "tool", "tool_name": "look", "content": result} for result in results),
        )
    if wire == "openai-responses":
        calls = [
            {
                "type": "function_call",
                "call_id": f"call_{n}",
                "name": "look",
                "arguments": json.dumps({"city": f"{WORD}-{n}"}),
            }
            for n in numbers
        ]
        outputs = [
            {"type": "function_call_output", "call_id": f"call_{n}", "output": result}
            for n, result in zip(numbers, results, strict=True)
        ]
        return items({"role": "user", "content": "q"}, *calls, *outputs)
    if wire == "claude":
        uses = [
            {
                "type": "tool_use",
                "id": f"toolu_{n}",
                "name": "look",
                "input": {"city": f"{WORD}-{n}"},
            }
            for n in numbers
        ]
        told = [
            {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": result}
            | ({"is_error": True} if failed else {})
            for n, result in zip(numbers, results, strict=True)
        ]
        return chat(user("q"), {"role": "assistant", "content": uses}, user(told))
    calls = [{"functionCall": {"name": "look", "args": {"city": f"{WORD}-{n}"}}} for n in numbers]
    member = "error" if failed else "result"
    told = [{"functionResponse": {"name": "look", "response": {member: r}}} for r in results]
    return contents(
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": told},
    )


def everywhere(make: Callable[[str], Json], *without: str) -> Mapping[str, Json]:
    return {wire: make(wire) for wire in FORMATS if wire not in without}


PNG_URL = f"data:image/png;base64,{PNG}"
PDF_URL = f"data:application/pdf;base64,{PDF}"
ADDRESS = "https://pictures.example/cat.png"


def by_value(kind: str, media_type: str, data: str) -> Json:
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}


def inline(media_type: str, data: str) -> Json:
    return {"inlineData": {"mimeType": media_type, "data": data}}


def shown(parts: Mapping[str, Json]) -> Mapping[str, Json]:
    return {wire: with_words(wire, part) for wire, part in parts.items()}


IMAGES: Mapping[str, Json] = {
    **shown(
        {
            "openai": {"type": "image_url", "image_url": {"url": PNG_URL}},
            "openai-responses": {"type": "input_image", "image_url": PNG_URL},
            "claude": by_value("image", "image/png", PNG),
            "gemini": inline("image/png", PNG),
        }
    ),
    "ollama": chat({"role": "user", "content": "q", "images": [PNG]}),
}
IMAGE_URLS = shown(
    {
        "openai": {"type": "image_url", "image_url": {"url": ADDRESS}},
        "openai-responses": {"type": "input_image", "image_url": ADDRESS},
        "claude": {"type": "image", "source": {"type": "url", "url": ADDRESS}},
        "gemini": {"fileData": {"mimeType": "image/png", "fileUri": ADDRESS}},
    }
)
DOCUMENTS = shown(
    {
        "openai": {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URL}},
        "openai-responses": {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
        "claude": by_value("document", "application/pdf", PDF),
        "gemini": inline("application/pdf", PDF),
    }
)
AUDIO = shown(
    {
        "openai": {"type": "input_audio", "input_audio": {"data": PDF, "format": "wav"}},
        "gemini": inline("audio/wav", PDF),
    }
)
CLAUDE_IMAGE = [
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
]

REQUESTS: tuple[Feature, ...] = (
    Feature(
        "system",
        {
            "openai": chat({"role": "system", "content": WORD}, user("q")),
            "openai-responses": {"instructions": WORD},
            "claude": {"system": WORD},
            "gemini": {"systemInstruction": {"parts": [{"text": WORD}]}},
            "ollama": chat({"role": "system", "content": WORD}, user("q")),
        },
        {
            "openai": at("messages", 0, "content"),
            "openai-responses": either(at("instructions"), says(WORD)),
            "claude": at("system"),
            "gemini": at("systemInstruction"),
            "ollama": at("messages", 0, "role", equals="system"),
        },
    ),
    Feature(
        "developer",
        {
            "openai": chat({"role": "developer", "content": WORD}, user("q")),
            "openai-responses": items({"role": "developer", "content": WORD}, user("q")),
        },
        ANY,
    ),
    Feature(
        "turns",
        {
            **{
                wire: chat(user("q"), {"role": "assistant", "content": WORD}, user("r"))
                for wire in ("openai", "claude", "ollama")
            },
            "openai-responses": items(user("q"), {"role": "assistant", "content": WORD}, user("r")),
            "gemini": contents(
                {"role": "user", "parts": [{"text": "q"}]},
                {"role": "model", "parts": [{"text": WORD}]},
                {"role": "user", "parts": [{"text": "r"}]},
            ),
        },
        ANY,
    ),
    Feature("image inline", IMAGES, {wire: says(PNG) for wire in FORMATS}, ("image",)),
    Feature("image by URL", IMAGE_URLS, {wire: says(ADDRESS) for wire in FORMATS}, ("image",)),
    Feature("document inline", DOCUMENTS, {wire: says(PDF) for wire in FORMATS}, ("document",)),
    Feature("audio inline", AUDIO, {wire: says(PDF) for wire in FORMATS}, ("audio",)),
    Feature("tools", TOOLS, TOOL_NAMES),
    Feature(
        "tool call history",
        everywhere(lambda wire: history(wire, [WORD])),
        {wire: both(says(f"{WORD}-1"), says(WORD)) for wire in FORMATS},
    ),
    Feature(
        "parallel call history",
        everywhere(lambda wire: history(wire, ["one", "two"])),
        {wire: both(says(f"{WORD}-1"), says(f"{WORD}-2"), says("two")) for wire in FORMATS},
    ),
    Feature(
        "tool result with image",
        {
            "openai-responses": history(
                "openai-responses",
                [[{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]],
            ),
            "claude": history("claude", [CLAUDE_IMAGE]),
        },
        {wire: says(PNG) for wire in FORMATS},
        ("image",),
    ),
    Feature(
        "tool result that failed",
        {"claude": history("claude", [WORD], failed=True)},
        {
            "openai": says(WORD),
            "openai-responses": says(WORD),
            "claude": at("messages", 2, "content", 0, "is_error", equals=True),
            "gemini": both(says('"error"'), says(WORD)),
            "ollama": says(WORD),
        },
    ),
    Feature(
        "tool choice required",
        with_tools(
            {
                "openai": {"tool_choice": "required"},
                "openai-responses": {"tool_choice": "required"},
                "claude": {"tool_choice": {"type": "any"}},
                "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
            }
        ),
        {
            "openai": at("tool_choice", equals="required"),
            "openai-responses": at("tool_choice", equals="required"),
            "claude": at("tool_choice", "type", equals="any"),
            "gemini": at("toolConfig", "functionCallingConfig", "mode", equals="ANY"),
            "ollama": at("tool_choice"),
        },
        ("tool_choice",),
    ),
    Feature(
        "tool choice by name",
        with_tools(
            {
                "openai": {"tool_choice": {"type": "function", "function": {"name": WORD}}},
                "openai-responses": {"tool_choice": {"type": "function", "name": WORD}},
                "claude": {"tool_choice": {"type": "tool", "name": WORD}},
                "gemini": {
                    "toolConfig": {
                        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [WORD]}
                    }
                },
            }
        ),
        {
            "openai": either(
                at("tool_choice", "function", "name", equals=WORD),
                at("tool_choice", "allowed_tools"),
            ),
            "openai-responses": either(
                at("tool_choice", "name", equals=WORD), at("tool_choice", "tools")
            ),
            "claude": at("tool_choice", "name", equals=WORD),
            "gemini": at("toolConfig", "functionCallingConfig", "allowedFunctionNames", 0),
            "ollama": at("tool_choice"),
        },
        ("tool_choice",),
    ),
    Feature(
        "tool choice none",
        with_tools(
            {
                "openai": {"tool_choice": "none"},
                "openai-responses": {"tool_choice": "none"},
                "claude": {"tool_choice": {"type": "none"}},
                "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
            }
        ),
        {
            "openai": at("tool_choice", equals="none"),
            "openai-responses": at("tool_choice", equals="none"),
            "claude": at("tool_choice", "type", equals="none"),
            "gemini": at("toolConfig", "functionCallingConfig", "mode", equals="NONE"),
            # A server without the notion keeps to it when it is given no tools.
            "ollama": lambda sent: not sent.get("tools"),
        },
        ("tool_choice",),
    ),
    Feature(
        "one tool at a time",
        with_tools(
            {
                "openai": {"parallel_tool_calls": False},
                "openai-responses": {"parallel_tool_calls": False},
                "claude": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
            }
        ),
        {
            "openai": at("parallel_tool_calls", equals=False),
            "openai-responses": at("parallel_tool_calls", equals=False),
            "claude": at("tool_choice", "disable_parallel_tool_use", equals=True),
            "gemini": at("parallel_tool_calls"),
            "ollama": at("parallel_tool_calls"),
        },
        ("parallel_tools",),
    ),
    Feature(
        "JSON schema output",
        {
            "openai": {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
                }
            },
            "openai-responses": {
                "text": {
                    "format": {
                        "type": "json_schema",
                        "name": "place",
                        "schema": SCHEMA,
                        "strict": True,
                    }
                }
            },
            "claude": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            "gemini": generation(responseMimeType="application/json", responseJsonSchema=PLAIN),
            "ollama": {"format": PLAIN},
        },
        {
            "openai": at("response_format", "json_schema", "schema", "properties", "city"),
            "openai-responses": at("text", "format", "schema", "properties", "city"),
            "claude": either(
                at("output_config", "format", "schema", "properties", "city"),
                at("output_format", "schema", "properties", "city"),
            ),
            "gemini": either(
                at("generationConfig", "responseJsonSchema", "properties", "city"),
                at("generationConfig", "responseSchema", "properties", "city"),
            ),
            "ollama": at("format", "properties", "city"),
        },
        ("output_schema",),
    ),
    Feature(
        "JSON mode",
        {
            "openai": {"response_format": {"type": "json_object"}},
            "openai-responses": {"text": {"format": {"type": "json_object"}}},
            "gemini": generation(responseMimeType="application/json"),
            "ollama": {"format": "json"},
        },
        {
            "openai": at("response_format", "type", equals="json_object"),
            "openai-responses": at("text", "format", "type", equals="json_object"),
            "claude": at("output_config", "format"),
            "gemini": at("generationConfig", "responseMimeType", equals="application/json"),
            "ollama": at("format", equals="json"),
        },
        ("output_json",),
    ),
    Feature(
        "thinking effort",
        {
            "openai": {"reasoning_effort": "high"},
            "openai-responses": {"reasoning": {"effort": "high"}},
            "claude": {"thinking": {"type": "enabled", "budget_tokens": 4000}},
            "gemini": generation(thinkingConfig={"thinkingBudget": 4000}),
            "ollama": {"think": "high"},
        },
        {
            "openai": at("reasoning_effort"),
            "openai-responses": at("reasoning", "effort"),
            "claude": either(at("thinking", "budget_tokens"), at("output_config", "effort")),
            "gemini": at("generationConfig", "thinkingConfig"),
            "ollama": at("think"),
        },
        ("thinking", "reasoning"),
    ),
    Feature(
        "stop sequences",
        {
            "openai": {"stop": [WORD]},
            "claude": {"stop_sequences": [WORD]},
            "gemini": generation(stopSequences=[WORD]),
            "ollama": options(stop=[WORD]),
        },
        ANY,
        ("stop",),
    ),
    Feature(
        "temperature",
        {
            "openai": {"temperature": 0.25},
            "openai-responses": {"temperature": 0.25},
            "claude": {"temperature": 0.25},
            "gemini": generation(temperature=0.25),
            "ollama": options(temperature=0.25),
        },
        {
            "openai": at("temperature", equals=0.25),
            "openai-responses": at("temperature", equals=0.25),
            "claude": at("temperature", equals=0.25),
            "gemini": at("generationConfig", "temperature", equals=0.25),
            "ollama": at("options", "temperature", equals=0.25),
        },
    ),
    Feature(
        "top_p",
        {
            "openai": {"top_p": 0.25},
            "openai-responses": {"top_p": 0.25},
            "claude": {"top_p": 0.25},
            "gemini": generation(topP=0.25),
            "ollama": options(top_p=0.25),
        },
        {wire: says("0.25") for wire in FORMATS},
    ),
    Feature(
        "top_k",
        {"claude": {"top_k": 17}, "gemini": generation(topK=17), "ollama": options(top_k=17)},
        {wire: says("17") for wire in FORMATS},
    ),
    Feature(
        "max tokens",
        {
            "openai": {"max_completion_tokens": 4711},
            "openai-responses": {"max_output_tokens": 4711},
            "claude": {"max_tokens": 4711},
            "gemini": generation(maxOutputTokens=4711),
            "ollama": options(num_predict=4711),
        },
        {wire: says("4711") for wire in FORMATS},
    ),
    Feature(
        "seed",
        {
            "openai": {"seed": 4711},
            "gemini": generation(seed=4711),
            "ollama": options(seed=4711),
        },
        {wire: says("4711") for wire in FORMATS},
    ),
    Feature(
        "presence_penalty",
        {
            "openai": {"presence_penalty": 0.25},
            "gemini": generation(presencePenalty=0.25),
            "ollama": options(presence_penalty=0.25),
        },
        {wire: says("0.25") for wire in FORMATS},
    ),
    Feature(
        "frequency_penalty",
        {
            "openai": {"frequency_penalty": 0.25},
            "gemini": generation(frequencyPenalty=0.25),
            "ollama": options(frequency_penalty=0.25),
        },
        {wire: says("0.25") for wire in FORMATS},
    ),
    Feature(
        "cache markers",
        {
            "claude": {
                "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]
            }
        },
        {wire: says("cache_control") for wire in FORMATS},
        ("cache_control",),
    ),
    Feature(
        "cache key",
        {
            "openai": {"prompt_cache_key": WORD},
            "openai-responses": {"prompt_cache_key": WORD},
        },
        ANY,
        ("cache_key",),
    ),
    Feature(
        "end user",
        {
            "openai": {"user": WORD},
            "openai-responses": {"user": WORD},
            "claude": {"metadata": {"user_id": WORD}},
        },
        ANY,
        ("user",),
    ),
    Feature(
        "logprobs",
        {
            "openai": {"logprobs": True, "top_logprobs": 3},
            "openai-responses": {"include": ["message.output_text.logprobs"], "top_logprobs": 3},
            "gemini": generation(responseLogprobs=True, logprobs=3),
            "ollama": {"logprobs": True, "top_logprobs": 3},
        },
        {wire: says("ogprobs") for wire in FORMATS},
        ("logprobs",),
    ),
    Feature(
        "several answers",
        {"openai": {"n": 3}, "gemini": generation(candidateCount=3)},
        {
            "openai": at("n", equals=3),
            "openai-responses": at("n"),
            "claude": at("n"),
            "gemini": at("generationConfig", "candidateCount", equals=3),
            "ollama": at("n"),
        },
        ("candidates",),
    ),
    Feature(
        "web search",
        {
            "openai-responses": {"tools": [{"type": "web_search"}]},
            "claude": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
            "gemini": {"tools": [{"googleSearch": {}}]},
        },
        {
            "openai": at("web_search_options"),
            "openai-responses": says("web_search"),
            "claude": says("web_search_2025"),
            "gemini": says("googleSearch"),
            "ollama": says("web_search"),
        },
        ("tool:web_search",),
    ),
    Feature(
        "unknown member",
        {wire: {"x_novelty": WORD} for wire in FORMATS},
        ANY,
        ("x_novelty",),
    ),
)
