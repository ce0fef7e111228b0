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
    from .checking import Progress, check
    from .finding import NotFound, find
    from .keeping import record, shown_to_gateway
    from .outcome import Failure, Results

__all__ = [
    "Failure",
    "NotFound",
    "Progress",
    "Results",
    "check",
    "find",
    "record",
    "shown_to_gateway",
]

_HOMES = {
    "Failure": "outcome",
    "NotFound": "finding",
    "Progress": "checking",
    "Results": "outcome",
    "check": "checking",
    "find": "finding",
    "record": "keeping",
    "shown_to_gateway": "keeping",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
