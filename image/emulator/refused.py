"""Why the box was not started."""

WRONG_REQUEST = 2
WRONG_HOST = 3


class Refused(Exception):
    """One line: the thing, its value, and what would be right."""

    def __init__(self, line: str, code: int = WRONG_HOST):
        super().__init__(line)
        self.code = code
