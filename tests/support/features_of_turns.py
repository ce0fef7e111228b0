"""Contents of turns: text, images, files, tool calls and their results."""

from collections.abc import Mapping

from minimal_requests import (
    ANY,
    FORMATS,
    PDF,
    PNG,
    TOOL_NAMES,
    TOOLS,
    WORD,
    chat,
    contents,
    everywhere,
    history,
    items,
    user,
    with_words,
)
from request_probes import Feature, Json, at, both, either, says

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

TURNS: tuple[Feature, ...] = (
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
)
