"""Processes whose system calls are recorded: which hosts they look up or connect to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CALLS = "connect,sendto,sendmsg,sendmmsg"
# An address of the internet as strace prints it: a port, then an address of version 4 or 6.
_ADDRESS = re.compile(
    r"sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )\"([^\"]+)\""
)
# Services of this machine that look names up for others.
_RESOLVER = re.compile(r'sun_path="([^"]*(?:resolve|avahi)[^"]*)"')
_LOOKUPS = 53
# What would hide that a library calls its makers, or send it to a proxy of this machine.
_SWITCHES = re.compile(r"(?i)telemetry|analytics|offline|_proxy$|^xdg_|^CI$|^coverage")


@dataclass
class Trace:
    """What a process and its children did.

    Attributes:
        code: Exit code.
        printed: Standard output and error.
        calls: System calls that look up or reach another host.
        files: What it left in its home and in the folder for temporary files, relative to both.
    """

    code: int
    printed: str
    calls: list[str]
    files: list[str]


def why_not_traceable() -> str | None:
    """Return why system calls cannot be recorded here; None if they can."""
    if shutil.which("strace") is None:
        return "strace is missing: install it, for example by sudo apt-get install strace"
    ran = subprocess.run(["strace", "-f", "true"], capture_output=True, text=True, check=False)
    return None if ran.returncode == 0 else f"strace may not trace here: {ran.stderr.strip()}"


def recorder(record: Path, *, apart: bool = False) -> list[str]:
    """Return the beginning of a command that records the system calls of the rest.

    Args:
        record: File to write.
        apart: The rest is the process that gets the caller's signals, not strace.
    """
    options = ["-D"] * apart + ["-f", "-qq", "--seccomp-bpf", "-s", "80", "-o", str(record)]
    return ["strace", *options, "-e", f"trace={_CALLS}", "-e", "signal=none"]


def foreign_calls(recorded: str) -> list[str]:
    """Return those of strace's lines that look up or reach another host than this one."""
    found = []
    for line in recorded.splitlines():
        addresses = _ADDRESS.findall(line)
        outside = [
            (port, address)
            for port, address in addresses
            if int(port) == _LOOKUPS or not address.startswith(("127.", "::1", "::ffff:127."))
        ]
        if outside or _RESOLVER.search(line):
            found.append(line)
    return found


def trace(command: Sequence[str], folder: Path, *, seconds: float) -> Trace:
    """Run a command in an empty folder and with an empty home, with its system calls recorded.

    Args:
        command: Program and arguments.
        folder: Where to do so.
        seconds: After which it is killed.
    """
    home, temporary, work = folder / "home", folder / "tmp", folder / "work"
    for made in (home, temporary, work):
        made.mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if not _SWITCHES.search(name)}
    environment |= {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    record = folder / "calls.txt"
    done = subprocess.run(
        [*recorder(record), *command],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    left = [
        str(path.relative_to(folder))
        for parent in (home, temporary)
        for path in sorted(parent.rglob("*"))
        if path.is_file()
    ]
    return Trace(
        done.returncode, done.stdout, foreign_calls(record.read_text(errors="replace")), left
    )
