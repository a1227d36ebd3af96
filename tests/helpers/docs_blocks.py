"""The code blocks of the READMEs and of the site, and the commands in them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
READMES = ["README.md", "README.zh-CN.md"]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in DOCS.rglob("*.md")
    if path.name not in ("worklog.md", "README.md")
)
_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block: the language behind the fence, and the lines between."""

    language: str
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """The words of each command of a shell block; comments and continued lines are gone."""
        found, pending = [], ""
        for line in self.text.replace("\\\n", " ").splitlines(keepends=True):
            pending += line
            try:
                words = shlex.split(pending, comments=True)
            except ValueError:  # a quotation goes on in the next line
                continue
            if words:
                found.append(words)
            pending = ""
        assert not pending, f"a command without an end: {pending}"
        return found


def blocks(page: str, *languages: str) -> list[Block]:
    """Return a page's blocks in order; of some languages, or of all."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [Block(*match.groups()) for match in _FENCE.finditer(text)]
    return [block for block in found if not languages or block.language in languages]


def toml_files(page: str) -> dict[str, str]:
    """Return the page's TOML blocks by the file name in their first line."""
    files = {}
    for block in blocks(page, "toml"):
        named = re.match(r"# (\S+\.toml)\n", block.text)
        assert named, f"{page}: a TOML block begins with its file's name in a comment"
        files[named[1]] = block.text
    return files
