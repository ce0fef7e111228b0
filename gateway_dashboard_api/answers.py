"""Response bodies that several routes share."""

from msgspec import Struct


class Success(Struct, frozen=True):
    """It is done."""

    success: bool = True


class Message(Struct, frozen=True):
    message: str
