"""The two ways an analysis can fail, each with the sentence to print."""


class DataError(Exception):
    """The file cannot be analysed: exit code 1."""


class UsageError(Exception):
    """The call asks for something that is not there: exit code 2."""
