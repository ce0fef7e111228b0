"""Telling that a task is to end from a plugin's own error, which may look just the same."""

import asyncio


def is_told_to_stop(error: BaseException) -> bool:
    """Whether whoever runs this task ends it. A plugin that awaits a cancelled task of its own
    raises ``CancelledError`` too, and that is a failure like any other."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, GeneratorExit)
