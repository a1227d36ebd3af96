"""A panel read as a browser would: its elements, and the user's characters in it."""

from __future__ import annotations

from collections.abc import Collection
from html.parser import HTMLParser

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> ${value} {{value}} @children `"
OURS = {"br", "div", "h3", "header", "i", "li", "ol", "p", "q", "section"}
OURS |= {"small", "span", "strong", "ul"}
"""The elements of most panels."""


def check_is_only_text(panel: str, tags: Collection[str] = OURS) -> None:
    """Check that nothing in a panel runs: no foreign element, no event, no template."""
    panel.encode()  # what JSON and UTF-8 cannot hold is gone
    read = PanelReader(panel)
    assert set(read.tags) <= set(tags)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert not set(panel) & set("${}@`\0")


class PanelReader(HTMLParser):
    """Collect the elements of a panel, and read the user's characters back out of it."""

    def __init__(self, panel: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.flows: dict[str, str] = {}  # what each drawing of the text shows
        self.slices: list[str] = []
        self.bars: list[float] = []
        self._open: list[str] = []
        self.feed(panel)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        found = dict(attrs)
        kind = found.get("class") or ""
        if "aria-valuenow" in found:
            self.bars.append(float(found["aria-valuenow"] or ""))
        if tag == "br":
            return
        self._open.append(kind)
        if kind == "za-slice":
            self.slices.append("")
        if "data-c" in found:
            self._take(chr(int(found["data-c"] or "", 16)))

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        inner = self._open[-1] if self._open else ""
        if inner.startswith(("za-gap", "za-more")) or not self._open[1:]:
            return
        self._take(data)

    def _take(self, characters: str) -> None:
        if "za-slice" in self._open:
            self.slices[-1] += characters
        flow = next((kind for kind in self._open if kind.startswith("za-flow")), None)
        outside = any(kind == "" for kind in self._open[-1:])  # the small [UNK]
        if flow and not outside:
            self.flows[flow] = self.flows.get(flow, "") + characters
