"""Services over the generative-content format: vectors, pictures, speech, transcriptions and
grounded search are calls of a model there.

Wire: https://ai.google.dev/api/generate-content and https://ai.google.dev/api/embeddings
"""

import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from gateway_core import Kind, Service, UpstreamError, Usage

from .chat_search import ask, read_chat_search, results
from .forms import content_of
from .painters import files_of, lose_address, ratio_of, show_bytes
from .refusals import words_of
from .speech import read_recording
from .translated import Content, JsonService, Question
from .usages import count_of
from .vectors import dimensions_of, texts_of, write_vectors

TASKS = {
    "search_document": "RETRIEVAL_DOCUMENT",
    "search_query": "RETRIEVAL_QUERY",
    "classification": "CLASSIFICATION",
    "clustering": "CLUSTERING",
}
"""Our ``input_type`` as the vendor's ``taskType``."""
VOICE = "Kore"
RATE = 24_000
"""Samples a second of the vendor's speech: https://ai.google.dev/gemini-api/docs/speech-generation"""


def generate_path(question: Question) -> str:
    return f"/models/{question.target.model.id.partition('/')[0]}:generateContent"


def tokens_of(answer: Any) -> tuple[int, int]:
    """Tokens of the question and of the answer, thinking included."""
    reported = answer.get("usageMetadata") if isinstance(answer, Mapping) else None
    thoughts = count_of(reported, "thoughtsTokenCount")
    return count_of(reported, "promptTokenCount"), count_of(
        reported, "candidatesTokenCount"
    ) + thoughts


def read_generated_usage(question: Question, answer: Any) -> Usage | None:
    sent, answered = tokens_of(answer)
    return Usage(input_tokens=sent, output_tokens=answered) if sent or answered else None


def parts_of(answer: Any) -> Iterator[Mapping[str, Any]]:
    """The pieces of an answer. Raises UpstreamError where the vendor refused to make one."""
    if answer.get("error"):
        raise UpstreamError(words_of(answer["error"]) or "The upstream reported an error")
    blocked = (answer.get("promptFeedback") or {}).get("blockReason")
    if blocked:
        raise UpstreamError(f"The upstream refused: {blocked}", status=400)
    for candidate in answer.get("candidates") or ():
        yield from (candidate.get("content") or {}).get("parts") or ()


def text_of(answer: Any) -> str:
    parts = parts_of(answer)
    return "".join(part.get("text") or "" for part in parts if not part.get("thought"))


def embedding_path(question: Question) -> str:
    method = "batchEmbedContents" if isinstance(question.members["input"], list) else "embedContent"
    return f"/models/{question.target.model.id}:{method}"


def write_embedding(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "dimensions", "encoding_format", "input_type")
    options: dict[str, Any] = {"model": f"models/{question.target.model.id}"}
    if dimensions := dimensions_of(question):
        options["outputDimensionality"] = dimensions
    task = question.members.get("input_type")
    if task:
        options["taskType"] = TASKS.get(str(task), task)
    requests = [{**options, "content": {"parts": [{"text": text}]}} for text in texts_of(question)]
    return {"requests": requests} if isinstance(question.members["input"], list) else requests[0]


def read_embedding(question: Question, answer: Any) -> Mapping[str, Any]:
    rows = answer["embeddings"] if "embeddings" in answer else [answer["embedding"]]
    return write_vectors(question, [row["values"] for row in rows], tokens_of(answer)[0])


def write_picture(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("prompt", "size", "aspect_ratio", "response_format", "image", "images")
    lose_address(question)
    parts: list[dict[str, Any]] = [{"text": question.members["prompt"]}]
    parts += [
        {"inlineData": {"mimeType": media_type, "data": data}}
        for media_type, data in files_of(question)
    ]
    config: dict[str, Any] = {"responseModalities": ["TEXT", "IMAGE"]}
    if ratio := ratio_of(question):
        config["imageConfig"] = {"aspectRatio": ratio}
    return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}


def read_picture(question: Question, answer: Any) -> Mapping[str, Any]:
    parts = list(parts_of(answer))
    images = [part["inlineData"]["data"] for part in parts if part.get("inlineData")]
    if not images:
        words = text_of(answer).strip()
        raise UpstreamError(words[:300] or "The upstream made no picture")
    sent, answered = tokens_of(answer)
    usage = {"input_tokens": sent, "output_tokens": answered, "total_tokens": sent + answered}
    return {**show_bytes(*images), "usage": usage}


