"""Services besides chat: adapters for vendors that speak them as the completions vendor does, and
for those whose requests and answers differ."""

from .completions import COMPLETIONS, PassThroughService, StatusService, completions_service
from .exchanges import PassedAnswer, WholeExchange
from .forms import content_of, field, file_part, write_form
from .requests import service_url, vendor_request
from .translated import Again, BytesService, Content, Form, JsonService, Question
from .usages import count_of, read_usage

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
    "StatusService",
    "WholeExchange",
    "completions_service",
    "content_of",
    "count_of",
    "field",
    "file_part",
    "read_usage",
    "service_url",
    "vendor_request",
    "write_form",
]
