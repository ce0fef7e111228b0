"""What every writer of a request has to know about where the request goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from gateway_core import Losses, readable_by

from ._dialect import DIALECT


@dataclass(slots=True, frozen=True)
class Scope:
    own: bool
    """True for a conversation that came in this dialect, whose extra members may go out again."""
    provider: str
    options: Mapping[str, str | bool]
    losses: Losses

    def reads(self, origin: str) -> bool:
        return readable_by(origin, self.provider, DIALECT)

    def allows(self, option: str) -> bool:
        """Whether the provider's options turn a switch on; it is off by default."""
        return bool(self.options.get(option, False))

    def word(self, option: str, usual: str) -> str:
        value = self.options.get(option, usual)
        return value if isinstance(value, str) else usual

    def put_extra(
        self, into: dict[str, Any], extra: Mapping[str, Raw], *, within: str = ""
    ) -> None:
        if self.own:
            into.update(extra)
        else:
            self.losses.add_extra(extra, within=within)
