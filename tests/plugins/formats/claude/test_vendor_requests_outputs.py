"""The form that an answer is to have, in requests to this vendor."""

import json

from claude_conversations import At, Tell, asking
from msgspec import Raw

from gateway_core import Output, Text


def test_a_form_by_schema(tell: Tell, at: At) -> None:
    output = Output(schema=Raw(b'{"type":"object","properties":{"n":{"type":"string"}}}'))

    written, losses = tell(asking(output=output))

    assert written["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"n": {"type": "string"}},
            "additionalProperties": False,
        },
    }
    assert losses == []

    written, losses = tell(asking(output=output, instructions=(Text(text="s"),)), at("kimi-k2"))

    assert "output_config" not in written
    assert '"properties":{"n"' in written["system"][1]["text"]
    assert losses == ["output_schema"]

    written, losses = tell(asking(output=output), at("kimi-k2", structured_outputs=True))

    assert "output_config" in written
    assert losses == []


def test_a_form_that_must_give_way_is_recorded(tell: Tell) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "string", "maxLength": 3}},
        "additionalProperties": False,
    }

    written, losses = tell(asking(output=Output(schema=Raw(json.dumps(schema).encode()))))

    assert (
        "maxLength: 3"
        in written["output_config"]["format"]["schema"]["properties"]["n"]["description"]
    )
    assert losses == ["output_schema"]


def test_any_json_is_asked_for_in_words(tell: Tell) -> None:
    written, losses = tell(asking(output=Output()))

    assert "JSON" in written["system"]
    assert losses == ["output_json"]
