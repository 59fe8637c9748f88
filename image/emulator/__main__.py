"""The emulated box: starts it, follows its serial log, does the steps asked for, and clears everything away."""

import os
import signal
import sys

import follow
import options
from machine import Box
from refused import Refused


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda signum, _frame: sys.exit(128 + signum))
    try:
        request = options.read()
        with Box(request) as box:
            return follow.until_the_end(box, request)
    except BrokenPipeError:
        # Whoever read the log has had enough of it; what is still in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Refused as refused:
        print(f"boot: {refused}", file=sys.stderr)
        return refused.code


sys.exit(main())
