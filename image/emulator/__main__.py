"""The emulated box: starts it, follows its serial log, does the steps asked for, and clears everything away."""

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
    except Refused as refused:
        print(f"boot: {refused}", file=sys.stderr)
        return refused.code


sys.exit(main())
