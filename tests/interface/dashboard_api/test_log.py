"""The last lines of the log, and new ones as they are written."""

import asyncio
import logging
from contextlib import aclosing
from typing import Any

import msgspec
import pytest
from admin_gateway import KEY, AdminGateway
from caller_kinds import with_key, with_session

from gateway_dashboard_api.admin_context import AdminContext
from gateway_dashboard_api.log.console import LINES, console_of
from gateway_dashboard_api.log.routes import LogFilter, follow

pytestmark = pytest.mark.anyio
PATH = "/api/log"
LOG = logging.getLogger("gateway_core.test")


async def lines(admin: AdminGateway, query: str = "") -> list[dict[str, Any]]:
    await asyncio.sleep(0)  # A line is taken in the loop's next turn.
    found: list[dict[str, Any]] = (await admin.call("GET", f"{PATH}?{query}"))["lines"]
    return found


async def test_the_newest_line_comes_first_and_has_its_parts(admin: AdminGateway) -> None:
    LOG.warning("one %s", "word")
    LOG.error("two")

    newest, before = (await lines(admin))[:2]

    assert (newest["message"], newest["level"], newest["trace"]) == ("two", "ERROR", None)
    assert (before["message"], before["logger"]) == ("one word", "gateway_core.test")
    assert newest["number"] == before["number"] + 1
    assert newest["at"].endswith("Z")


async def test_an_exception_shows_where_it_came_from(admin: AdminGateway) -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        LOG.exception("it failed")

    assert "ValueError: broken" in (await lines(admin))[0]["trace"]


async def test_secrets_of_accounts_are_not_shown(admin: AdminGateway) -> None:
    await admin.connect()
    LOG.warning("the vendor said %s", KEY)

    assert (await lines(admin))[0]["message"] == "the vendor said ***"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["d", "c Word", "b", "a"]),
        ("level=error", ["d"]),
        ("search=WORD", ["c Word"]),
        ("logger=gateway_core.test", ["c Word", "b", "a"]),
        ("logger=gateway_core.te", []),
        ("level=warning&limit=1", ["d"]),
    ],
)
async def test_lines_are_filtered(admin: AdminGateway, query: str, found: list[str]) -> None:
    LOG.warning("a")
    LOG.warning("b")
    LOG.warning("c Word")
    logging.getLogger("gateway_plugin.mine").error("d")
    logging.getLogger("somebody.else").error("not ours")

    shown = [line["message"] for line in await lines(admin, query)]

    assert [each for each in shown if each in ("a", "b", "c Word", "d")] == found
    assert "not ours" not in shown


async def test_old_lines_make_room(admin: AdminGateway) -> None:
    for number in range(LINES + 5):
        LOG.warning("line %d", number)
    await asyncio.sleep(0)

    page = await admin.call("GET", f"{PATH}?limit={LINES}")

    assert page["total"] == len(page["lines"]) == LINES
    assert page["lines"][0]["message"] == f"line {LINES + 4}"


async def test_new_lines_can_be_followed(admin: AdminGateway) -> None:
    console = console_of(admin.core)
    assert console is not None
    which = LogFilter(level="error")
    async with aclosing(follow(AdminContext(admin.core), console, which)) as frames:
        await anext(frames)
        LOG.warning("not this")
        LOG.error("this")
        head, _, data = (await anext(frames)).partition(b"\ndata: ")

    line = msgspec.json.decode(data)
    assert line["message"] == "this"
    assert head == b"id: %d" % line["number"]


async def test_a_quiet_log_keeps_the_stream_open(admin: AdminGateway) -> None:
    console = console_of(admin.core)
    assert console is not None
    async with aclosing(follow(AdminContext(admin.core), console, LogFilter(), 0.001)) as frames:
        assert [await anext(frames) for _ in range(3)] == [b": ping\n\n"] * 3


async def test_it_is_for_the_operator(admin: AdminGateway) -> None:
    async with with_session(admin) as person:
        await person.call("GET", PATH)
        await person.call("GET", f"{PATH}?level=loud", status=400)
    async with with_key(admin) as key:
        await key.call("GET", PATH, status=403)
        await key.call("GET", f"{PATH}/stream", status=403)
