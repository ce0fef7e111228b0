"""Asks a gateway what a cassette's client asked, in front of a vendor that says what its did."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from gateway_core import Model, ProviderSpec, hookimpl

from ..kit_vendor import ID
from ..mock_vendor import MockResponse
from ..served_gateway import ServedGateway
from .cassette import Cassette, read_cassette
from .masking import IDS, MODEL, Masker

OWN = IDS | {"created", "created_at", "createTime", "completed_at", "system_fingerprint"}
"""Members that differ from one call to the next."""


class CassetteVendor:
    """A plugin with a vendor of a cassette's format."""

    def __init__(self, wire: str) -> None:
        self._wire = wire

    @hookimpl
    def register_providers(self) -> list[ProviderSpec]:
        base = "https://api.kit.example/v1"
        return [
            ProviderSpec(
                id=ID, name="Kit", base_url=base, format=self._wire, models=(Model(MODEL),)
            )
        ]


def replay_cassette(cassette: Cassette | str | Path) -> None:
    """Raises AssertionError where the vendor is asked, or the client answered, anything else.

    Also raises BadCassette and OSError for a file that cannot be read.
    """
    tape = cassette if isinstance(cassette, Cassette) else read_cassette(cassette)
    with (
        TemporaryDirectory() as folder,
        ServedGateway(CassetteVendor(tape.vendor_format), data_dir=Path(folder)) as gateway,
    ):
        reply = tape.reply if isinstance(tape.reply, str) else msgspec.json.encode(tape.reply)
        reply = reply.encode() if isinstance(reply, str) else reply
        gateway.answer_with(
            MockResponse((reply,), status=tape.status, content_type=tape.media_type)
        )
        body = {**tape.request, "model": f"{ID}/{MODEL}"}
        json_type = {"content-type": "application/json"}
        answer = gateway.request("POST", tape.path, msgspec.json.encode(body), json_type)
        assert gateway.received, f"the vendor was not asked: {answer.status} {answer.text[:500]}"
        _same("the vendor is asked", gateway.received[0].text, tape.sent)
        _same("the client is answered", answer.text, tape.answer)


def _same(what: str, seen: str, recorded: Any) -> None:
    masker = Masker()
    first = [_lasting(each) for each in _documents(seen, masker)]
    again = recorded if isinstance(recorded, str) else msgspec.json.encode(recorded).decode()
    second = [_lasting(each) for each in _documents(again, masker)]
    assert first == second, f"{what} otherwise: {first} was {second}"


def _documents(text: str, masker: Masker) -> Iterator[Any]:
    """Each document of a body, masked; a stream's end is one too."""
    try:
        yield masker.value(msgspec.json.decode(text))
    except msgspec.DecodeError:
        for line in text.splitlines():
            name, _, rest = line.partition(":")
            if name == "data" and rest.strip() != "[DONE]":
                yield masker.value(msgspec.json.decode(rest))
            elif line.startswith("{"):
                yield masker.value(msgspec.json.decode(line))


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lasting(each) for name, each in value.items() if name not in OWN}
    return [_lasting(each) for each in value] if isinstance(value, list) else value
