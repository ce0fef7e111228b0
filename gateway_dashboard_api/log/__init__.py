"""The log of this process, as far as it is kept in memory."""
