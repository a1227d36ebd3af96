"""The tab of the reader, and the passages to try it on, written for this page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from apps.texts.examples import Example
from apps.texts.notice import Notice


class Passage(NamedTuple):
    """A passage and what may be asked about it."""

    text: str
    questions: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingTexts:
    """The tab of the reader."""

    tab: str
    question: str
    question_placeholder: str
    passage: str
    passage_placeholder: str
    go: str
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
    waiting: Notice
    no_question: Notice
    no_passage: Notice
    unreadable_question: Notice
    long: Notice


CHINESE = ReadingTexts(
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
    unreadable_question=Notice(
        "问题里没有模型能读的字符", "它只有空格或控制字符；请用汉字、字母或数字提问。"
    ),
    long=Notice(
        "短文较长（{count} 个字符），不再边输入边找",
        "请按“找答案”按钮开始；可能要等几秒到几分钟，期间页面照常可用。",
    ),
)


ENGLISH = ReadingTexts(
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
    unreadable_question=Notice(
        "Nothing in this question can be read by the model",
        "It is only spaces or control characters; type characters, letters or digits.",
    ),
    long=Notice(
        "A long passage ({count} characters) is not read while you type",
        "Press the button; it can take seconds to minutes, and the page stays usable meanwhile.",
    ),
)


PASSAGES = (
    Passage(
        "城南图书馆于1986年建成，2019年翻修后重新开放。馆里有藏书四十二万册，三层是儿童阅览室。"
        "每人凭借书证最多可以借十本书，借期三十天，可以在网上续借一次。"
        "图书馆星期一闭馆，其余日子早上九点开门，晚上八点半关门。",
        (
            Example("每人最多可以借几本书？", "How many books may one borrow?"),
            Example("图书馆哪一天不开门？", "On which day is the library closed?"),
            Example("儿童阅览室在几层？", "Where is the children's reading room?"),
            Example("图书馆的停车费是多少？", "What does parking cost? (not in the text)"),
        ),
    ),
    Passage(
        "龙井茶是绿茶的一种，产于浙江杭州西湖一带，因龙井村而得名。清明节以前采摘的叫明前茶，"
        "芽叶最嫩，价格也最高；谷雨以前采摘的叫雨前茶。泡龙井茶适合用八十度左右的水，"
        "水太烫会把嫩芽烫熟，茶汤发黄，味道变苦。",
        (
            Example("龙井茶产于哪里？", "Where does Longjing tea come from?"),
            Example("泡龙井茶用多少度的水？", "How hot should the water be?"),
            Example("谷雨以前采摘的茶叫什么？", "What is tea picked before Grain Rain called?"),
        ),
    ),
)