def write_speech(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input", "voice", "instructions", "response_format")
    if question.members.get("response_format") not in (None, "wav", "pcm", "json"):
        question.losses.add("response_format")
    style = question.members.get("instructions")
    text = question.members["input"]
    voice = question.target.model.id.partition("/")[2] or question.members.get("voice") or VOICE
    return {
        "contents": [{"role": "user", "parts": [{"text": f"{style}: {text}" if style else text}]}],
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": voice}}},
        },
    }


def read_speech(question: Question, answer: Any) -> Content:
    images = [part["inlineData"] for part in parts_of(answer) if part.get("inlineData")]
    if not images:
        raise UpstreamError("The upstream said nothing")
    samples = b"".join(b64decode(piece["data"]) for piece in images)
    if question.members.get("response_format") == "pcm":
        return Content(samples, "audio/pcm")
    return Content(wav(samples, rate_of(images[0].get("mimeType") or "")), "audio/wav")


def rate_of(media_type: str) -> int:
    """The rate in ``audio/L16;codec=pcm;rate=24000``."""
    rate = media_type.partition("rate=")[2].partition(";")[0]
    return int(rate) if rate.isdecimal() and 0 < int(rate) < 1_000_000 else RATE


def wav(samples: bytes, rate: int) -> bytes:
    """Samples of 16 bits, one channel, with the header of a WAVE file."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    head = struct.pack("<4sI4s", b"RIFF", 36 + len(samples), b"WAVE")
    return head + form + struct.pack("<4sI", b"data", len(samples)) + samples


def write_transcription(question: Question) -> Mapping[str, Any]:
    part = read_recording(question, "language", "prompt")
    words = ["Write down the speech word for word, and nothing else."]
    if language := question.members.get("language"):
        words.append(f"The language is {language}.")
    if prompt := question.members.get("prompt"):
        words.append(str(prompt))
    sound = {
        "mimeType": part.media_type or "audio/wav",
        "data": b64encode(content_of(part)).decode(),
    }
    return {
        "contents": [{"role": "user", "parts": [{"text": " ".join(words)}, {"inlineData": sound}]}]
    }


def read_transcription(question: Question, answer: Any) -> Mapping[str, Any]:
    return {"text": text_of(answer).strip()}


def write_search(question: Question) -> Mapping[str, Any]:
    words = [{"text": ask(read_chat_search(question))}]
    return {"contents": [{"role": "user", "parts": words}], "tools": [{"googleSearch": {}}]}


def read_search_answer(question: Question, answer: Any) -> Mapping[str, Any]:
    grounds = (answer.get("candidates") or [{}])[0].get("groundingMetadata") or {}
    cited = [
        {"title": chunk["web"].get("title"), "url": chunk["web"].get("uri")}
        for chunk in grounds.get("groundingChunks") or ()
        if chunk.get("web")
    ]
    for support in grounds.get("groundingSupports") or ():
        for place in support.get("groundingChunkIndices") or ():
            if 0 <= place < len(cited):
                cited[place].setdefault("snippet", (support.get("segment") or {}).get("text"))
    return results(question, text_of(answer), cited)


def search_usage(question: Question, answer: Any) -> Usage:
    sent, answered = tokens_of(answer)
    return Usage(input_tokens=sent, output_tokens=answered, units={"queries": 1.0})


def generative_search(model: str) -> Service:
    """Search with the vendor's own search tool, by this model."""
    return Service(
        Kind.SEARCH,
        JsonService(
            path=f"/models/{model}:generateContent",
            write=write_search,
            read=read_search_answer,
            usage=search_usage,
        ),
    )


PICTURES = JsonService(
    path=generate_path, write=write_picture, read=read_picture, usage=read_generated_usage
)
SPEECH = JsonService(
    path=generate_path, write=write_speech, read=read_speech, usage=read_generated_usage
)
TRANSCRIPTION = JsonService(
    path=generate_path,
    write=write_transcription,
    read=read_transcription,
    usage=read_generated_usage,
)
EMBEDDING = JsonService(
    path=embedding_path,
    write=write_embedding,
    read=read_embedding,
    usage=lambda question, answer: Usage(input_tokens=tokens_of(answer)[0]),
    # https://ai.google.dev/api/embeddings: at most 100 requests of one batch.
    batch_limit=100,
)
GENERATIVE: Mapping[str, Service] = {
    "embedding": Service(Kind.EMBEDDING, EMBEDDING),
    "image": Service(Kind.IMAGE, PICTURES),
    "image/edit": Service(Kind.IMAGE, PICTURES, "edit"),
    "tts": Service(Kind.SPEECH, SPEECH),
    "stt": Service(Kind.TRANSCRIPTION, TRANSCRIPTION),
}
"""The services of the format, by the words that declare them."""
