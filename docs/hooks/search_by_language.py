"""Give each language of the site its own search.

The i18n plugin writes one index for all, in which a page that has no translation stands twice. Here
it is cut in two, and the English pages are told to look for theirs under ``en``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority

_ENGLISH = "en/"
_INDEX = "search/search_index.json"


@event_priority(-200)  # after the plugin, which builds the languages one after the other
def on_post_build(config: MkDocsConfig) -> None:
    """Cut the index; nothing is left to do where it has been cut already."""
    site = Path(config.site_dir)
    index = json.loads((site / _INDEX).read_text(encoding="utf-8"))
    chinese, english = [], []
    for entry in index["docs"]:
        if entry["location"].startswith(_ENGLISH):
            english.append({**entry, "location": entry["location"].removeprefix(_ENGLISH)})
        else:
            chinese.append(entry)
    if not (chinese and english):  # the build of one language inside that of all
        return
    _write(site / _INDEX, {**index, "docs": chinese})
    _write(site / _ENGLISH / _INDEX, {**index, "docs": english})
    for page in (site / _ENGLISH).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r'("base": ")\.\.(/?)', _one_less, text, count=1), encoding="utf-8")


def _one_less(found: re.Match[str]) -> str:
    return found[1] if found[2] else f"{found[1]}."


def _write(path: Path, index: dict[str, object]) -> None:
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text, encoding="utf-8")
