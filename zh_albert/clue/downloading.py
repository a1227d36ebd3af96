"""Download of CLUE releases: resumable, verified, complete or not there.

Nothing is downloaded except by ``zh-albert clue fetch``.
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
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from zh_albert.clue.task import ClueTask, Download
from zh_albert.errors import DataError

_TIMEOUT_S = 30.0
_CHUNK = 1 << 18
Progress = Callable[[str, int, int | None], None]  # (file, bytes received, total bytes)


def fetch_task(
    task: ClueTask, folder: Path, *, mirror: str | None = None, progress: Progress | None = None
) -> Path:
    """Download a task's release into ``folder/NAME``; existing files are not downloaded again.

    Args:
        task: The task.
        folder: Parent of the tasks' folders.
        mirror: Another address with files of the same names.
        progress: Called while data arrive.

    Returns:
        The task's folder.

    Raises:
        DataError: If an address cannot be reached, has no such file, or a file with another
            checksum; or the task's folder holds something else than its files.
    """
    target = folder / task.name
    for download in task.downloads:
        name = PurePosixPath(download.url).name
        address = f"{mirror.rstrip('/')}/{name}" if mirror else download.url
        is_archive = name.endswith(".zip")
        file = folder / name if is_archive else target / name
        if is_archive:
            wanted = {*task.train, *task.dev, *task.scored}
            missing = sorted(one for one in wanted if not (target / one).is_file())
            if not missing:
                continue
            if target.is_dir() and any(target.iterdir()):
                raise DataError(
                    f"{target}: expected an empty folder or all files of {task.name}, "
                    f"{', '.join(missing)} not found; move it away, or give another --to"
                )
        elif file.exists():
            continue
        if not file.exists():  # it may exist as an archive that was not unpacked
            fetch(Download(address, download.sha256), file, progress)
        if is_archive:
            _unpack(file, target, wanted)
            file.unlink()
        else:
            _refuse_no_rows(file, address)
    return target


def fetch(download: Download, file: Path, progress: Progress | None = None) -> None:
    """Download one file; an interrupted earlier download is continued.

    Raises:
        DataError: See ``fetch_task``.
    """
    try:
        known = urllib.parse.urlsplit(download.url).scheme in ("http", "https")
    except ValueError:  # for example an incomplete IPv6 address
        known = False
    if not known:
        raise DataError(f"{download.url}: expected an address that starts with http://")
    part = file.with_name(f".{file.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        _receive(download.url, part, progress)
    except urllib.error.HTTPError as error:
        raise DataError(
            f"{download.url}: the server answered {error.code} {error.reason}"
        ) from None
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as e:
        reason = getattr(e, "reason", None) or e
        raise DataError(
            f"{download.url}: cannot be reached ({reason}); check the network, give a mirror by "
            f"--mirror, or put the file into {file.parent} yourself"
        ) from None
    with part.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if download.sha256 and found != download.sha256:
        part.unlink()
        raise DataError(
            f"{download.url}: expected the file with SHA-256 {download.sha256}, found {found}; it "
            "was changed or damaged: try again, or another address"
        )
    part.replace(file)


def _receive(url: str, part: Path, progress: Progress | None) -> None:
    """Append the missing bytes to ``part``."""
    have = part.stat().st_size if part.exists() else 0
    address = urllib.parse.quote(url, safe=string.punctuation)  # a path may have Chinese characters
    request = urllib.request.Request(address, headers={"User-Agent": "zh-albert"})  # noqa: S310
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":  # it was complete
            return
        part.unlink()  # of another file
        _receive(url, part, progress)
        return
    with answer, part.open("ab" if answer.status == http.HTTPStatus.PARTIAL_CONTENT else "wb") as f:
        length = answer.headers.get("Content-Length")
        total = f.tell() + int(length) if length else None
        while chunk := answer.read(_CHUNK):
            f.write(chunk)
            if progress:
                progress(PurePosixPath(url).name, f.tell(), total)
        if total is not None and f.tell() < total:
            raise DataError(
                f"{url}: interrupted after {f.tell():,} of {total:,} bytes; run the command again"
            )


def _refuse_no_rows(file: Path, address: str) -> None:
    """Check that a file starts with a JSON object; otherwise it is deleted.

    Raises:
        DataError: If it does not: an empty file, or a page with an error message.
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
            f"{address}: expected lines of JSON, found {first!r:.60}; try again, or another address"
        )


def _unpack(archive: Path, target: Path, wanted: Iterable[str]) -> None:
    """Unpack an archive, without its folders, into a folder that appears when it is complete.

    Raises:
        DataError: If the archive is damaged, encrypted or compressed in an unknown way, or lacks
            one of the files that are wanted.
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
        OSError,  # without a number: from bz2, of a damaged archive
        RuntimeError,  # encrypted, or (NotImplementedError) compressed in an unknown way
    ) as error:
        shutil.rmtree(staging, ignore_errors=True)
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the system (a full disk): the archive is intact, the next call unpacks it
        archive.unlink()
        raise DataError(
            f"{archive}: the archive is damaged, encrypted or of an unknown compression ({error}); "
            "download it again"
        ) from None
    if missing := sorted(one for one in wanted if not (staging / one).is_file()):
        shutil.rmtree(staging)
        raise DataError(
            f"{archive}: expected the files of {target.name}, {', '.join(missing)} not found; is "
            "it another task's? Move it away, and it is downloaded"
        )
    staging.rename(target)
