"""The admin API: everything under ``/api``."""
