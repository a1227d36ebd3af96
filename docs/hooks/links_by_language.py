"""Let pages for both languages link pages that each language has its own of.

In the files such links name the English page, so that they lead somewhere wherever the files are
read. Here they lose the language, and lead to the page of the side of the site they stand on.
"""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.pages import Page

_LANGUAGES = (".en.md", ".zh.md")


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Change the links of a page that has no language."""
    if page.file.src_uri.endswith(_LANGUAGES):
        return markdown
    return re.sub(r"(\]\([\w./-]+)\.en\.md", r"\1.md", markdown)
