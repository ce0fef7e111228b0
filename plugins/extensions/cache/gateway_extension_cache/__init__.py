"""Answers of chat models, kept: the same question again is answered without a vendor.

Does nothing until it is switched on. See ``docs/cache.md``.
"""

from gateway_core import Interceptor, hookimpl

from .cache import AnswerCache
from .settings import Settings

GATEWAY_PROTOCOL = 1


@hookimpl
def register_settings() -> type[Settings]:
    return Settings


# Without the argument ``settings``: the cache follows what is in force.
@hookimpl
def register_interceptors() -> list[Interceptor]:
    return [AnswerCache()]
