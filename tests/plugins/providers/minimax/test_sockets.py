"""Speech over a socket; the events are those of the vendor's published reference."""

import json

from gateway_provider_minimax import CHINA, MINIMAX
from gateway_provider_minimax.sockets import SpeechReader

from gateway_core import Usage


def test_each_platform_has_both_sockets():
    assert [each.url for each in (*MINIMAX.sockets, *CHINA.sockets)] == [
        "wss://api.minimax.io/ws/v1/t2a_v2",
        "wss://api.minimax.io/ws/v1/t2a_v2_bidi",
        "wss://api.minimax.cn/ws/v1/t2a_v2",
        "wss://api.minimax.cn/ws/v1/t2a_v2_bidi",
    ]


def test_an_answer_counts_the_characters_that_are_reported():
    reader = SpeechReader({})
    text = json.dumps({"event": "task_continue", "text": "four"})
    final = json.dumps({"is_final": True, "extra_info": {"usage_characters": 5}})

    assert reader.read_client('{"event":"task_start","model":"speech-2.8-hd"}').begins == ""
    assert reader.read_client(text).begins == "running"
    assert reader.read_client(text).begins == ""
    assert reader.read_vendor('{"event":"task_continued","is_final":false}').spent is None
    assert reader.read_vendor(final).spent.usage == Usage(units={"characters": 5.0})
    assert reader.read_vendor('{"event":"task_finished"}').spent is None


def test_text_counts_where_nothing_is_reported():
    reader = SpeechReader({})
    reader.read_client('{"event":"task_continue","text":"seven.."}')

    assert reader.close().usage == Usage(units={"characters": 7.0})
    assert reader.close() is None
