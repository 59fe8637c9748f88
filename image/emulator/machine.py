"""The box: QEMU with two ports, a display, a watchdog, a power button, and a serial port that can be left unread."""

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import child
from cable import SIDES, Cable, Wires, port
from peripherals import Peripherals
from qmp import Qmp
from refused import WRONG_REQUEST, Refused

QEMU = "qemu-system-x86_64"
FIRMWARE = Path("/usr/share/OVMF")
# PCI slots of the ports; fixed, so that a board can name them.
SLOTS = ("0x10", "0x11")
# What waits to be read of the serial port at most: little, so that nobody reading is felt at once, as on a
# wire with flow control.
SERIAL_ROOM = 4096
START_PATIENCE_S = 20
FOLDER = "linegauge-box-"
# A path of a socket has at most 107 characters (unix(7)); what follows here takes 45.
LONGEST_PLACE = 60


class Box:
    """A running box; leaving the `with` block ends it and removes all its traces."""

    def __init__(self, request):
        self.request = request
        self.folder = new_folder()
        self.qemu = self.cable = self.peripherals = self.qmp = self.serial = None
        self.account = ""
        self.plugged = True
        self.carrier = dict.fromkeys(SIDES, True)

    def __enter__(self) -> "Box":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def start(self) -> None:
        self.cable = Cable(self.folder, self.request) if self.request.cable is not None else Wires(self.folder)
        self.peripherals = Peripherals(self.folder, self.request)
        words = [QEMU, *machine(self.request, self.folder), *ports(self.request, self.folder, self.cable),
                 *self.peripherals.machine(), *self.request.qemu]
        self.serial = open_serial(self.folder)
        with socket.socket(socket.AF_UNIX) as control:
            control.bind(str(self.folder / "qmp"))
            control.listen()
            self.started = time.monotonic()
            self.qemu = child.start(words, stdout=subprocess.DEVNULL)
            self.qmp = Qmp(self.accept(control))
        # Nobody is at the other end of a lone port.
        if self.request.nics == 1:
            self.set_plugged(False)
        self.update_links(self.cable.carriers())

    def accept(self, control: socket.socket) -> socket.socket:
        """QEMU's control connection; its last words are on standard error where it does not come."""
        control.settimeout(0.1)
        while self.qemu.poll() is None and self.now() < START_PATIENCE_S:
            try:
                return control.accept()[0]
            except TimeoutError:
                pass
        raise Refused("QEMU does not start: see above")

    def now(self) -> float:
        """Seconds since the box was switched on."""
        return time.monotonic() - self.started

    def press(self) -> None:
        self.qmp.do("system_powerdown")

    def pull_stick(self) -> None:
        self.qmp.do("device_del", id="stick")

    def kill(self) -> None:
        """Ends the emulator as a power cut would end a box: at once, without a word."""
        self.qemu.kill()

    def picture(self, path: Path) -> None:
        self.qmp.do("screendump", filename=str(path.resolve()), format="png")

    def type(self, text: str) -> None:
        """Sends characters to the serial port."""
        self.send(text.encode(errors="surrogateescape"))

    def send(self, octets: bytes) -> None:
        """Sends octets to the serial port, which takes no more than its pipe has room for."""
        with contextlib.suppress(BlockingIOError):
            octets = octets[os.write(self.keys, octets):]
        if octets:
            print(f"-- {len(octets)} octets typed too fast were not sent", flush=True)

    def set_plugged(self, plugged: bool) -> None:
        self.plugged = plugged
        self.set_links(SIDES)

    def update_links(self, carriers: dict[str, bool]) -> None:
        self.carrier.update(carriers)
        self.set_links(carriers)

    def set_links(self, sides) -> None:
        for side in list(sides)[:self.request.nics]:
            self.qmp.do("set_link", name=f"port-{side}", up=self.plugged and self.carrier[side])

    @property
    def keys(self) -> int:
        return self.serial[1]

    @property
    def log(self) -> int:
        return self.serial[0]

    def stop(self) -> None:
        """Ends the box and its cable, prints the cable's account, removes sockets and files."""
        if self.qmp:
            self.qmp.quit()
        if self.qemu:
            child.stop(self.qemu)
        if self.cable:
            self.account = self.cable.stop()
            print(self.account, end="", flush=True)
        if self.peripherals:
            self.peripherals.stop()
        for descriptor in self.serial or ():
            os.close(descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)


