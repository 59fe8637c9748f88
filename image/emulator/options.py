"""The command line of image/boot."""

import argparse
import os
import re
from pathlib import Path

from refused import WRONG_REQUEST, Refused
from steps import Step, When, pattern

LEAST_MEMORY = 48
# How long a press of the GPIO button takes: the box looks at it every 10 ms, of its own time.
KEY_HELD = "+0.3"
ROOT = Path(__file__).resolve().parent.parent.parent

ABOUT = """\
Starts the emulated box and shows its serial log. What is typed goes to its serial port.

The box has two ports. A is 0000:00:10.0 with address 52:54:00:00:00:0a, B is
0000:00:11.0 with 52:54:00:00:00:0b. A perfect cable joins them unless --cable
says otherwise."""

STEPS = """\
Steps are done in the order of the command line. WHEN is one of
  12.5       seconds after the box was switched on
  +3         seconds after the step before
  PATTERN    at the first line, after the step before, that the regular
             expression is found in: of the serial log, or of a lamp
and is left out for: at once.

Exit code: 0 if the log has shown the pattern of --until, or without --until if
the box has switched itself off; 1 if not; 2 for a wrong request; 3 where the
host could not start the box.

Example, a second run by the button:
  image/boot --press 'end$' --until 'end$' --screenshot second.png
The same by the GPIO button, to be read on a small display:
  image/boot --oled ssd1306 --gpio --append linegauge.board=emulated-ssd1306 \\
    --key 'phase wait' --oled-picture 'lamp-pass on' pass.png --until 'end$'
The line "end" is the last of a run. Without --until the box runs until somebody types "off" Enter, or for the
time of --timeout. A box that has switched itself off has no display for --screenshot.
Everything after -- goes to QEMU as it is."""


def read(words: list[str] | None = None) -> argparse.Namespace:
    """The request; ends with code 2, and one line, where there is none."""
    request = parser().parse_args(words)
    if request.uefi and request.append:
        raise Refused("--append: the stick has its own command line; use image/build --append", WRONG_REQUEST)
    if request.no_stick and (request.uefi or request.stick):
        raise Refused("--no-stick: does not go with --uefi or --stick", WRONG_REQUEST)
    writable(request)
    if request.cable is not None and request.nics != 2:
        raise Refused(f"--nics {request.nics}: a cable needs 2", WRONG_REQUEST)
    if request.program is None and request.cable is not None:
        request.program = release_binary("linegauge", "to be the cable", "--program")
    need_peripherals(request)
    return request


def need_peripherals(request) -> None:
    """Refuses steps of devices that the box does not have; finds the program that the devices are."""
    for step in request.steps:
        option = "--oled" if step.act.startswith("oled-") else "--gpio" if step.act == "key" else None
        if option and not getattr(request, option.lstrip("-")):
            raise Refused(f"--{step.act}: needs {option}", WRONG_REQUEST)
    if request.peripherals is None and (request.oled or request.gpio):
        package = "linegauge-peripherals"
        request.peripherals = release_binary(package, "to be display and GPIO", "--peripherals", f" -p {package}")


def writable(request) -> None:
    """Refuses places that nothing can be written to, before anything is started."""
    kept = [("--log", request.log), ("--records", request.records), ("--screenshot", request.screenshot)]
    kept += [(f"--{step.act}", Path(step.words[0])) for step in request.steps if step.act == "oled-picture"]
    for option, path in kept:
        if path and not os.access(path.parent, os.W_OK):
            raise Refused(f"{option} {path}: its folder cannot be written to", WRONG_REQUEST)
    if request.capture and request.capture.exists() and not request.capture.is_dir():
        raise Refused(f"--capture {request.capture}: must be a folder", WRONG_REQUEST)
    if request.stick and not request.stick.is_file():
        raise Refused(f"--stick {request.stick}: must be a file", WRONG_REQUEST)


class Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> None:
        raise Refused(f"{message} (see --help)", WRONG_REQUEST)


def parser() -> argparse.ArgumentParser:
    new = Parser("image/boot", description=ABOUT, epilog=STEPS, allow_abbrev=False,
                 formatter_class=argparse.RawDescriptionHelpFormatter)
    new.set_defaults(steps=[])
    add_steps(new.add_argument_group("steps"))
    add_ends(new.add_argument_group("the end, and what is kept"))
    add_box(new.add_argument_group("the box"))
    add_cable(new.add_argument_group("the cable"))
    return new


class AddStep(argparse.Action):
    """Adds a step to the one list, so that the order is kept across options."""

    def __call__(self, _parser, namespace, value, option=None):
        if isinstance(value, list):
            when, words = value[0], value[1:]
        else:
            when, words = value, []
        if option == "--deaf":
            seconds(words[0])
        steps = [Step(option.lstrip("-"), When.read(when or "+0"), words)]
        if option == "--key":
            steps.append(Step("key-up", When.read(KEY_HELD), []))
        namespace.steps = [*namespace.steps, *steps]


def seconds(text: str) -> float:
    """A time in seconds."""
    if not re.fullmatch(r"[0-9]+([.][0-9]+)?", text):
        raise Refused(f"{text}: must be seconds, like 12.5", WRONG_REQUEST)
    return float(text)


