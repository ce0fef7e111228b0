"""The little of a request that routing needs, with this dialect's own defaults."""

from collections.abc import Mapping

from msgspec import Raw

from gateway_core import Intake
from gateway_formats.intake import read_flag, read_text

DEFAULT_MODEL = "llama3.2"


def read_intake(
    path: Mapping[str, str], headers: Mapping[str, str], members: Mapping[str, Raw]
) -> Intake:
    """A stream is what a client gets unless it says otherwise. Raises BadRequest."""
    model = read_text(members, "model") or DEFAULT_MODEL
    return Intake(model, read_flag(members, "stream", default=True))
