"""The operator's desk: everything under ``/api``."""
