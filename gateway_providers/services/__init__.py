"""Services besides chat: adapters for vendors that speak them as the completions vendor does, and
for those whose requests and answers differ."""

from .completions import COMPLETIONS, PassThroughService, StatusService, completions_service
from .exchanges import PassedAnswer, WholeExchange
from .forms import content_of, field, file_part, write_form
from .pictures import (
    Size,
    count_pictures,
    count_shown,
    lose_address,
    lose_pictures_but,
    nearest,
    path_of,
    read_count,
    read_size,
    show_address,
    show_bytes,
    show_pictures,
    wants_bytes,
)
from .requests import service_url, vendor_request
from .translated import Again, BytesService, Content, Form, JsonService, Question
from .usages import count_of, read_usage
from .web import Search, fetch_model, option_of, present, read_search, rows_of, search_model

__all__ = [
    "COMPLETIONS",
    "Again",
    "BytesService",
    "Content",
    "Form",
    "JsonService",
    "PassThroughService",
    "PassedAnswer",
    "Question",
    "Search",
    "Size",
    "StatusService",
    "WholeExchange",
    "completions_service",
    "content_of",
    "count_of",
    "count_pictures",
    "count_shown",
    "fetch_model",
    "field",
    "file_part",
    "lose_address",
    "lose_pictures_but",
    "nearest",
    "option_of",
    "path_of",
    "present",
    "read_count",
    "read_search",
    "read_size",
    "read_usage",
    "rows_of",
    "search_model",
    "service_url",
    "show_address",
    "show_bytes",
    "show_pictures",
    "vendor_request",
    "wants_bytes",
    "write_form",
]
