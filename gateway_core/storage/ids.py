"""New ids for rows that name themselves."""

from collections.abc import Callable
from uuid import uuid4

NewId = Callable[[], str]


def random_id() -> str:
    return str(uuid4())
