"""Words that stand in documents where a secret belongs; none of them is one."""

DEFAULT_PASSWORD = "123456"
"""The password of a gateway that nobody has given one."""
_WORDS = frozenset(
    {
        *("change-me", "changeme", "change-this", "changethis", "replace-me", "replaceme"),
        *("your-password", "your-secure-password", "your-strong-password", "your-password-here"),
        *("your-initial-password", "initial-password", "my-password", "mypassword"),
        *("your-secret", "your-secret-here", "your-secret-key", "your-jwt-secret", "jwt-secret"),
        *("your-jwt-secret-here", "secret", "password", "placeholder", "example", "todo"),
    }
)
_BEGINNINGS = ("change-me", "changeme", "replace-me", "replaceme", "change-this", "your-jwt-secret")


def is_placeholder(text: str) -> bool:
    """Whether a text is a documented stand-in, in whatever case and with whatever around it."""
    return _plain(text) in _WORDS


def begins_as_placeholder(text: str) -> bool:
    """The same for long secrets, which documents like to spin out: ``change-me-to-something``."""
    return is_placeholder(text) or _plain(text).startswith(_BEGINNINGS)


def is_public(password: str) -> bool:
    """Whether everybody knows this password."""
    return password.strip() == DEFAULT_PASSWORD or is_placeholder(password)


def _plain(text: str) -> str:
    return text.strip().strip("<>\"'").casefold().replace("_", "-").replace(" ", "-")
