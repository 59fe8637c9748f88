"""The cable between the two ports: a process of ours in the middle, or the ports wired to each other."""

import os
import subprocess
from pathlib import Path

import child
from refused import WRONG_HOST, Refused

SIDES = ("a", "b")


class Wires:
    """The two ports send to each other: a cable without faults and without an account."""

    def __init__(self, folder: Path):
        self.folder = folder

    def peer(self, side: str) -> Path:
        """Where a port sends its frames."""
        other = SIDES[1 - SIDES.index(side)]
        return port(self.folder, other)

    def output(self) -> int | None:
        return None

    def carriers(self) -> dict[str, bool]:
        return {}

    def stop(self) -> str:
        return ""


class Cable:
    """`linegauge cable`: it says when a carrier comes or goes, and at the end what it did."""

    def __init__(self, folder: Path, request):
        self.folder = folder
        ends = [f"--{side}={self.peer(side)}:{port(folder, side)}" for side in SIDES]
        faults = [f"--fault={fault}" for fault in request.cable if fault]
        words = [str(request.program), "cable", *ends, *faults, f"--seed={request.seed}", f"--traffic={request.traffic}"]
        try:
            self.process = child.start(words, stdout=subprocess.PIPE)
        except OSError as error:
            raise Refused(f"--program {request.program}: {error.strerror}") from error
        self.text = b""
        self.stopping = False
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        if self.process.stdout.readline() != b"ready\n":
            child.stop(self.process)
            raise Refused("the cable does not start: see above", self.process.returncode or WRONG_HOST)
        os.set_blocking(self.output(), False)

    def peer(self, side: str) -> Path:
        return self.folder / f"{side}.cable"

    def output(self) -> int | None:
        """Descriptor to wait on for carriers."""
        return self.process.stdout.fileno()

    def carriers(self) -> dict[str, bool]:
        """The carriers that have changed, as "carrier a down" tells it; refused where the cable has ended."""
        self.text += self.process.stdout.read() or b""
        if self.process.poll() is not None and not self.stopping:
            raise Refused(f"the cable has ended by itself ({self.process.returncode}): there is no account of this run")
        *lines, self.text = self.text.split(b"\n")
        words = [line.decode().split() for line in lines]
        return {word[1]: word[2] == "up" for word in words if len(word) == 3 and word[0] == "carrier"}

    def stop(self) -> str:
        """Ends the cable; its account."""
        self.stopping = True
        self.carriers()
        os.set_blocking(self.output(), True)
        child.stop(self.process)
        return (self.text + self.process.stdout.read()).decode()


def port(folder: Path, side: str) -> Path:
    """The emulator's socket of a port."""
    return folder / f"{side}.port"