def megabytes(text: str) -> int:
    """Memory that a kernel starts in."""
    if not re.fullmatch(r"[0-9]+", text) or int(text) < LEAST_MEMORY:
        raise Refused(f"--memory {text}: must be a whole number of MB, {LEAST_MEMORY} or more", WRONG_REQUEST)
    return int(text)


def add_steps(group) -> None:
    for name, what in [("press", "press the power button"), ("unplug", "pull the cable out: both links go down"),
                       ("plug", "put it in again"),
                       ("pull", "pull the stick out"), ("kill", "cut the power")]:
        group.add_argument(f"--{name}", action=AddStep, nargs="?", metavar="WHEN", help=what)
    group.add_argument("--type", action=AddStep, nargs=2, metavar=("WHEN", "TEXT"), help="send TEXT to the serial port")
    group.add_argument("--picture", action=AddStep, nargs=2, metavar=("WHEN", "FILE"), help="write the display as PNG")
    group.add_argument("--key", action=AddStep, nargs="?", metavar="WHEN", help="press the GPIO button for 0.3 s")
    group.add_argument("--oled-picture", action=AddStep, nargs=2, metavar=("WHEN", "FILE"),
                       help="write what a person sees of the small display as PNG")
    for name, what in [("wedge", "the small display stops answering: its bus waits"),
                       ("return", "it answers again"), ("vanish", "its connection ends, for good")]:
        group.add_argument(f"--oled-{name}", action=AddStep, nargs="?", metavar="WHEN", help=what)
    group.add_argument("--deaf", action=AddStep, nargs=2, metavar=("WHEN", "SECONDS"),
                       help="stop reading the serial port for so long")


def add_ends(group) -> None:
    group.add_argument("--until", type=pattern, metavar="PATTERN", help="end when a line, after the last step, has this")
    group.add_argument("--timeout", type=seconds, default=300, metavar="S", help="end after so long [default: 300]")
    group.add_argument("--screenshot", type=Path, metavar="FILE", help="write the display as PNG at the end")
    group.add_argument("--log", type=Path, metavar="FILE", help="write the serial log to a file, too")
    group.add_argument("--records", type=Path, metavar="FILE", help="write what the second serial port says to a file")
    group.add_argument("--capture", type=Path, metavar="FOLDER", help="keep all that leaves the ports: a.pcap, b.pcap")
    group.add_argument("--times", action="store_true", help="put seconds since the start before each line")


def add_box(group) -> None:
    group.add_argument("--image", type=Path, default=ROOT / "target" / "image", metavar="FOLDER",
                       help="what image/build made [default: target/image]")
    group.add_argument("--uefi", action="store_true", help="start from the stick image with UEFI firmware")
    group.add_argument("--stick", type=Path, metavar="FILE",
                       help="this stick image, and write to it [default: a throw-away copy of the image's own]")
    group.add_argument("--no-stick", action="store_true", help="no stick: runs are not kept")
    group.add_argument("--append", default="", metavar="WORDS", help="more words for the kernel's command line")
    group.add_argument("--cpu", default="Nehalem", metavar="MODEL",
                       help="processor [default: Nehalem; qemu64 has no clock to pin]")
    group.add_argument("--memory", type=megabytes, default=256, metavar="MB", help="[default: 256]")
    group.add_argument("--nics", type=int, default=2, choices=[0, 1, 2], help="ports [default: 2]")
    group.add_argument("--swap-nics", action="store_true", help="A at 0000:00:11.0, B at 0000:00:10.0")
    group.add_argument("--oled", choices=["ssd1306", "ssd1309", "sh1106"], metavar="CHIP",
                       help="a small display on an I2C adapter: ssd1306, ssd1309 or sh1106")
    group.add_argument("--gpio", action="store_true",
                       help="a GPIO chip: 0 button, 1 lamp-pass, 2 lamp-fail, 3 lamp-busy, 4 beeper; what the last "
                            "four do is told in lines like \"-- lamp-pass on 12.345\"")
    group.add_argument("--peripherals", type=Path, metavar="FILE",
                       help="the program that these two are [default: this tree's release binary]")
    group.add_argument("--kvm", action="store_true", help="use the host's processor; may hang where /dev/kvm is broken")
    group.add_argument("--no-reboot", action="store_true", help="end where the box would start again")
    group.add_argument("qemu", nargs="*", help=argparse.SUPPRESS)


def add_cable(group) -> None:
    group.add_argument("--cable", action="append", metavar="FAULT",
                       help="a cable with this fault, or with none where it is empty; can be repeated")
    group.add_argument("--seed", default="1", metavar="N", help="seed of the cable's choices [default: 1]")
    group.add_argument("--traffic", default="6", metavar="S",
                       help="time that faults are spread over, from the first test frame on [default: 6, as long as "
                            "the emulated board sends]")
    group.add_argument("--program", type=Path, metavar="FILE",
                       help="the linegauge that is the cable [default: this tree's release binary]")


def release_binary(name: str, purpose: str, option: str, package: str = "") -> Path:
    """What `cargo build --release` has made here."""
    found = sorted(ROOT.glob(f"target/*-linux-*/release/{name}"))
    if not found:
        raise Refused(f"no release binary {purpose}: run cargo build --release{package}, or name one with {option}")
    return found[-1]
