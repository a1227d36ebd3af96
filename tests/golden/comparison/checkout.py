"""Two checkouts side by side: commands run by one of them, and what is compared."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

COMMAND_LINE = ("-m", "zh_albert.cli")
CORPUS_TOOLS = ("-c", "from corpora_tools.cli.app import main; main()")
# One thread a library, unless a run is to have several: sums are added up in one order then.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
FIXED = {
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
    "OMP_WAIT_POLICY": "PASSIVE",  # two processes on two cores would take turns waiting
}
# What would make a process another one. The seed of hashes stays random: no answer may hang on it.
DROPPED = ("PYTHONPATH", "PYTHONHASHSEED", "RANK", "WORLD_SIZE", "CUDA_VISIBLE_DEVICES")


_STARTED: list[subprocess.Popen[bytes]] = []

NOTHING: Mapping[str, str] = MappingProxyType({})


class ComparisonError(Exception):
    """A checkout could not do what is to be compared."""


class Result(NamedTuple):
    """One thing that both checkouts have to make alike."""

    what: str
    """What was asked, or which part of a file it is."""
    found: str
    """The answer, or the digest of the part."""


class Comparison(NamedTuple):
    """Results under a name that is the same for both checkouts."""

    name: str
    results: list[Result]

    @property
    def digest(self) -> str:
        """Return what changes with any of the results."""
        digest = hashlib.sha256()
        for result in self.results:
            digest.update(f"{result.what!r}\n{result.found!r}\n".encode())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Checkout:
    """A checkout, and the folder that its commands run in and write to.

    Attributes:
        root: Its folder; only read.
        folder: Both have the same files in theirs, under the same names, so that messages which
            name a file are the same.
    """

    root: Path
    folder: Path

    def environment(self, threads: int, further: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a process that imports this checkout's packages."""
        kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
        counts = dict.fromkeys(THREADS, str(threads))
        own = {"PYTHONPATH": str(self.root), "CUDA_VISIBLE_DEVICES": ""}
        return {**kept, **FIXED, **counts, **own, **further}

    def start(
        self,
        arguments: Iterable[object],
        *,
        threads: int = 1,
        environment: Mapping[str, str] = NOTHING,
    ) -> subprocess.Popen[bytes]:
        """Start Python with some arguments; without the folder of the script on its path."""
        process = subprocess.Popen(
            [sys.executable, "-P", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment(threads, environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        _STARTED.append(process)
        return process

    def run(
        self,
        arguments: Sequence[object],
        *,
        threads: int = 1,
        environment: Mapping[str, str] = NOTHING,
    ) -> bytes:
        """Run Python with some arguments and return its standard output.

        Raises:
            ComparisonError: If it fails.
        """
        process = self.start(arguments, threads=threads, environment=environment)
        output, errors = process.communicate()
        if process.returncode:
            what = " ".join(map(str, arguments))[:300]
            told = errors.decode(errors="replace")[-2000:]
            raise ComparisonError(f"{self.root}: python {what}: exit {process.returncode}: {told}")
        return output

    def check(self) -> None:
        """Check that it is a checkout, and that Python imports its packages, no installed ones.

        Raises:
            ComparisonError: If not.
        """
        code = "import zh_albert, corpora_tools; print(zh_albert.__file__, corpora_tools.__file__)"
        files = self.run(["-c", code]).decode().split()
        if not all(Path(file).is_relative_to(self.root) for file in files):
            raise ComparisonError(f"{self.root}: Python imports {', '.join(files)} instead")


def end_all() -> None:
    """End the processes that still run: the comparison ends early."""
    for process in _STARTED:
        if process.poll() is None:
            process.kill()
