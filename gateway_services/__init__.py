"""The endpoints of work other than chat, as data: a plugin like any other."""