def new_folder() -> Path:
    """A folder for sockets; those of boxes whose process was killed are swept away."""
    place = tempfile.gettempdir()
    if len(place) > LONGEST_PLACE or "," in place:
        raise Refused(f"TMPDIR {place}: must be at most {LONGEST_PLACE} characters without a comma", WRONG_REQUEST)
    for old in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        if not Path("/proc", old.name.removeprefix(FOLDER).split("-")[0]).exists():
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))


def open_serial(folder: Path) -> tuple[int, int]:
    """The two pipes of the serial port: what it says, and what is typed."""
    for end in ("serial.in", "serial.out"):
        os.mkfifo(folder / end)
    log = os.open(folder / "serial.out", os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, SERIAL_ROOM)
    # Open for both ways: the pipe then needs no reader to be opened.
    return log, os.open(folder / "serial.in", os.O_RDWR | os.O_NONBLOCK)


def machine(request, folder: Path) -> list[str]:
    """QEMU's arguments but for the ports."""
    clock = existing(request.image, "pstates.aml")
    words = ["-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35", "-smp", "2"]
    words += ["-accel", "kvm" if request.kvm else "tcg", "-cpu", request.cpu, "-m", str(request.memory)]
    words += ["-acpitable", f"file={clock}", "-vga", "std", "-device", "i6300esb"]
    # Without it the first random number takes seconds: this processor has no instruction for one.
    words += ["-device", "virtio-rng-pci"]
    words += ["-chardev", f"pipe,id=serial,path={folder}/serial", "-serial", "chardev:serial"]
    if request.records:
        words += ["-chardev", f"file,id=records,path={request.records}", "-serial", "chardev:records"]
    words += ["-qmp", f"unix:{folder}/qmp"]
    words += ["-no-reboot"] if request.no_reboot else []
    words += firmware(folder) if request.uefi else kernel(request)
    return words + stick(request)


def kernel(request) -> list[str]:
    """Straight into the kernel, with the framebuffer at 640 by 480, and no second's rest for a stick that needs none."""
    line = existing(request.image, "cmdline").read_text()
    return ["-kernel", str(existing(request.image, "bzImage")),
            "-initrd", str(existing(request.image, "initramfs.cpio.zst")),
            "-append", f"{line} vga=0x312 usb-storage.delay_use=0 {request.append}".strip()]


def firmware(folder: Path) -> list[str]:
    """UEFI firmware with a memory of its own."""
    code, variables = FIRMWARE / "OVMF_CODE_4M.fd", folder / "variables.fd"
    shutil.copy(FIRMWARE / "OVMF_VARS_4M.fd", variables)
    return ["-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={code}",
            "-drive", f"if=pflash,format=raw,unit=1,file={variables}"]


def stick(request) -> list[str]:
    """The USB stick: the one named, and written to, or a throw-away copy of the image's own."""
    if request.no_stick:
        return []
    if request.stick:
        drive = f"file={request.stick}"
    else:
        drive = f"snapshot=on,file={existing(request.image, 'linegauge.img')}"
    return ["-drive", f"if=none,id=stick,format=raw,{drive}", "-device", "qemu-xhci",
            "-device", "usb-storage,id=stick,drive=stick,bootindex=1"]


def ports(request, folder: Path, cable) -> list[str]:
    """Two network cards, each with a datagram socket: a frame is a datagram."""
    slots = SLOTS[::-1] if request.swap_nics else SLOTS
    words = ["-nic", "none"]
    for side, slot in list(zip(SIDES, slots))[:request.nics]:
        words += ["-netdev", f"dgram,id={side},local.type=unix,local.path={port(folder, side)},"
                             f"remote.type=unix,remote.path={cable.peer(side)}"]
        words += ["-device", f"e1000e,id=port-{side},netdev={side},addr={slot},mac=52:54:00:00:00:0{side}"]
        if request.capture:
            words += capture(request.capture, side)
    return words


def capture(folder: Path, side: str) -> list[str]:
    """Keeps what leaves a port: what its peer, the network back end, receives."""
    folder.mkdir(parents=True, exist_ok=True)
    return ["-object", f"filter-dump,id=dump-{side},netdev={side},queue=rx,file={folder}/{side}.pcap"]


def existing(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise Refused(f"{path} is not there: run image/build first", WRONG_REQUEST)
    return path
