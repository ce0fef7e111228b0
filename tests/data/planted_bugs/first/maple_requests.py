"""What clients of Maple send, by the kit's names."""

from typing import Any

CITY = {"type": "object", "properties": {"city4711": {"type": "string"}}}
ACTIONS = [
    {"name": "look", "about": "Looks up a city", "input": CITY},
    {"name": "ask_time", "about": "Asks the time", "input": {"type": "object"}},
]
JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkIC4711A=="


def say(who: str, *texts: str) -> dict[str, Any]:
    return {"who": who, "parts": [{"t": "say", "text": text} for text in texts]}


QUESTION = say("me", "a question")
PLAIN: dict[str, Any] = {"model": "kit-model", "lines": [QUESTION]}
PICTURE = {"t": "show", "media_type": "image/jpeg", "base64": JPEG}
ROUND = [
    QUESTION,
    {
        "who": "you",
        "parts": [
            {"t": "act", "id": "call_00001", "name": "look", "input": '{"city4711":"Rome"}'},
            {"t": "act", "id": "call_00002", "name": "ask_time", "input": "{}"},
        ],
    },
    {
        "who": "me",
        "parts": [
            {"t": "done", "id": "call_00001", "text": "sunny"},
            {"t": "done", "id": "call_00002", "text": "too late", "failed": True},
        ],
    },
]
BODIES: dict[str, dict[str, Any] | None] = {
    "question": PLAIN,
    "stream": {**PLAIN, "stream": True},
    "system texts": {**PLAIN, "rules": ["Be brief.", "Be kind."]},
    "earlier turns": {**PLAIN, "lines": [QUESTION, say("you", "an answer"), say("me", "why")]},
    "system turn": {**PLAIN, "lines": [QUESTION, say("rule", "Stop."), QUESTION]},
    "two texts": {**PLAIN, "lines": [say("me", "one", "two")]},
    "image": {
        **PLAIN,
        "lines": [{"who": "me", "parts": [{"t": "say", "text": "what"}, PICTURE]}],
    },
    "tools": {**PLAIN, "actions": ACTIONS},
    "tool round": {**PLAIN, "actions": ACTIONS, "lines": ROUND},
    "tool required": {**PLAIN, "actions": ACTIONS, "must_act": True},
    "one tool": {**PLAIN, "actions": ACTIONS, "must_act": "look"},
    "output schema": {**PLAIN, "answer_schema": CITY},
    "user": {**PLAIN, "user": "user-1"},
    "unknown member": {**PLAIN, "kit_unknown": "kept"},
    "max_tokens": {**PLAIN, "max_tokens": 5417},
    "temperature": {**PLAIN, "temperature": 0.61},
    "top_p": {**PLAIN, "top_p": 0.37},
    "top_k": None,
    "seed": {**PLAIN, "seed": 48213},
    "stop": {**PLAIN, "stop": ["halt one", "halt two"]},
    "presence_penalty": None,
    "frequency_penalty": None,
}
