"""What clients of Aspen send, by the kit's names."""

from typing import Any

CITY = {"type": "object", "properties": {"city4711": {"type": "string"}}}
TOOLBOX = [
    {"name": "look", "purpose": "Looks up a city", "takes": CITY},
    {"name": "ask_time", "purpose": "Asks the time", "takes": {"type": "object"}},
]
JPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkIC4711A=="


def say(speaker: str, *texts: str) -> dict[str, Any]:
    return {"speaker": speaker, "blocks": [{"text": text} for text in texts]}


def human(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"speaker": "human", "blocks": list(blocks)}


def results(*pieces: dict[str, Any]) -> dict[str, Any]:
    return human(
        {"outcome": {"ref": "call_00001", "pieces": list(pieces)}},
        {"outcome": {"ref": "call_00002", "pieces": [{"text": "three"}]}},
    )


QUESTION = say("human", "a question")
PLAIN: dict[str, Any] = {"history": [QUESTION]}
PICTURE = {"picture": {"mime": "image/jpeg", "b64": JPEG}}
FILE = {"file": {"mime": "application/pdf", "b64": JPEG, "title": "a4711.pdf"}}
ROUND = [
    QUESTION,
    {
        "speaker": "machine",
        "blocks": [
            {"use": {"ref": "call_00001", "tool": "look", "args": {"city4711": "Rome"}}},
            {"use": {"ref": "call_00002", "tool": "ask_time"}},
        ],
    },
    human(
        {"outcome": {"ref": "call_00001", "pieces": [{"text": "sunny"}]}},
        {"outcome": {"ref": "call_00002", "pieces": [{"text": "too late"}], "ok": False}},
    ),
]
BODIES: dict[str, dict[str, Any] | None] = {
    "question": PLAIN,
    "stream": {**PLAIN, "live": True},
    "system texts": {**PLAIN, "brief": ["Be brief.", "Be kind."]},
    "earlier turns": {"history": [QUESTION, say("machine", "an answer"), say("human", "why")]},
    "system turn": {"history": [QUESTION, say("guide", "Stop."), QUESTION]},
    "two texts": {"history": [say("human", "one", "two")]},
    "image": {"history": [human({"text": "what"}, PICTURE)]},
    "tools": {**PLAIN, "toolbox": TOOLBOX},
    "tool round": {"toolbox": TOOLBOX, "history": ROUND},
    "tool required": {**PLAIN, "toolbox": TOOLBOX, "rule": "always"},
    "one tool": {**PLAIN, "toolbox": TOOLBOX, "rule": ["look"]},
    "output schema": {**PLAIN, "shape": CITY},
    "user": {**PLAIN, "who": "user-1"},
    "unknown member": {**PLAIN, "kit_unknown": "kept"},
    "max_tokens": {**PLAIN, "dials": {"limit": 5417}},
    "temperature": {**PLAIN, "dials": {"heat": 0.61}},
    "top_p": {**PLAIN, "dials": {"nucleus": 0.37}},
    "top_k": {**PLAIN, "dials": {"top": 47}},
    "seed": {**PLAIN, "dials": {"seed": 48213}},
    "stop": {**PLAIN, "dials": {"halts": ["halt one", "halt two"]}},
    "presence_penalty": {**PLAIN, "dials": {"presence": 0.53}},
    "frequency_penalty": {**PLAIN, "dials": {"frequency": 0.57}},
    "image address": {
        "history": [human({"text": "what"}, {"picture": {"href": "https://kit.example/4711.png"}})]
    },
    "document": {"history": [human({"text": "read"}, FILE)]},
    "sound": {"history": [human({"sound": {"mime": "audio/wav", "b64": JPEG}})]},
    "speaker": {"history": [{**QUESTION, "name": "Ada"}]},
    "signed thinking": {
        "history": [
            QUESTION,
            {
                "speaker": "machine",
                "blocks": [
                    {"thought": {"text": "pondering4711", "proof": "c2lnbmVkNDcxMQ=="}},
                    {"text": "an answer"},
                ],
            },
            QUESTION,
        ]
    },
    "two results": {
        "toolbox": TOOLBOX,
        "history": [*ROUND[:2], results({"text": "one"}, {"text": "two"})],
    },
    "image in a result": {
        "toolbox": TOOLBOX,
        "history": [*ROUND[:2], results({"text": "seen"}, PICTURE)],
    },
    "image address in a result": {
        "toolbox": TOOLBOX,
        "history": [*ROUND[:2], results({"picture": {"href": "https://kit.example/4712.png"}})],
    },
    "any tool": {**PLAIN, "toolbox": TOOLBOX, "rule": "free"},
    "no tool": {**PLAIN, "toolbox": TOOLBOX, "rule": "never"},
    "two of the tools": {**PLAIN, "toolbox": TOOLBOX, "rule": ["look", "ask_time"]},
    "strict tool": {**PLAIN, "toolbox": [{**TOOLBOX[0], "strict": True}]},
    "one at a time": {**PLAIN, "toolbox": TOOLBOX, "together": False},
    "several at once": {**PLAIN, "toolbox": TOOLBOX, "together": True},
    "effort": {**PLAIN, "think": {"effort": "high"}},
    "budget": {**PLAIN, "think": {"budget": 5021}},
    "min_p": {**PLAIN, "dials": {"floor": 0.07}},
    "ordered schema": {
        **PLAIN,
        "shape": {"type": "object", "properties": {"z": {}, "a": {}}},
    },
}
