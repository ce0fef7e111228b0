"""The dialect's name."""

DIALECT = "cohere"
