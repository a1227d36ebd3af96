"""The strings of the tab of semantic search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TextTabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchStrings(TextTabStrings):
    """The strings of the tab of semantic search."""

    question: str
    question_placeholder: str
    lines: str
    lines_placeholder: str
    nearest: str
    columns: tuple[str, str, str]
    groups: Mapping[str, str]
    searched: str
    unread: str
    hint: str
    no_question: Notice
    no_lines: Notice
    too_many: Notice


CHINESE = SearchStrings(
    page=page.CHINESE,
    tab="语义搜索",
    question="要找什么",
    question_placeholder="用自己的话说，不必和下面的原文用同样的词……",
    lines="在这些文本里找（每行一条）",
    lines_placeholder="把要搜索的文本贴在这里，每行一条，例如常见问题、评论或标题……",
    go="搜索 · Enter",
    nearest="意思最接近的",
    columns=("文本", "第几条", "余弦"),
    groups={"faq": "在常见问题里找", "reviews": "在评论里找"},
    searched="共搜索 {count} 条。",
    unread="另有 {count} 条没有模型能读的字符。",
    hint="余弦越大，意思越接近；它不是概率，不同问题的余弦不能互相比较。",
    waiting=Notice("结果会显示在这里", "贴上要搜索的文本，再输入要找什么，或点一个例子。"),
    no_question=Notice("还没有说要找什么", "在“要找什么”框里输入，或点一个例子。"),
    no_lines=Notice("还没有要搜索的文本", "把文本贴在下面的框里，每行一条，或点一个例子。"),
    too_many=Notice("文本有 {count} 条，网页最多搜索 {limit} 条", "请分几次，或用 Python 搜索。"),
    long=Notice(
        "要搜索的文本较长（连同问题共 {count} 个字符），不再边输入边找",
        "请按“搜索”按钮读一遍；读过之后，换问题就能边输入边找。",
    ),
)


ENGLISH = SearchStrings(
    page=page.ENGLISH,
    tab="Search",
    question="What to find",
    question_placeholder="Say it in your own words, in Chinese; the texts may use others …",
    lines="Search in these texts (one a line)",
    lines_placeholder="Paste Chinese texts here, one a line: questions, reviews, headlines …",
    go="Search · Enter",
    nearest="Nearest in meaning",
    columns=("text", "number", "cosine"),
    groups={"faq": "Search frequent questions", "reviews": "Search reviews"},
    searched="{count} texts were searched.",
    unread=" {count} more have nothing that the model can read.",
    hint=(
        "The larger the cosine, the nearer the meaning. It is no probability, and those of "
        "different questions cannot be compared."
    ),
    waiting=Notice(
        "The result appears here", "Paste texts and type what to find, or click an example."
    ),
    no_question=Notice("Nothing to find yet", "Type what to find, or click an example."),
    no_lines=Notice("There are no texts yet", "Paste some, one a line, or click an example."),
    too_many=Notice(
        "{count} texts are more than the {limit} that the page searches",
        "Search in parts, or in Python.",
    ),
    long=Notice(
        "Long texts ({count} characters with the question) are not read while you type",
        "Press Search once; then results follow the typing of the question.",
    ),
)
