"""The strings of the entities tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TextTabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityStrings(TextTabStrings):
    """The strings of the entities tab."""

    text: str
    placeholder: str
    found: str
    none: str
    listed: str
    columns: tuple[str, str, str, str]
    as_json: str
    left_out: str
    empty: Notice
    no_tagger: Notice


CHINESE = EntityStrings(
    page=page.CHINESE,
    tab="命名实体",
    text="要找实体的文本",
    placeholder="在这里输入一段中文，例如一条新闻，人名、地名、机构名会随着输入标出来……",
    go="标出实体 · Enter",
    found="找到 {count} 个实体",
    none="这段文字里没有找到实体。",
    listed="逐个列出",
    columns=("文字", "类型", "位置", "概率"),
    as_json="供程序使用的 JSON",
    left_out="这里只列出前 {shown} 个，还有 {rest} 个。",
    waiting=Notice("实体会标在这里", "输入文字，或点一个例子。"),
    empty=Notice("请先输入要找实体的文本", "在左上方的框里输入，或点一个例子。"),
    long=Notice(
        "文本较长（{count} 个字符），不再边输入边标",
        "请按“标出实体”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
    ),
    no_tagger=Notice(
        "还没有附带的实体模型",
        "请先训练一个：zh-albert finetune --task ner …；其他几页现在就能用。",
    ),
)


ENGLISH = EntityStrings(
    page=page.ENGLISH,
    tab="Entities",
    text="Text to find entities in",
    placeholder=(
        "Type some Chinese here, such as a news item; people, places and organizations "
        "are marked while you type …"
    ),
    go="Find · Enter",
    found="Entities found: {count}",
    none="No entity was found in this text.",
    listed="One by one",
    columns=("text", "type", "position", "probability"),
    as_json="As JSON, for programs",
    left_out="The first {shown} are listed; {rest} more are not.",
    waiting=Notice("Entities appear here", "Type something, or click an example."),
    empty=Notice("There is no text yet", "Type into the box, or click an example."),
    long=Notice(
        "The text is long ({count} characters), so the marks no longer follow your typing",
        "Press Find; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
    no_tagger=Notice(
        "No model for entities is bundled yet",
        "Train one: zh-albert finetune --task ner …; the other tabs work already.",
    ),
)
