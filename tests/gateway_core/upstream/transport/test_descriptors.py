"""A lack of file descriptors is the gateway's own trouble."""

import errno
import logging

import pytest
from descriptor_limits import no_descriptor

from gateway_core.contracts.errors import Unavailable
from gateway_core.contracts.exchange import UpstreamRequest
from gateway_core.upstream.transport import Network
from gateway_core.upstream.transport.descriptors import Descriptors, is_one_free

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("proxy", [None, "http://127.0.0.1:9"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_call_without_a_descriptor_is_unavailable_and_blames_nobody(
    host: str, proxy: str | None
) -> None:
    network = Network()
    try:
        carrier = network.transport(proxy)
        with no_descriptor():
            assert not is_one_free()
            with pytest.raises(Unavailable, match="no file descriptor free") as raised:
                await carrier.send(UpstreamRequest(url=f"http://{host}:9/", headers={}, body=b""))
        assert (raised.value.status, raised.value.retry_after) == (503, 1)
    finally:
        await network.aclose()


def test_a_lack_that_lasts_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    descriptors = Descriptors(lambda: now)
    with caplog.at_level(logging.ERROR):
        for moment in (0.0, 1.0, 59.0, 60.0):
            now = moment
            assert descriptors.lack(OSError(errno.EMFILE, "Too many open files")) is not None
        assert descriptors.lack(OSError(errno.ECONNREFUSED, "Connection refused")) is None

    assert [record.getMessage()[:30] for record in caplog.records] == [
        "No file descriptor is free for"
    ] * 2
