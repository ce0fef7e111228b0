"""TLS before the manager: certificates that are no good, handshakes, and what is agreed on."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import httpx2
import pytest
from certificates import Issued, issue
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization as form
from h2_peer import Place, place

from gateway_cli.main import cli
from gateway_cli.servers import read_certificate
from gateway_core.config.environment import from_environ
from gateway_core.config.errors import ConfigError

pytestmark = pytest.mark.anyio
SERVERS = ["uvloop", "asyncio"]


async def tell(scope: Any, receive: Any, send: Any) -> None:
    """Answers with what was spoken, by whom and over what."""
    written = f"{scope['http_version']} {scope['scheme']} {scope['client'][0]}".encode()
    headers = [(b"content-length", str(len(written)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": written})


async def settle(here: Place, connections: int) -> None:
    async with asyncio.timeout(5):
        while len(here.manager.connections) != connections:
            await asyncio.sleep(0.001)


# Certificates.


def spoiled(issued: Issued, folder: Path) -> dict[str, list[str]]:
    """What is wrong, to what is said of it and the options that bring it about."""
    (folder / "other").mkdir()
    other = issue(folder / "other")
    locked, empty = folder / "locked.pem", folder / "empty.pem"
    empty.touch()
    key = form.load_pem_private_key(issued.key.read_bytes(), None)
    with_password = form.BestAvailableEncryption(b"a-canary")
    pem, pkcs8 = form.Encoding.PEM, form.PrivateFormat.PKCS8
    locked.write_bytes(key.private_bytes(pem, pkcs8, with_password))
    cert, key_file, gone = str(issued.cert), str(issued.key), str(folder / "gone.pem")
    return {
        f"There is no file {gone} with the TLS certificate.": [gone, key_file],
        f"There is no file {gone} with the TLS key.": [cert, gone],
        f"There is no file {folder} with the TLS key.": [cert, str(folder)],
        f"There is no certificate in PEM format in {empty}.": [str(empty), key_file],
        f"The TLS key in {empty} cannot be used with": [cert, str(empty)],
        f"There is no key beside the certificate in {cert}: name its file with --tls-key": [cert],
        f"The TLS key in {other.key} does not belong to": [cert, str(other.key)],
        f"The TLS key in {locked} has a password": [cert, str(locked)],
    }


def test_a_certificate_that_is_no_good_is_one_sentence(
    issued: Issued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))

    for sentence, files in spoiled(issued, tmp_path).items():
        options = zip(("--tls-cert", "--tls-key"), files, strict=False)
        reported = CliRunner().invoke(cli, ["--port", "0", *(x for pair in options for x in pair)])

        assert reported.exit_code == 1
        assert reported.output.startswith(f"Error: {sentence}")
        assert reported.output.count("\n") == 1
        assert not (tmp_path / "data").exists()


def test_a_key_that_is_given_itself_is_not_repeated(issued: Issued) -> None:
    cert, key = str(issued.cert), issued.key.read_text()

    for options in (("--tls-cert", cert, "--tls-key", key), ("--tls-cert", key)):
        reported = CliRunner().invoke(cli, ["--port", "0", *options])

        assert reported.exit_code == 1
        assert "as the name of a file" in reported.output
        assert key.splitlines()[1] not in reported.output


def test_what_cannot_be_a_file_is_none(issued: Issued) -> None:
    with pytest.raises(ConfigError, match="There is no file aaa"):
        read_certificate(from_environ({"GATEWAY_TLS_CERT": "a" * 5000}))


def test_a_key_alone_is_refused(issued: Issued) -> None:
    reported = CliRunner().invoke(cli, ["--port", "0", "--tls-key", str(issued.key)])

    assert reported.exit_code == 1
    assert "needs its certificate" in reported.output


def test_without_a_certificate_there_is_no_tls() -> None:
    assert read_certificate(from_environ({"GATEWAY_HTTP2": "true"})) is None


def test_one_file_may_hold_both(issued: Issued, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(issued.key.read_bytes() + issued.cert.read_bytes())

    assert read_certificate(from_environ({"GATEWAY_TLS_CERT": str(both)})) is not None


# What is agreed on.


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("http2", "offers", "spoken"), [(True, True, "2"), (True, False, "1.1"), (False, True, "1.1")]
)
async def test_the_best_that_both_know_is_spoken(
    issued: Issued, server: str, http2: bool, offers: bool, spoken: str
) -> None:
    async with (
        place(tell, issued, server=server, http2=http2) as here,
        httpx2.AsyncClient(verify=issued.trusting(), http2=offers, trust_env=False) as http,
    ):
        heard = [(await http.get(here.url)).text for _ in range(2)]

    assert heard == [f"{spoken} https 127.0.0.1"] * 2


async def test_a_client_that_offers_nothing_speaks_http_1(issued: Issued) -> None:
    async with place(tell, issued) as here:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", here.port, ssl=issued.trusting()
        )
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        written = await reader.read()
        writer.close()

    assert written.endswith(b"1.1 https 127.0.0.1")


@pytest.mark.parametrize(
    ("version", "is_served"), [("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)]
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_old_versions_of_tls_are_refused(
    issued: Issued, version: str, is_served: bool
) -> None:
    context = issued.trusting()
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]

    async with place(tell, issued) as here:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", here.port, ssl=context)
        except (ssl.SSLError, ConnectionError):
            served = False
        else:
            served = True
            writer.transport.abort()

    assert served is is_served


# Handshakes.


async def test_a_handshake_counts_among_the_connections(issued: Issued) -> None:
    async with place(tell, issued, connections=2) as here:
        peers = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(2)]
        await settle(here, 2)
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        turned_away = await reader.read()
        peers[0][1].transport.abort()
        await settle(here, 1)
        async with httpx2.AsyncClient(verify=issued.trusting(), trust_env=False) as http:
            served = await http.get(here.url)
        for _, each in (*peers, (reader, writer)):
            each.transport.abort()

    assert turned_away == b""
    assert served.status_code == 200


async def test_a_handshake_that_takes_too_long_is_given_up(issued: Issued) -> None:
    async with place(tell, issued, head_time=0.1) as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        async with asyncio.timeout(5):
            assert await reader.read() == b""
        await settle(here, 0)
        writer.close()


async def test_what_is_no_handshake_is_closed(issued: Issued) -> None:
    async with place(tell, issued) as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(5):
            written = await reader.read()
        await settle(here, 0)
        writer.close()

    assert b"HTTP" not in written


async def test_a_stop_does_not_wait_for_handshakes(issued: Issued) -> None:
    async with place(tell, issued, short_drain=60) as here:
        _, writer = await asyncio.open_connection("127.0.0.1", here.port)
        await settle(here, 1)
        here.stop()
        async with asyncio.timeout(5):
            await here.serving
        writer.close()
