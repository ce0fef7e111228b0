"""What is to be written: the kind, the name, and all other names that follow from it."""

import re
from urllib.parse import urlsplit

from msgspec import Struct

KINDS = ("provider", "format", "extension")
DEFAULT_FORMAT = "openai"
"""The format that a vendor speaks unless something else is said, and extensions are tried with."""
LONGEST_NAME = 30
"""Letters; longer names would break the lines that hold them."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_PRINTED = re.compile(r"[!#-&(-;=?-\[\]_a-z~]+")
"""What may stand in an address, and between quotes as it is."""


_RESERVED = frozenset({"CONFORMANCE", "GATEWAY_PROTOCOL"})
"""Names in a plugin's module that the gateway and the kit read."""


class BadDescription(ValueError):
    """Something cannot be written as it is wanted. The message says what and why."""


class PluginDescription(Struct, frozen=True, kw_only=True):
    """A plugin that is wanted. Raises BadOrder when its names or addresses cannot be."""

    kind: str
    """One of KINDS."""
    name: str
    """Of the vendor, the format or the extension: ``acme``."""
    wire: str = DEFAULT_FORMAT
    """The format that a provider's vendor speaks."""
    base_url: str = ""
    """A provider's; empty for one to be filled in."""
    variable: str = ""
    """The process variable of a provider's key; empty for the usual one."""
    is_file: bool = False
    """A single file for the plugins folder, and no package."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadDescription(f"There is no kind {self.kind!r}; choose {', '.join(KINDS)}")
        if len(self.name) > LONGEST_NAME or not _NAME.fullmatch(self.name):
            raise BadDescription(
                f"{self.name!r} cannot be a plugin's name: it is to begin with a small letter, to "
                f"hold small letters, digits and single hyphens, at most {LONGEST_NAME} of them"
            )
        if self.kind != "provider" and (
            self.base_url or self.variable or self.wire != DEFAULT_FORMAT
        ):
            raise BadDescription("--format, --base-url and --variable are for providers only")
        if self.base_url:
            url = self.base_url
            try:
                parts = urlsplit(url)
                is_sound = (
                    parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
                )
            except ValueError:
                is_sound = False
            else:
                is_sound = is_sound and not (parts.query or parts.fragment or "@" in parts.netloc)
            if not is_sound or not _PRINTED.fullmatch(url):
                raise BadDescription(f"{url!r} is no base URL: https://api.acme.example/v1 is")
        if self.variable and not _VARIABLE.fullmatch(self.variable):
            raise BadDescription(
                f"{self.variable!r} is no name of a process variable: ACME_API_KEY is"
            )

    @property
    def plugin(self) -> str:
        """Its name among the plugins, which is its entry point's."""
        return f"format-{self.name}" if self.kind == "format" else self.name

    @property
    def distribution(self) -> str:
        """What pip calls it."""
        return f"model-gateway-{self.kind}-{self.name}"

    @property
    def module(self) -> str:
        """What Python imports."""
        return f"gateway_{self.kind}_{self.name.replace('-', '_')}"

    @property
    def title(self) -> str:
        """What people call it."""
        return " ".join(word.capitalize() for word in self.name.split("-"))

    @property
    def constant(self) -> str:
        """What its value is called in the code, where no other constant has the name."""
        ending = "_FORMAT" if self.kind == "format" else ""
        name = self._upper_name + ending
        return f"{name}_PLUGIN" if name in _RESERVED else name

    @property
    def place(self) -> str:
        """The folder or the file that is written."""
        return f"{self.plugin.replace('-', '_')}.py" if self.is_file else self.distribution

    def words(self) -> dict[str, str]:
        """What the templates leave open."""
        return {
            "name": self.name,
            "plugin": self.plugin,
            "distribution": self.distribution,
            "module": self.module,
            "title": self.title,
            "constant": self.constant,
            "format": self.wire,
            "base_url": self.base_url.rstrip("/") or f"https://api.{self.name}.example/v1",
            "variable": self.key_variable,
            "reference": f"https://docs.{self.name}.example/api",
            "description": self._description(),
            "use": self._use(),
            "tried_with": f'"{self._tried_with}", ' if self._tried_with else "",
        }

    @property
    def _tried_with(self) -> str:
        """The package of the wire format that its tests need; none where it is one itself."""
        return "" if self.kind == "format" else f"model-gateway-format-{self.wire}"

    def _description(self) -> str:
        texts = {
            "provider": f"{self.title} for the model gateway",
            "format": f"The wire format {self.title} for the model gateway",
            "extension": f"{self.title}: an extension of the model gateway",
        }
        return texts[self.kind]

    @property
    def key_variable(self) -> str:
        """The process variable of a provider's key."""
        return self.variable or f"{self._upper_name}_API_KEY"

    @property
    def _upper_name(self) -> str:
        return self.name.replace("-", "_").upper()

    def _use(self) -> str:
        name = self.name
        texts = {
            "provider": f"Set `{self.key_variable}` or add a connection; then call "
            f"`{name}/{name}-large` in any client format.",
            "format": f"Clients ask at `/v1/{name}/chat`; a provider's vendor speaks it with "
            f'`format="{name}"`.',
            "extension": f"`GET /api/extensions/{name}/calls` tells how often each model was "
            "called.",
        }
        return texts[self.kind]
