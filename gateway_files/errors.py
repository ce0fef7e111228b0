"""Why a file is not taken.

```text
BodyTooLarge (413)
└── FileTooLarge
Forbidden (403)
└── QuotaExceeded
```
"""

from gateway_core.contracts.errors import BodyTooLarge, Forbidden


class FileTooLarge(BodyTooLarge):
    """One file passes its limit."""

    code = "file_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A file may have at most {limit} bytes", param="file")


class QuotaExceeded(Forbidden):
    """The files of one owner pass their limit."""

    code = "insufficient_quota"

    def __init__(self, limit: int, unit: str) -> None:
        super().__init__(
            f"Your files may have at most {limit} {unit} in total; delete some of them first",
            param="file",
        )
