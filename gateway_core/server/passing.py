"""A transport that stands before another one, and passes on what is not its own business."""

import asyncio
from collections.abc import Iterable
from typing import Any, TypeAlias

Bytes: TypeAlias = "bytes | bytearray | memoryview[Any]"


class Passing(asyncio.Transport):
    """Does with all that it is told what the transport behind it does."""

    def __init__(self, inner: asyncio.Transport) -> None:
        super().__init__()
        self._inner = inner

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._inner.get_extra_info(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._inner.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._inner.get_protocol()

    def is_closing(self) -> bool:
        return self._inner.is_closing()

    def close(self) -> None:
        self._inner.close()

    def abort(self) -> None:
        self._inner.abort()

    def is_reading(self) -> bool:
        return self._inner.is_reading()

    def pause_reading(self) -> None:
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()

    def write(self, data: Bytes) -> None:
        self._inner.write(data)

    def writelines(self, list_of_data: Iterable[Bytes]) -> None:
        self._inner.writelines(list_of_data)

    def can_write_eof(self) -> bool:
        return self._inner.can_write_eof()

    def write_eof(self) -> None:
        self._inner.write_eof()

    def get_write_buffer_size(self) -> int:
        return self._inner.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._inner.set_write_buffer_limits(high, low)
