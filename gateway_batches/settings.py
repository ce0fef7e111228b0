"""What an operator may set of batches."""

from typing import Annotated

from msgspec import Meta, Struct

Positive = Annotated[int, Meta(ge=1, le=1000)]


class BatchSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """How batches are run, in each process."""

    rows_at_once: Annotated[
        Positive, Meta(description="Rows of one batch that are under way at a time.")
    ] = 2
    batches_at_once: Annotated[
        Positive, Meta(description="Batches that are worked off at a time; others wait.")
    ] = 4
    rows_per_minute: Annotated[
        int, Meta(ge=0, description="Rows that begin in a minute, of all batches; 0 is no limit.")
    ] = 0
    yield_above: Annotated[
        int,
        Meta(
            ge=0,
            description="While more interactive requests than this are under way, rows wait; "
            "each batch then begins one row in a minute.",
        ),
    ] = 16
    open_per_owner: Annotated[
        Positive, Meta(description="Batches of one key that are not over; more are refused.")
    ] = 100
    kept_days: Annotated[
        int,
        Meta(ge=1, le=3650, description="Days for which a batch can be read after it has ended."),
    ] = 30
