"""Which part of a list an answer holds."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

T = TypeVar("T")


class Pagination(Struct, frozen=True, kw_only=True, rename="camel"):
    page: int
    page_size: int
    total_items: int
    total_pages: int
    has_next: bool
    has_prev: bool


def pagination(page: int, page_size: int, total: int) -> Pagination:
    pages = -(-total // page_size)
    return Pagination(
        page=page,
        page_size=page_size,
        total_items=total,
        total_pages=pages,
        has_next=page < pages,
        has_prev=page > 1,
    )


def page_of(rows: Sequence[T], page: int, page_size: int) -> Sequence[T]:
    return rows[(page - 1) * page_size : page * page_size]
