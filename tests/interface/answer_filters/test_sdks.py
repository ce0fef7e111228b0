"""Filters of answers, seen by the vendors' own SDKs, with recorded answers behind the gateway."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from answer_filters import SettableFilter, filter_plugin
from corpus import answer
from plain_readers import read
from sdk_clients import CLIENTS, FOLDERS, pick, recordings, script
from served_gateway import Served, serve_gateway

FILTER = SettableFilter()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    scripts = {wire: script(wire, known) for wire, known in recordings().items()}
    folder = Path(tmp_path_factory.mktemp("gateway"))
    plugins = {"settable": filter_plugin(FILTER)}
    with serve_gateway(folder, scripts, plugins=plugins) as running:
        yield running


every_client = pytest.mark.parametrize("client", CLIENTS)
every_vendor = pytest.mark.parametrize("vendor", FOLDERS)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@both_ways
@every_vendor
@every_client
def test_text_is_changed_and_the_row_is_the_vendors(
    here: Served, client: str, vendor: str, stream: bool
) -> None:
    item = pick(vendor, "text", stream)
    expected = read(vendor, answer(item), stream=stream)
    word = max(expected.text.split(), key=len)[:16]
    FILTER.mode, FILTER.word = "hides", word

    reply = CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    assert reply.text == expected.text.replace(word, "▇")
    assert reply.input_tokens == expected.input_tokens
    assert reply.output_tokens == expected.output_tokens
    row = here.rows()[0]
    assert (row.input_tokens, row.output_tokens) == (expected.input_tokens, expected.output_tokens)
    assert (row.status, row.client_format, row.provider) == ("ok", client, f"v-{vendor}")


@both_ways
@every_vendor
@every_client
def test_tool_calls_stay_whole(here: Served, client: str, vendor: str, stream: bool) -> None:
    item = pick(vendor, "parallel" if vendor != "ollama" else "tool", stream)
    expected = read(vendor, answer(item), stream=stream)
    FILTER.mode, FILTER.word = "hides", "no such word"

    reply = CLIENTS[client](here, f"v-{vendor}/{item['id']}", stream)

    assert (reply.text, reply.calls) == (expected.text, expected.calls)


@both_ways
@every_client
def test_an_answer_is_ended_in_the_clients_format(here: Served, client: str, stream: bool) -> None:
    item = pick("openai", "text", stream)
    # The SDK of chat completions raises an error of its own for ``content_filter``.
    FILTER.mode, FILTER.word, FILTER.finish = "stops", "", "stop"

    reply = CLIENTS[client](here, f"v-openai/{item['id']}", stream)

    assert reply.text == "That is not for you."
    row = here.rows()[0]
    assert (row.status, row.http_status, row.error_code) == ("ok", 200, "answer_stopped")
    assert row.input_tokens > 0
    assert row.output_tokens > 0


@both_ways
@every_client
def test_an_answer_is_refused_with_a_status_while_nothing_was_sent(
    here: Served, client: str, stream: bool
) -> None:
    item = pick("claude", "text", stream)
    FILTER.mode, FILTER.word = "refuses", ""

    with pytest.raises(Exception, match="The answer holds what it may not"):
        CLIENTS[client](here, f"v-claude/{item['id']}", stream)

    row = here.rows()[0]
    assert (row.status, row.http_status, row.error_code) == ("error", 400, "blocked")
    assert row.input_tokens > 0
    assert row.output_tokens > 0
