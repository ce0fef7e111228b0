"""Serving a mock vendor from the command line until it is interrupted."""

import asyncio
from collections.abc import Callable

from .dialect_script import DialectScript
from .server import MockVendor

Show = Callable[[str], None]


async def serve(answering: DialectScript, port: int, show: Show) -> None:
    """Serve on loopback; ``tell`` is given lines for the operator. Raises OSError."""
    vendor = MockVendor(answering)
    await vendor.open(port)
    dialect = answering.dialect
    show(f"A mock vendor listens on {vendor.url}")
    show(f"It speaks {dialect.id if dialect else 'the format of each path'}.")
    show(f"Fault: {answering.fault or 'none'}. Stop with Ctrl-C.")
    try:
        await asyncio.Event().wait()
    finally:
        await vendor.aclose()
