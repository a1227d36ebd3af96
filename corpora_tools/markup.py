"""Conversion of Markdown and wikitext to plain paragraphs, without code, tables and pictures."""

from __future__ import annotations

import html
import re
from typing import Any

from zh_albert.errors import MissingExtraError
from zh_albert.tokenization.characters import CHINESE

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)\n.*?\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile("<!--")
_NO_PROSE = re.compile(r"<(script|style|pre|table|svg|math)\b[^<>]*>", re.IGNORECASE)
# As in HTML: x<y，y>z is prose.
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9:_-]*(?:\s*/?|\s+[A-Za-z_:][^<>]{0,500})>")
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^<>]*>", re.IGNORECASE)
_FORMULA = re.compile(
    rf"\$\$[^$]{{1,2000}}\$\$|\$(?=\S)[^$\n{CHINESE}，。；]{{1,200}}(?<=\S)\$(?!\d)"
)
_PICTURE = re.compile(r"!\[[^\[\]\n]*\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]\n]*\])")
_LINK = re.compile(r"\[([^\[\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]\n]*\])")
_ADDRESS = re.compile(rf"<?https?://[^\s<>，。；）】”{CHINESE}]+>?")
_FOOTNOTE = re.compile(r"\[\^[^\]\n]{1,40}\]:?")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[^\n]*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|.*$|^(?=[^\n]*---)[ \t:|-]++$", re.MULTILINE)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t)[^\n]*(?:\n|\Z))+")
_LINE_START = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)+", re.MULTILINE
)
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|~~|`)(?=\S)([^\n]{1,300}?)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# A line break within a paragraph, as Markdown wraps lines: between Latin words it is a blank.
_WRAPPED = re.compile(r"(?<=[^\n])\n(?=[^\n])")
_BETWEEN_WORDS = re.compile(r"(?<=[!-~])\n(?=[!-~])")
_BLOCK = re.compile(r"\n(?=[ \t]*(?:#{1,6}[ \t]|>|[-*+][ \t]|\d{1,3}[.)][ \t]))")

_WIKI_NO_PROSE = re.compile(
    r"<(ref|gallery|math|timeline|score|syntaxhighlight|source|pre|code)\b[^<>]*>", re.IGNORECASE
)
_WIKI_VARIANT = re.compile(r"-\{(?:([^{}|]*)\|)?([^{}]*)\}-")
_HIDING = {"H", "T", "-"}  # flags of rules for the page or its title, and of the end of a rule
_WIKI_FILE = re.compile(
    r"\[\[\s*(?:File|Image|文件|檔案|档案|图像|圖像|Category|分类|分類)\s*:", re.IGNORECASE
)
_WIKI_TABLE = re.compile(r"^[ \t:]*(\{\||\|\}(?!\}))", re.MULTILINE)
_WIKI_LEFT = re.compile(r"^[^\S\n]*(?:[|!{}].*|[*#:;]+[^\S\n]*)", re.MULTILINE)
_WIKI_TAIL = re.compile(
    r"^==\s*(?:参考文献|參考文獻|参考资料|參考資料|外部链接|外部連結|参见|參見|注释|註釋|相关条目|相關條目)\s*==.*\Z",
    re.DOTALL | re.MULTILINE,
)
_SIMPLIFIED = re.compile(r"zh(?:-hans|-cn)?:([^;]*)")
_OTHER_VARIANT = re.compile(r"\s*zh-\w+:([^;]*)")


def strip_markdown(text: str) -> str:
    r"""Return the prose of a Markdown text, one paragraph or list item per line.

    >>> strip_markdown("# 标题\n\n第一行，\n接着。见[这里](http://a.cn)。\n\n- 一**项**\n- `两`项")
    '标题\n第一行，接着。见这里。\n一项\n两项'
    """
    text = _FRONT_MATTER.sub("", text.lstrip("\ufeff").replace("\r\n", "\n"))
    text = _cut_elements(_cut(_cut_fences(text), _COMMENT, "-->"), _NO_PROSE)
    for pattern in (_INDENTED, _FORMULA, _TABLE_ROW, _DEFINITION):
        text = pattern.sub("", text)
    text = _LINK.sub(r"\1", _PICTURE.sub("", text))
    text = _FOOTNOTE.sub("", _ADDRESS.sub("", text))
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n\n", text)))
    text = _WRAPPED.sub("", _BETWEEN_WORDS.sub(" ", _BLOCK.sub("\n\n", text)))
    text = _LINE_START.sub("", text)
    text = _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    return _lines(text)


def strip_wikitext(text: str) -> str:
    """Return the prose of a wiki page, without templates, tables, pictures, notes and last
    sections.

    Raises:
        MissingExtraError: If mwparserfromhell is not installed.
    """
    text = _WIKI_TAIL.sub("", _cut(text, _COMMENT, "-->"))
    text = _cut_tables(_cut_elements(text.replace("<!--", ""), _WIKI_NO_PROSE))
    text = _WIKI_VARIANT.sub(_variant, text)
    code = _parser().parse(_without_files(text), skip_style_tags=True)
    plain = str(code.strip_code(normalize=True, collapse=False))
    plain = re.sub("'{2,}", "", plain)
    return _lines(_WIKI_LEFT.sub("", _TAG.sub("", plain)))


def _cut(text: str, opening: re.Pattern[str], closing: str) -> str:
    """Remove everything from each opening to the next closing, if there is one. Linear in time."""
    parts: list[str] = []
    done = 0
    for match in opening.finditer(text):
        if match.start() >= done:
            end = text.find(closing, match.end())
            if end < 0:
                break
            parts.append(text[done : match.start()])
            done = end + len(closing)
    return "".join(parts) + text[done:]


def _cut_elements(text: str, opening: re.Pattern[str]) -> str:
    """Remove elements with their content; of <ref/>, and elements without an end, only the tag."""
    parts: list[str] = []
    done = 0
    never_closed: set[str] = set()
    for match in opening.finditer(text):
        if match.start() < done:
            continue
        parts.append(text[done : match.start()])
        done = match.end()
        name = match.group(1)
        if not match.group().endswith("/>") and name not in never_closed:
            end = text.find(f"</{name}", done)
            if end < 0:
                never_closed.add(name)
            else:
                done = text.find(">", end) + 1 or len(text)
    return "".join(parts) + text[done:]


def _cut_fences(text: str) -> str:
    """Remove fenced code; a fence without an end extends to the end of the text."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            closes = match and match.group(1).startswith(fence) and line.strip() == match.group(1)
            fence = "" if closes else fence
        elif match:
            fence = match.group(1)
            kept.append("")
        else:
            kept.append(line)
    return "\n".join(kept)


def _cut_tables(text: str) -> str:
    """Remove {| … |}, including nested tables; one without an end is kept."""
    parts: list[str] = []
    depth = start = done = 0
    for mark in _WIKI_TABLE.finditer(text):
        if mark.group(1) == "{|":
            start = start if depth else mark.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                parts.append(text[done:start])
                done = mark.end()
    return "".join(parts) + text[done:]


def _without_files(text: str) -> str:
    """Remove [[File:…]] and [[Category:…]], whose captions may contain links."""
    parts: list[str] = []
    done = 0
    for match in _WIKI_FILE.finditer(text):
        if match.start() < done:
            continue
        parts.append(text[done : match.start()])
        depth, done = 0, match.start()
        for bracket in re.finditer(r"\[\[|\]\]|\n\n", text[match.start() : match.start() + 5_000]):
            depth += {"[[": 1, "]]": -1}.get(bracket.group(), 0)
            if depth == 0 or bracket.group() == "\n\n":
                done = match.start() + bracket.end()
                break
        else:
            done = match.end()
    return "".join(parts) + text[done:]


def _variant(match: re.Match[str]) -> str:
    """Return what readers of simplified text see of ``-{FLAGS|zh-hans:…;zh-hant:…}-``."""
    flags, choice = match.groups(default="")
    if _HIDING & {flag.strip() for flag in flags.split(";")}:
        return ""
    found = _SIMPLIFIED.search(choice) or _OTHER_VARIANT.match(choice)
    return found.group(1) if found else choice


def _lines(text: str) -> str:
    return "\n".join(line for line in map(str.strip, text.split("\n")) if line)


def _parser() -> Any:
    try:
        import mwparserfromhell  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError.of("mwparserfromhell", "corpora") from None
    return mwparserfromhell
