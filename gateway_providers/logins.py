"""What vendors have in common whose accounts may be logins: the operator's own application.

A vendor's documentation lets third parties register an application and gives them its id. Only
where an operator has registered one, and set it here, does the vendor offer the login.
"""

from typing import Annotated

from msgspec import Meta, Struct


class LoginSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The application that you have registered at the vendor, for signing in there."""

    client_id: Annotated[
        str,
        Meta(
            description="The application's id, as the vendor shows it; empty offers no login.",
            max_length=512,
        ),
    ] = ""
    client_secret: Annotated[
        str,
        Meta(
            description="Its secret; empty for an application that the vendor calls public.",
            extra={"secret": True},
            max_length=512,
        ),
    ] = ""
