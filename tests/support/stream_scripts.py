"""A vendor script with answers of every shape that a server has to send."""

import json

from custom_node import END, EVENT
from fake_vendor import MockResponse, ReceivedRequest

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


def script(received: ReceivedRequest) -> MockResponse:
    written = {
        "whole": MockResponse((REPLY,)),
        "paced": MockResponse.stream(*(EVENT % b"%d" % n for n in range(20)), END, pause=0.01),
        "much": MockResponse.stream(*[LONG] * EVENTS, END),
        "endless": MockResponse.stream(*[LONG] * 10_000, pause=0.01),
        "broken": MockResponse((b'{"error": {"message": "no"}}',), status=400),
    }
    return written[received.json()["model"]]
