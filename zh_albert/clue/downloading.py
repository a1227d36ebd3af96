"""Releases of CLUE tasks from their addresses: resumable, checked, whole or not there.

Nothing is fetched unless the user asks for it by ``zh-albert clue fetch``.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import lzma
import shutil
import string
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from zh_albert.clue.task import ClueTask, Download
from zh_albert.errors import DataError

_TIMEOUT_S = 30.0
_CHUNK = 1 << 18
Progress = Callable[[str, int, int | None], None]  # (file, bytes there, bytes in all)


def fetch_task(
    task: ClueTask, folder: Path, *, mirror: str | None = None, report: Progress | None = None
) -> Path:
    """Fetch a task's release into ``folder/NAME``; what is there already is not fetched again.

    Args:
        task: Which one.
        folder: Holds a folder for each task.
        mirror: Another address that has files of the same names.
        report: Called while bytes arrive.

    Returns:
        The task's folder.

    Raises:
        DataError: If an address cannot be reached, has no such file, or another one than is known.
    """
    target = folder / task.name
    for download in task.downloads:
        name = PurePosixPath(download.url).name
        address = f"{mirror.rstrip('/')}/{name}" if mirror else download.url
        is_archive = name.endswith(".zip")
        file = folder / name if is_archive else target / name
        if any(target.glob("*")) if is_archive else file.exists():
            continue
        if not file.exists():  # an archive may lie there, not yet unpacked
            fetch(Download(address, download.sha256), file, report)
        if is_archive:
            _unpack(file, target)
            file.unlink()
        else:
            _refuse_no_rows(file, address)
    return target


def fetch(download: Download, file: Path, report: Progress | None = None) -> None:
    """Fetch one file; what an earlier, broken-off call left is gone on with.

    Raises:
        DataError: See ``fetch_task``.
    """
    try:
        known = urllib.parse.urlsplit(download.url).scheme in ("http", "https")
    except ValueError:  # half an IPv6 address, say
        known = False
    if not known:
        raise DataError(f"{download.url}: expected an address that begins with http://")
    part = file.with_name(f".{file.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        _receive(download.url, part, report)
    except urllib.error.HTTPError as error:
        raise DataError(f"{download.url}: the server says {error.code} {error.reason}") from None
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as e:
        reason = getattr(e, "reason", None) or e
        raise DataError(
            f"{download.url}: cannot be reached ({reason}); check the network, name a mirror by "
            f"--mirror, or put the file into {file.parent} yourself"
        ) from None
    with part.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if download.sha256 and found != download.sha256:
        part.unlink()
        raise DataError(
            f"{download.url}: expected the file with SHA-256 {download.sha256}, got {found}; it "
            "was changed since, or broken on the way: try again, or another address"
        )
    part.replace(file)


def _receive(url: str, part: Path, report: Progress | None) -> None:
    """Add what is missing to ``part``."""
    have = part.stat().st_size if part.exists() else 0
    address = urllib.parse.quote(url, safe=string.punctuation)  # a path of Chinese characters
    request = urllib.request.Request(address, headers={"User-Agent": "zh-albert"})  # noqa: S310
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":  # it was all there
            return
        part.unlink()  # of another file
        _receive(url, part, report)
        return
    with answer, part.open("ab" if answer.status == http.HTTPStatus.PARTIAL_CONTENT else "wb") as f:
        length = answer.headers.get("Content-Length")
        total = f.tell() + int(length) if length else None
        while chunk := answer.read(_CHUNK):
            f.write(chunk)
            if report:
                report(PurePosixPath(url).name, f.tell(), total)
        if total is not None and f.tell() < total:
            raise DataError(
                f"{url}: broke off at {f.tell():,} of {total:,} bytes; the same command goes on"
            )


def _refuse_no_rows(file: Path, address: str) -> None:
    """Check that a file begins with an object of JSON; what is none is not kept.

    Raises:
        DataError: If it does not: an empty file, or a page that says what is wrong.
    """
    with file.open("rb") as content:
        first = content.readline()
    try:
        row = json.loads(first)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        file.unlink()
        raise DataError(
            f"{address}: expected lines of JSON, got {first!r:.60}; try again, or another address"
        )


def _unpack(archive: Path, target: Path) -> None:
    """Put an archive's files, without its folders, into a folder that appears when all are there.

    Raises:
        DataError: If the archive is damaged, encrypted or packed in an unknown way.
    """
    staging = target.with_name(f".{target.name}.unpacking")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    try:
        with zipfile.ZipFile(archive) as packed:
            for member in packed.infolist():
                path = PurePosixPath(member.filename)
                if member.is_dir() or any(part.startswith((".", "__")) for part in path.parts):
                    continue  # "__MACOSX" and the like
                with packed.open(member) as source, (staging / path.name).open("wb") as file:
                    shutil.copyfileobj(source, file)
    except (
        zipfile.BadZipFile,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        OSError,  # without a number: what bz2 says of damage
        RuntimeError,  # encrypted, or (NotImplementedError) packed in a way that zipfile lacks
    ) as error:
        shutil.rmtree(staging, ignore_errors=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system, a full disk say: the archive is whole, the next call unpacks it
        archive.unlink()
        raise DataError(
            f"{archive}: the archive is damaged, encrypted or packed in an unknown way ({error}); "
            "fetch it again"
        ) from None
    staging.rename(target)
