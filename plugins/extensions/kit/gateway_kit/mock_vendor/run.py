"""Serving a mock vendor from the command line until it is interrupted."""

import asyncio
from collections.abc import Callable

from .dialect_script import Answering
from .server import MockVendor

Tell = Callable[[str], None]


async def serve(answering: Answering, port: int, tell: Tell) -> None:
    """Serve on loopback; ``tell`` is given lines for the operator. Raises OSError."""
    vendor = MockVendor(answering)
    await vendor.open(port)
    dialect = answering.dialect
    tell(f"A mock vendor listens on {vendor.url}")
    tell(f"It speaks {dialect.id if dialect else 'the format of each path'}.")
    tell(f"Fault: {answering.fault or 'none'}. Stop with Ctrl-C.")
    try:
        await asyncio.Event().wait()
    finally:
        await vendor.aclose()
