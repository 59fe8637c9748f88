"""QEMU's control socket."""

import contextlib
import json
import socket

from refused import Refused

PATIENCE_S = 30


class Qmp:
    """One connection; commands wait for their answers, events are passed over."""

    def __init__(self, connection: socket.socket):
        self.socket = connection
        self.socket.settimeout(PATIENCE_S)
        self.lines = self.socket.makefile("r")
        self.answer()
        self.do("qmp_capabilities")

    def do(self, command: str, **arguments) -> None:
        request = {"execute": command, "arguments": arguments}
        try:
            self.socket.sendall(json.dumps(request).encode())
            answer = self.answer()
        except OSError as error:
            raise Refused(f"QEMU does not take {command}: {error}") from error
        if "error" in answer:
            raise Refused(f"QEMU refuses {command}: {answer['error']['desc']}")

    def answer(self) -> dict:
        while line := self.lines.readline():
            answer = json.loads(line)
            if "event" not in answer:
                return answer
        raise Refused("QEMU has closed its control socket")

    def quit(self) -> None:
        """Ends QEMU, which may have ended by itself; it is stopped in any case afterwards."""
        with contextlib.suppress(Refused):
            self.do("quit")
        self.lines.close()
        self.socket.close()
