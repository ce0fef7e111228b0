"""An exchange becomes a cassette that says nothing, and replays."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from gateway_kit.cassettes.cassette import (
    BadCassette,
    make_cassette,
    read_cassette,
    write_cassette,
)
from gateway_kit.cassettes.command import cassette_command
from gateway_kit.cassettes.masking import Masker, blank
from gateway_kit.cassettes.replay import CassetteVendor, replay_cassette
from gateway_kit.served_gateway import ServedGateway
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_core.config.environment import from_environ

SECRETS = (
    *("Tangerine7", "sk-proj-abcdef123456", "AKIAIOSFODNN7", "hunter2", "p4ss:w0rd"),
    *("ghp_16C7e42F", "correct horse", "eyJhbGciOiJI.e30", "jo@example.org", "Größe9"),
)
HISTORY, DETAILS = "/api/usage/history", "/api/usage/request-details"
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": SECRETS[0],
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def asked(stream: bool) -> bytes:
    said = " ".join(SECRETS)
    members: dict[str, Any] = {
        "messages": [{"role": "system", "content": said}, {"role": "user", "content": said}],
        "tools": [TOOL],
        "user": SECRETS[8],
        "metadata": {"password": SECRETS[3]},
        "stream": stream,
        "max_tokens": 50,
    }
    return json.dumps({"model": "kit-vendor/large", **members}).encode()


def recorded(tmp_path: Path, path: str, wire: str, body: bytes) -> tuple[Any, Any]:
    """The history's row and the details of one request to a gateway."""
    with exchange(tmp_path, wire, path, body) as (_, row, detail):
        return row, detail


@contextmanager
def exchange(
    tmp_path: Path, wire: str, path: str, body: bytes
) -> Iterator[tuple[ServedGateway, Any, Any]]:
    """A gateway that keeps contents and has served one request, its row and its details."""
    with ServedGateway(
        CassetteVendor(wire), "gateway_dashboard_api.plugin", data_dir=tmp_path
    ) as gateway:
        operator = {**gateway.operator(), "content-type": "application/json"}
        kept = {"enableObservability": True, "observabilityMaxJsonSize": 512}
        settings = json.dumps({**kept, "observabilityBatchSize": 1}).encode()
        assert gateway.request("PATCH", "/api/settings", settings, operator).status == 200
        gateway.answer("tools")
        headers = {"content-type": "application/json", "x-tenant": SECRETS[0]}
        answer = gateway.request("POST", f"{path}?tenant={SECRETS[3]}", body, headers)
        assert answer.status == 200, answer.text
        gateway.rows()
        [row] = gateway.request("GET", HISTORY, b"", operator).json()["rows"]
        deadline = time.monotonic() + 20
        while True:  # Details are written a moment later.
            [detail] = gateway.request("GET", DETAILS, b"", operator).json()["details"]
            if detail["response"] is not None:
                break
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield gateway, row, detail


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", ["openai", "claude", "openai-responses", "ollama"])
def test_an_exchange_replays_and_says_nothing(wire: str, stream: bool, tmp_path: Path) -> None:
    row, detail = recorded(tmp_path, "/v1/chat/completions", wire, asked(stream))

    content = write_cassette(make_cassette(row, detail))

    shown = json.dumps(detail, ensure_ascii=False)
    assert all(secret in shown for secret in (SECRETS[0], SECRETS[3], SECRETS[8], SECRETS[9]))
    # Names of the tool are letters, and so blanked; the words that the vendor said are too.
    for secret in (*SECRETS, "look_up", "tenant", "sk-", "kit.example"):
        assert secret.encode() not in content, secret
        assert json.dumps(secret)[1:-1].encode() not in content, secret
    (tmp_path / "one.json").write_bytes(content)
    replay_cassette(tmp_path / "one.json")


def test_a_gateway_that_answers_otherwise_fails_the_replay(tmp_path: Path) -> None:
    row, detail = recorded(tmp_path, "/v1/messages", "openai", messages())
    cassette = make_cassette(row, detail)

    replay_cassette(cassette)

    with pytest.raises(AssertionError, match="the client is answered otherwise"):
        replay_cassette(replace(cassette, answer={**cassette.answer, "stop_reason": "end_turn"}))
    with pytest.raises(AssertionError, match="the vendor is asked otherwise"):
        replay_cassette(replace(cassette, sent={**cassette.sent, "max_tokens": 51}))


def messages() -> bytes:
    tool = {"name": "look_up", "input_schema": {"type": "object", "properties": {}}}
    members = {"messages": [{"role": "user", "content": SECRETS[0]}], "tools": [tool]}
    return json.dumps({"model": "kit-vendor/large", "max_tokens": 50, **members}).encode()


@pytest.mark.parametrize(
    "part", [None, {"_truncated": True, "_originalSize": 9, "_preview": "x"}], ids=["none", "part"]
)
def test_what_was_not_kept_whole_is_no_cassette(part: Any) -> None:
    with pytest.raises(BadCassette, match="Its contents are"):
        make_cassette({"endpoint": "/v1/chat/completions"}, {"request": part})


@given(st.lists(st.text()))
def test_pieces_of_a_text_add_up_when_they_are_blanked(pieces: list[str]) -> None:
    whole = blank("".join(pieces))

    assert whole == "".join(map(blank, pieces))
    assert set(whole) & set("abcdefghijklmnopqrstuvwyz023456789") == set()
    assert blank(whole) == whole


@given(
    st.recursive(st.text() | st.integers(), lambda s: st.lists(s) | st.dictionaries(st.text(), s))
)
def test_masking_twice_is_masking_once(document: Any) -> None:
    once = Masker().value(document)

    assert Masker().value(once) == once


def test_the_command_replays_a_file_and_refuses_others(tmp_path: Path) -> None:
    file, environment = tmp_path / "c.json", from_environ({"DATA_DIR": str(tmp_path / "data")})
    file.write_bytes(b"{}")

    result = CliRunner().invoke(cassette_command, [str(file), "--replay"], obj=environment)

    assert result.exit_code == 1
    assert "is no cassette" in result.output
    with pytest.raises(BadCassette):
        read_cassette(file)


def test_the_command_asks_the_gateway_and_writes_what_replays(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "c.json"
    data.mkdir()
    with exchange(data, "openai", "/v1/chat/completions", asked(stream=True)) as (gateway, row, _):
        environment = from_environ({"DATA_DIR": str(data)})
        arguments = [row["requestId"], "--out", str(file), "--url", gateway.url]

        written = CliRunner().invoke(cassette_command, arguments, obj=environment)
        unknown = CliRunner().invoke(
            cassette_command, ["nothing", "--url", gateway.url], obj=environment
        )
        again = CliRunner().invoke(cassette_command, [str(file), "--replay"], obj=environment)

    assert (written.exit_code, again.exit_code) == (0, 0), written.output + again.output
    assert written.output == f"{file} is written, and replays.\n"
    assert unknown.exit_code == 1
    assert "There is no request nothing." in unknown.output
