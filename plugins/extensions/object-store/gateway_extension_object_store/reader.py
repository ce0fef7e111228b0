"""Reads a part of one object, and goes on where a connection broke."""

from typing import Any

from botocore.exceptions import BotoCoreError

from .writer import Calls


class ObjectReader:
    """Reads from its beginning to its end; see ``gateway_core.ContentReader``."""

    def __init__(self, bucket: Calls, name: str, begin: int, end: int) -> None:
        """Raises FileNotFoundError, OSError."""
        self._bucket, self._name = bucket, name
        self._begin, self._end = begin, end
        self._body = self._request()

    def read(self, most: int) -> bytes:
        most = min(most, self._end - self._begin)
        if not most:
            return b""
        try:
            piece = self._next(most)
        except OSError:
            # A store closes a connection whose reader is slow, and may be started anew.
            self.close()
            self._body = self._request()
            piece = self._next(most)
        self._begin += len(piece)
        return piece

    def close(self) -> None:
        self._body.close()

    def _next(self, most: int) -> bytes:
        try:
            piece: bytes = self._body.read(most)
        except (BotoCoreError, OSError) as error:
            raise OSError(f"the object store stopped sending: {type(error).__name__}") from None
        if not piece:
            raise OSError("the object store sent less than there is")
        return piece

    def _request(self) -> Any:
        wanted = f"bytes={self._begin}-{self._end - 1}"
        answer = self._bucket.call("get_object", Key=self._name, Range=wanted)
        if not answer.get("ContentRange", "").startswith(f"bytes {self._begin}-{self._end - 1}/"):
            answer["Body"].close()
            raise OSError("the object store sent another part than the one that was asked for")
        return answer["Body"]
