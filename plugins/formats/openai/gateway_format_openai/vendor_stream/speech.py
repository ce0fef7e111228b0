"""A spoken answer, gathered until it is whole.

The pieces: https://platform.openai.com/docs/guides/audio.
"""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

from msgspec import Raw

from gateway_core import Media

from .._chunks import Audio
from .._members import encode


@dataclass(slots=True)
class Speech:
    id: str | None = None
    expires_at: Any = None
    data: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)

    def add(self, audio: Audio) -> None:
        if audio.id and isinstance(audio.id, str):
            self.id = audio.id
        if audio.data and isinstance(audio.data, str):
            self.data.append(audio.data)
        if isinstance(audio.transcript, str):
            self.transcript.append(audio.transcript)
        self.expires_at = audio.expires_at or self.expires_at

    def part(self) -> Media | None:
        """The whole answer, when there is any."""
        if not (self.id or self.data):
            return None
        data = self.data[0] if self.data else None
        if len(self.data) > 1:
            # Each piece may have its own padding: RFC 4648, section 3.2.
            try:
                data = base64.b64encode(b"".join(map(base64.b64decode, self.data))).decode()
            except (binascii.Error, ValueError):
                data = "".join(self.data)
        extra = {} if self.expires_at is None else {"expires_at": Raw(encode(self.expires_at))}
        return Media(
            kind="audio",
            file_id=self.id,
            data=data,
            text="".join(self.transcript) or None,
            extra=extra,
        )
