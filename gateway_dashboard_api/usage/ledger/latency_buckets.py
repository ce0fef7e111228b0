"""Times as counts in buckets, so that percentiles of many calls can be added up."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

BOUNDS = (
    *(0, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000),
    *(4000, 5000, 7500, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000, 90_000, 120_000),
    *(180_000, 300_000, 600_000),
)
"""Where each bucket begins and the one before it ends, milliseconds. The last one has no end."""
_LONGEST = 1_200_000
"""Where the last bucket is taken to end."""


def bucket_columns(prefix: str, column: str, where: str) -> Mapping[str, str]:
    """For each bucket the name of its column, and 1 or 0 for a row's ``column`` of milliseconds.

    A row that ``where`` is not true of is in no bucket, and neither is NULL.
    """
    ends = (f" AND {column} < {end}" for end in BOUNDS[1:])
    terms = zip(BOUNDS, (*ends, ""), strict=True)
    return {
        f"{prefix}_{start}": f"CASE WHEN {where} AND {column} >= {start}{end} THEN 1 ELSE 0 END"
        for start, end in terms
    }


def percentile(counts: Sequence[int], share: float) -> int | None:
    """The time that this share of calls does not pass, milliseconds; ``None`` without calls.

    ``counts`` are in the order of ``BOUNDS``. Inside a bucket, times are taken to be evenly
    spread, so the result is at most a bucket's width off.
    """
    wanted = share * sum(counts)
    for (start, end), count in zip(pairwise((*BOUNDS, _LONGEST)), counts, strict=True):
        if count and wanted <= count:
            return round(start + (end - start) * wanted / count)
        wanted -= count
    return None
