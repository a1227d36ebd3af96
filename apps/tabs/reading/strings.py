"""The strings of the reading tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import TextTabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingStrings(TextTabStrings):
    """The strings of the reading tab."""

    question: str
    question_placeholder: str
    passage: str
    passage_placeholder: str
    answer: str
    position: str
    no_answer: str
    no_answer_hint: str
    in_passage: str
    candidates: str
    columns: tuple[str, str, str]
    no_answer_row: str
    scores_hint: str
    scores_hint_without_none: str
    no_question: Notice
    no_passage: Notice


CHINESE = ReadingStrings(
    page=page.CHINESE,
    tab="阅读理解",
    question="问题",
    question_placeholder="在这里提一个问题，答案要能在下面的短文里找到……",
    passage="短文",
    passage_placeholder="把一段中文贴在这里，例如一段说明、通知或新闻……",
    go="找答案 · Enter",
    answer="答案",
    position="第 {start}–{end} 个字符",
    no_answer="文中没有答案",
    no_answer_hint="模型认为这篇短文没有回答这个问题；下表是它考虑过的其他答案。",
    in_passage="答案在短文中的位置",
    candidates="最可能的几个答案",
    columns=("答案", "位置", "概率"),
    no_answer_row="没有答案",
    scores_hint="概率在所有可能的片段和“没有答案”之间分配，这里只列出最可能的几项。",
    scores_hint_without_none=(
        "概率在所有可能的片段之间分配，这里只列出最可能的几项。"
        "这个模型没学过“没有答案”，总会给出一个片段。"
    ),
    waiting=Notice("答案会显示在这里", "输入短文和问题，或点一个例子。"),
    no_question=Notice("请先提一个问题", "在“问题”框里输入，或点一个例子。"),
    no_passage=Notice("请先输入短文", "答案要从短文里找：把一段文字贴进“短文”框，或点一个例子。"),
    long=Notice(
        "问题和短文较长（共 {count} 个字符），不再边输入边找",
        "请按“找答案”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
    ),
)


ENGLISH = ReadingStrings(
    page=page.ENGLISH,
    tab="Reading",
    question="Question",
    question_placeholder="Ask something that the passage below answers …",
    passage="Passage",
    passage_placeholder="Paste some Chinese here, such as a description, a notice or a news item …",
    go="Find the answer · Enter",
    answer="Answer",
    position="characters {start}–{end}",
    no_answer="The passage has no answer",
    no_answer_hint=(
        "The model thinks that this passage does not answer the question; the table has what else "
        "it considered."
    ),
    in_passage="Where it stands in the passage",
    candidates="Most probable answers",
    columns=("answer", "position", "probability"),
    no_answer_row="no answer",
    scores_hint=(
        "Probabilities are over all possible spans and “no answer”; these are the likeliest."
    ),
    scores_hint_without_none=(
        "Probabilities are over all possible spans; these are the likeliest. This model never "
        "learned to decline: it always gives a span."
    ),
    waiting=Notice(
        "The answer appears here", "Type a passage and a question, or click an example."
    ),
    no_question=Notice("There is no question yet", "Type one, or click an example."),
    no_passage=Notice(
        "There is no passage yet",
        "Answers are found in it: paste some text into its box, or click an example.",
    ),
    long=Notice(
        "A long question or passage ({count} characters together) is not read while you type",
        "Press the button; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
)
