"""Reading of files that may be damaged or hostile: regular ones only, never more than a limit.

What a file promises costs nothing to write: a header names a shape of 10^12, a few bytes unpack to
gigabytes, a name leads to a pipe that nobody writes to. So sizes are checked before memory is
taken, and files before they are opened.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from zh_albert.errors import ConfigError

LIMIT_VARIABLE = "ZH_ALBERT_MAX_MB"
"""Environment variable that raises the limit: of a line, of a metadata file, of what unpacks."""
_LIMIT_MB = 64
_RATIO = 8  # unpacked to packed; 1.2 to 2 in the bundled models, 4.7 as float32
# <(…) of a shell is among them.
_DESCRIPTORS = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def limit_bytes() -> int:
    """Return the largest size of a line of text, or of a file of metadata.

    Raises:
        ConfigError: If ``LIMIT_VARIABLE`` is no whole number of at least 1.
    """
    text = os.environ.get(LIMIT_VARIABLE, str(_LIMIT_MB))
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:12]) < 10**11:
        raise ConfigError(
            f"{LIMIT_VARIABLE}: expected a whole number of megabytes, found {text!r:.40}; unset it "
            f"for the default, {_LIMIT_MB}"
        )
    return int(text) << 20


def unpacked_limit(packed: int) -> int:
    """Return the largest size that ``packed`` bytes may unpack to; numbers in bytes."""
    return max(limit_bytes(), _RATIO * packed)


def how_to_raise() -> str:
    """Return the end of an error about the limit: what to do if the file is right."""
    return (
        f"it is damaged or hostile; if you trust it, set {LIMIT_VARIABLE} (now "
        f"{limit_bytes() >> 20}) higher"
    )


def is_stream(path: Path) -> bool:
    """Return whether a file is a descriptor of this process, a pipe, a socket or a device.

    No file can take its place: it is written to as it is.
    """
    return str(path).startswith(_DESCRIPTORS) or _kind(path) in _KINDS


def refuse_special(path: Path, *, pipes: bool = False) -> None:
    """Check that a file is a regular one, which can be opened without waiting for anybody.

    Args:
        path: May be missing; opening it then says so. A folder passes for the same reason.
        pipes: Whether pipes and devices are welcome, as in an argument of a command. Descriptors
            of this process (``/dev/stdin``, ``<(…)`` of a shell) always are.

    Raises:
        OSError: If it is a pipe, a socket or a device.
    """
    if pipes or str(path).startswith(_DESCRIPTORS):
        return
    kind = _kind(path)
    if kind in _KINDS:
        problem = f"expected a regular file, found {_KINDS[kind]}"
        raise OSError(errno.EINVAL, problem, str(path))


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except OSError:  # opening it tells why
        return 0


def refuse_same(out: Path, *sources: Path) -> None:
    """Check that a file to write is none of those that are read, which would be lost.

    Raises:
        ConfigError: If it is one of them.
    """
    if out.exists() and not is_stream(out):
        for source in sources:
            if source.exists() and out.samefile(source):
                problem = "expected another file than the one that is read"
                raise ConfigError(f"{out}: {problem}, which would be lost; choose another name")


def read_plain(path: Path, *, limited: bool = True) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file.
        limited: Refuse files above ``limit_bytes``.

    Raises:
        OSError: If it cannot be read, is no regular file, or too large.
    """
    refuse_special(path)
    with path.open("rb") as file:
        if not limited:
            return file.read()
        content = file.read(limit_bytes() + 1)
    if len(content) > limit_bytes():
        problem = f"more than {limit_bytes():,} bytes: {how_to_raise()}"
        raise OSError(errno.EFBIG, problem, str(path))
    return content


def parse_json(content: str | bytes) -> Any:
    """Parse JSON, however deep it is nested.

    Raises:
        ValueError: If it is not JSON, not UTF-8, or nested deeper than Python can follow.
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("lists or objects are nested too deep") from None
