"""What the log says of work that fails for long: once, then rarely, and when it works again."""

import logging
import time
from collections.abc import Callable

from .errors import StorageFull, StorageUnavailable

AGAIN = 900.0
"""Seconds until a failure that lasts is logged again."""
FULL = "Make room on the disk of the data directory, and see that it may be written to."
SHUT = "See that the database can be read and written and that no other program holds it."


class FailureLog:
    """One kind of work, and since when it fails."""

    def __init__(
        self,
        log: logging.Logger,
        work: str,
        meanwhile: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``work`` begins a sentence, and ``meanwhile`` is one that tells what follows."""
        self._log, self._work, self._meanwhile = log, work, meanwhile
        self._monotonic = monotonic
        self._times = 0
        self._since = self._logged_at = 0.0
        self._seen: set[type[Exception]] = set()

    def met(self, error: Exception) -> None:
        """It has failed. A kind of error that is new since the failures began is logged at once."""
        now = self._monotonic()
        if not self._times:
            self._since = now
        self._times += 1
        is_new = type(error) not in self._seen
        if not is_new and now - self._logged_at < AGAIN:
            return
        self._seen.add(type(error))
        self._logged_at = now
        if isinstance(error, StorageFull):
            why, advice = "the disk takes no more data", FULL
        elif isinstance(error, StorageUnavailable):
            why, advice = str(error.__cause__ or error.message), SHUT
        else:
            why, advice = f"{type(error).__name__}: {error}".rstrip(": ."), ""
        so_far = f" ({self._times} times in {now - self._since:.0f} s)" if self._times > 1 else ""
        message = " ".join(filter(None, (f"{self._work} fails{so_far}: {why}.", advice)))
        # What is wrong with the database is in the words; a mistake of our own is in the trace.
        record = error if is_new and not advice else None
        self._log.error("%s %s", message, self._meanwhile, exc_info=record)

    def over(self) -> None:
        """It works. Says so if it did not before."""
        if self._times:
            lasted = self._monotonic() - self._since
            message = "%s works again, after %d failures in %.0f s"
            self._log.warning(message, self._work, self._times, lasted)
            self._times = 0
            self._seen.clear()
