"""What only the operator's tools need: the management API, the command line and the kit.

The kernel serves requests without it, and does not import it.
"""
