"""A vendor script with answers of every shape that a server has to send."""

import json

from custom_node import END, EVENT
from fake_vendor import Asked, Said

EVENTS = 200
REPLY = json.dumps(
    {
        "id": "c",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
    }
).encode()
LONG = EVENT % (b"x" * 1000)


def script(asked: Asked) -> Said:
    said = {
        "whole": Said((REPLY,)),
        "paced": Said.stream(*(EVENT % b"%d" % n for n in range(20)), END, pause=0.01),
        "much": Said.stream(*[LONG] * EVENTS, END),
        "endless": Said.stream(*[LONG] * 10_000, pause=0.01),
        "broken": Said((b'{"error": {"message": "no"}}',), status=400),
    }
    return said[asked.json()["model"]]
