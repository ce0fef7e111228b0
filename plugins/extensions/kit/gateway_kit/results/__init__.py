"""Running every case of a plugin, whatever it brings, and keeping what was found out.

```python
found = find("acme", folder)  # a plugin's name, a module, a file or a folder
results = check(found)
record(folder, results)
```

Nothing is imported before it is asked for, because finding a plugin takes much less than
checking it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .case_run import Progress, check
    from .lookup import NotFound, find
    from .outcome import Failure, Results
    from .records import record, to_record

__all__ = [
    "Failure",
    "NotFound",
    "Progress",
    "Results",
    "check",
    "find",
    "record",
    "to_record",
]

_HOMES = {
    "Failure": "outcome",
    "NotFound": "lookup",
    "Progress": "case_run",
    "Results": "outcome",
    "check": "case_run",
    "find": "lookup",
    "record": "records",
    "to_record": "records",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
