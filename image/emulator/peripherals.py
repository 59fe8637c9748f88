"""The box's small display, button and lamps: `linegauge-peripherals`, the device side of QEMU's vhost-user."""

import os
import subprocess
from pathlib import Path

import child
from refused import WRONG_HOST, Refused

# PCI slots behind those of the ports.
OLED_SLOT = "0x12"
GPIO_SLOT = "0x13"


class Peripherals:
    """The process, where there are any: it takes commands, and tells what a lamp does."""

    def __init__(self, folder: Path, request):
        self.process = None
        self.folder = folder
        self.oled = request.oled
        self.gpio = request.gpio
        self.memory = request.memory
        self.text = b""
        if self.oled or self.gpio:
            self.start(request.peripherals)

    def start(self, program: Path) -> None:
        words = [str(program)]
        words += ["--oled", self.oled, str(self.folder / "oled")] if self.oled else []
        words += ["--gpio", str(self.folder / "gpio")] if self.gpio else []
        try:
            self.process = child.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise Refused(f"--peripherals {program}: {error.strerror}") from error
        if self.process.stdout.readline() != b"ready\n":
            child.stop(self.process)
            raise Refused("display and GPIO do not start: see above", self.process.returncode or WRONG_HOST)
        os.set_blocking(self.output(), False)

    def machine(self) -> list[str]:
        """QEMU's arguments for them: they work in the box's own memory, so that has to be shared."""
        if not self.process:
            return []
        words = ["-object", f"memory-backend-memfd,id=memory,size={self.memory}M,share=on",
                 "-machine", "memory-backend=memory"]
        words += self.device("oled", "vhost-user-i2c-pci", OLED_SLOT) if self.oled else []
        words += self.device("gpio", "vhost-user-gpio-pci", GPIO_SLOT) if self.gpio else []
        return words

    def device(self, name: str, model: str, slot: str) -> list[str]:
        return ["-chardev", f"socket,id={name},path={self.folder / name}",
                "-device", f"{model},chardev={name},addr={slot}"]

    def output(self) -> int | None:
        """Descriptor to wait on for lines."""
        return self.process.stdout.fileno() if self.process else None

    def lines(self) -> list[str]:
        """What it has told since the last call."""
        self.text += self.process.stdout.read() or b""
        if self.process.poll() is not None:
            raise Refused(f"display and GPIO have ended by themselves ({self.process.returncode})")
        return self.whole_lines()

    def whole_lines(self) -> list[str]:
        *lines, self.text = self.text.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def do(self, command: str) -> list[str]:
        """Has a command done; what it has told meanwhile."""
        self.process.stdin.write(f"{command}\n".encode(errors="surrogateescape"))
        self.process.stdin.flush()
        told = []
        os.set_blocking(self.output(), True)
        while (line := self.answer()) != "ok":
            if line.startswith("refused: "):
                raise Refused(f"display and GPIO: {line}")
            told.append(line)
        os.set_blocking(self.output(), False)
        return told + self.whole_lines()

    def answer(self) -> str:
        """The next line, waited for."""
        while b"\n" not in self.text:
            octets = os.read(self.output(), 4096)
            if not octets:
                raise Refused("display and GPIO have ended by themselves")
            self.text += octets
        line, _, self.text = self.text.partition(b"\n")
        return line.decode(errors="replace")

    def stop(self) -> None:
        if self.process:
            child.stop(self.process)
