"""Timestamps as the ledger writes them; the parts that many of them share are cached."""

from datetime import tzinfo
from math import floor
from typing import TypeVar

from ..storage.moments import iso, local_day

T = TypeVar("T")
MOST = 512
"""Texts that are remembered."""
_WHOLE = len("2031-05-06T07:08:09.")
_HALF_MICRO = 0.0005
"""Half a millionth of a second in milliseconds: times are rounded to whole ones of those."""
_ENDS = tuple(f"{number:03}Z" for number in range(1000))


class Timestamps:
    """Texts of moments, the same as those of ``storage/moments.py``.

    The local day is looked up once a minute: no zone has a day that begins within one.
    """

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self._seconds: dict[int, str] = {}
        self._minutes: dict[float, str] = {}

    def iso(self, seconds: float) -> str:
        """Seconds since 1970 as UTC text with milliseconds."""
        whole = floor(seconds)
        milli = floor((seconds - whole) * 1000 + _HALF_MICRO)
        if not 0 <= milli < 1000:
            return iso(seconds)
        try:
            return self._seconds[whole] + _ENDS[milli]
        except KeyError:
            text = iso(whole)[:_WHOLE]
            _put(self._seconds, whole, text)
        return text + _ENDS[milli]

    def day(self, seconds: float) -> str:
        """The local date, ``YYYY-MM-DD``."""
        minute = seconds // 60
        try:
            return self._minutes[minute]
        except KeyError:
            text = local_day(seconds, self._zone).isoformat()
            _put(self._minutes, minute, text)
        return text


def _put(texts: dict[T, str], key: T, text: str) -> None:
    if len(texts) >= MOST:
        texts.clear()
    texts[key] = text
