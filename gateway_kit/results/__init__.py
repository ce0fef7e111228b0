"""Running every case of a plugin, whatever it brings, and keeping what was found out.

```python
found = find("acme", folder)  # a plugin's name, a module, a file or a folder
results = check(found)
record(folder, results)
```
"""

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
