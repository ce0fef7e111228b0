"""The paths of a vendor of this format, which name the model and the method.

https://ai.google.dev/api/generate-content
"""

from urllib.parse import quote

_LEFT_AS_IS = "/:@.-_~"


def model_path(model: str, method: str) -> str:
    return f"/models/{quote(model, safe=_LEFT_AS_IS)}:{method}"


def count_path(model: str) -> str:
    return model_path(model, "countTokens")
