"""A certificate that is renewed while the gateway runs."""

import asyncio
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from certificates import Issued, issue
from cryptography.hazmat.primitives import serialization as form
from h2_apps import echo
from h2_peer import Place, place

from gateway_cli.tls_certificate import Certificate
from gateway_core.config.errors import ConfigError

PROTOCOLS = ["h2"]


@pytest.fixture
def served(tmp_path: Path) -> Issued:
    (tmp_path / "served").mkdir()
    return issue(tmp_path / "served")


@pytest.fixture
def renewed(tmp_path: Path) -> Issued:
    (tmp_path / "renewed").mkdir()
    return issue(tmp_path / "renewed")


def certificate(served: Issued) -> Certificate:
    return Certificate(served.cert, served.key, PROTOCOLS)


def replace(served: Issued, renewed: Issued, *names: str) -> None:
    """Put new files in the place of the old ones."""
    for name in names:
        source: Path = getattr(renewed, name)
        aside = source.with_suffix(".aside")
        aside.write_bytes(source.read_bytes())
        aside.replace(getattr(served, name))


def looked(certificate: Certificate, times: int = 2) -> bool:
    """Whether something else is served after some looks."""
    before = certificate.context
    for _ in range(times):
        certificate.reload_if_changed()
    return certificate.context is not before


def test_new_files_are_taken_over_once_they_stay_the_same(
    served: Issued, renewed: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    here = certificate(served)
    assert not looked(here)

    replace(served, renewed, "cert", "key")

    assert not looked(here, times=1)
    assert looked(here, times=1)
    assert not looked(here)
    assert [str(served.cert) in each for each in caplog.messages] == [True]


def test_files_that_are_written_in_place_are_noticed_too(served: Issued, renewed: Issued) -> None:
    here = certificate(served)

    served.cert.write_bytes(renewed.cert.read_bytes())
    served.key.write_bytes(renewed.key.read_bytes())
    os.utime(served.key, ns=(1, 1))

    assert looked(here)


def test_a_folder_that_is_changed_for_another_is_noticed(
    served: Issued, renewed: Issued, tmp_path: Path
) -> None:
    folder = tmp_path / "current"
    folder.symlink_to(served.cert.parent)
    here = Certificate(folder / "cert.pem", folder / "key.pem", PROTOCOLS)

    folder.unlink()
    folder.symlink_to(renewed.cert.parent)

    assert looked(here)


def test_a_file_that_may_be_read_now_is_tried_again(
    served: Issued, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = certificate(served)
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda *_: False)
        served.key.chmod(0o400)
        assert not looked(here)
    assert "cannot be read" in caplog.text

    served.key.chmod(0o600)

    assert looked(here)


SPOILED = {
    "a key that belongs to another": (b"", "does not belong to the certificate"),
    "a key that is none": (b"nonsense", "cannot be used with the certificate"),
    "no key": (None, "There is no file"),
}


@pytest.mark.parametrize(("key", "written"), SPOILED.values(), ids=SPOILED.keys())
def test_what_is_no_good_changes_nothing_and_is_said_once(
    served: Issued,
    renewed: Issued,
    caplog: pytest.LogCaptureFixture,
    key: bytes | None,
    written: str,
) -> None:
    here = certificate(served)

    replace(served, renewed, "cert")
    if key is None:
        served.key.unlink()
    elif key:
        served.key.write_bytes(key)

    assert not looked(here, times=5)
    (message,) = caplog.messages
    assert message.startswith("TLS continues with the old certificate. ")
    assert written in message
    replace(served, renewed, "key")
    assert looked(here)


def test_a_key_with_a_password_is_not_taken_over(
    served: Issued, renewed: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    here = certificate(served)
    key = form.load_pem_private_key(renewed.key.read_bytes(), None)
    locked = form.BestAvailableEncryption(b"a-canary")

    replace(served, renewed, "cert")
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, locked)
    served.key.write_bytes(pem)

    assert not looked(here)
    assert "has a password: give one without" in caplog.text


def test_a_file_that_goes_while_it_is_read_is_one_sentence(
    served: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any, **__: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("ssl.SSLContext.load_cert_chain", gone)

    with pytest.raises(ConfigError, match="cannot be read"):
        certificate(served)


async def hello(here: Place, trusted: Issued) -> asyncio.StreamWriter:
    context = trusted.trusting("h2")
    _, writer = await asyncio.open_connection("127.0.0.1", here.port, ssl=context)
    return writer


@pytest.mark.anyio
async def test_a_running_gateway_goes_over_to_a_new_certificate(
    served: Issued, renewed: Issued
) -> None:
    async with place(echo, served) as here, here.peer() as before:
        replace(served, renewed, "cert", "key")
        for _ in range(2):
            here.manager.tick()
        writer = await hello(here, renewed)
        agreed = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        writer.transport.abort()
        heard = await before.answer(await before.request())

    assert agreed == "h2"
    assert heard.status == 200
