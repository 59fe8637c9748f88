"""Follows the serial log and does the steps as they become due."""

import os
import select
import sys
import time
from pathlib import Path

from machine import Box
from steps import Script, Step

# What the panel may lag behind the log.
PANEL_LAG_S = 0.5
CHUNK = 65536


class Follower:
    """One box being followed."""

    def __init__(self, box: Box, request):
        self.box = box
        self.times = request.times
        self.script = Script(request.steps)
        self.until = request.until
        self.keep = request.log.open("w") if request.log else None
        self.keyboard = sys.stdin.fileno() if sys.stdin else None
        self.line = b""
        self.deaf_until = 0.0
        self.found = False
        self.ended = False

    def run(self, timeout: float) -> None:
        """Until the pattern was seen, the box has ended, or time is up."""
        while not (self.found or self.ended or self.box.now() >= timeout):
            self.wait(timeout)
            while step := self.script.by_time(self.box.now()):
                self.act(step)

    def wait(self, timeout: float) -> None:
        """Waits for the next event and takes it."""
        events = {self.box.cable.output(): self.carriers, self.keyboard: self.typed,
                  self.box.peripherals.output(): self.peripherals}
        if self.box.now() >= self.deaf_until:
            events[self.box.log] = self.read
        due = [moment for moment in (timeout, self.script.due(), self.deaf_until) if moment is not None]
        patience = min((moment - self.box.now() for moment in due if moment > self.box.now()), default=0)
        ready, _, _ = select.select([event for event in events if event is not None], [], [], patience)
        for descriptor in ready:
            events[descriptor]()

    def carriers(self) -> None:
        self.box.update_links(self.box.cable.carriers())

    def peripherals(self) -> None:
        self.tell(self.box.peripherals.lines())

    def tell(self, lines: list[str]) -> None:
        """A lamp's line is looked at like one of the log."""
        for line in lines:
            self.take(f"-- {line}")

    def typed(self) -> None:
        text = os.read(self.keyboard, CHUNK)
        if text:
            self.box.send(text)
        else:
            self.keyboard = None

    def read(self) -> None:
        text = os.read(self.box.log, CHUNK)
        self.ended = not text
        *lines, self.line = (self.line + text).split(b"\n")
        for line in lines:
            self.take(line.decode(errors="replace").rstrip("\r"))

    def take(self, line: str) -> None:
        now = self.box.now()
        self.show(f"{now:8.3f} {line}" if self.times else line)
        # A line that a step waited for is not the end as well: that one is looked for behind the last step.
        if self.script.over():
            self.found = self.found or bool(self.until and self.until.search(line))
        elif step := self.script.by_line(now, line):
            self.act(step)

    def show(self, line: str) -> None:
        print(line, flush=True)
        if self.keep:
            print(line, file=self.keep, flush=True)

    def act(self, step: Step) -> None:
        self.show(f"-- {step.act} {' '.join(step.words)}".rstrip())
        match step.act:
            case "press":
                self.box.press()
            case "unplug" | "plug":
                self.box.set_plugged(step.act == "plug")
            case "type":
                self.box.type(step.words[0])
            case "key" | "key-up":
                self.tell(self.box.peripherals.do("button down" if step.act == "key" else "button up"))
            case "oled-picture":
                self.tell(self.box.peripherals.do(f"oled picture {Path(step.words[0]).resolve()}"))
            case "oled-wedge" | "oled-return" | "oled-vanish":
                self.tell(self.box.peripherals.do(step.act.replace("-", " ")))
            case "picture":
                self.box.picture(Path(step.words[0]))
            case "pull":
                self.box.pull_stick()
            case "kill":
                self.box.kill()
            case "deaf":
                self.deaf_until = self.box.now() + float(step.words[0])


def until_the_end(box: Box, request) -> int:
    """The exit code."""
    follower = Follower(box, request)
    follower.run(request.timeout)
    if request.screenshot and not follower.ended:
        time.sleep(PANEL_LAG_S)
        box.picture(request.screenshot)
    if not (follower.found or follower.ended):
        print(f"boot: {request.timeout:g} s are over", file=sys.stderr)
    elif not follower.found and follower.until:
        print(f"boot: the box has ended, and {follower.until.pattern!r} was not seen", file=sys.stderr)
    return 0 if follower.found or (follower.ended and not follower.until) else 1
