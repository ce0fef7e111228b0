"""Services besides chat: adapters for vendors that speak them as the completions vendor does, and
for those whose JSON differs."""

from .completions import COMPLETIONS, PassThroughService, completions_service
from .exchanges import BytesExchange, WholeExchange
from .requests import service_url, vendor_request
from .translated import JsonService, Question
from .usages import read_usage

__all__ = [
    "COMPLETIONS",
    "BytesExchange",
    "JsonService",
    "PassThroughService",
    "Question",
    "WholeExchange",
    "completions_service",
    "read_usage",
    "service_url",
    "vendor_request",
]
