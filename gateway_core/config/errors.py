"""What keeps a gateway from starting, as one tree; each message says what to do about it.

StartRefused
├── ConfigError         a process variable has a value that makes no sense
├── DataDirUnusable     the data directory cannot be made or written
├── DataDirInUse        another gateway holds the data directory
├── SecretLost          a secret file is missing, empty or damaged
├── DatabaseUnusable    the database is damaged, or gone (``storage/sqlite/engine.py``)
├── MigrationRefused    the database is not one this version can bring up to date
└── WrongMasterKey      the master key is not the one that sealed this database
"""


class StartRefused(Exception):
    """The gateway cannot start. The message is for the operator and fits on a few lines."""


class ConfigError(StartRefused):
    """A process variable holds something else than it accepts."""


class DataDirUnusable(StartRefused):
    """The data directory, or a file in it, cannot be created, read or written."""


class DataDirInUse(StartRefused):
    """Another gateway has this data directory open."""


class SecretLost(StartRefused):
    """A secret that earlier data depends on is not there, or not whole."""


class DatabaseUnusable(StartRefused):
    """The database cannot be read or written, or an earlier one is gone. It is left as it was."""


class MigrationRefused(StartRefused):
    """The steps applied to the database are not the beginning of the steps this version has."""


class WrongMasterKey(StartRefused):
    """The master key does not open what this database was sealed with."""
