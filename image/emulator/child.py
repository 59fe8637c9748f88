"""Processes that end with us, however we end."""

import ctypes
import signal
import subprocess

PR_SET_PDEATHSIG = 1


def start(words: list[str], **options) -> subprocess.Popen:
    """Starts a program, which the kernel ends where we are killed before we could do so ourselves."""
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen(words, preexec_fn=end_with_parent, **options)


def end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def stop(process: subprocess.Popen, number: int = signal.SIGTERM) -> None:
    """Asks a process to end, and ends it if it has not in five seconds."""
    if process.poll() is None:
        process.send_signal(number)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
