"""The strings that several tabs share, and how a language writes counts and examples."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import names, tables
from apps.i18n.notice import Notice


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)  # there is one of each language
class PageStrings:
    """The strings that several tabs share, in one language.

    Attributes:
        code: The ``lang`` attribute of HTML.
        query: The value of ``?lang=`` in the address.
        full_stop: What ends a sentence before another one.
        units: Units of large counts, the largest first: size and name.
        translates_examples: Whether an example's button also shows its translation.
        names: Names of models, classes and types of entities.
        tables: What can be wrong with an uploaded file.
    """

    code: str
    query: str
    full_stop: str
    units: tuple[tuple[float, str], ...]
    translates_examples: bool
    names: names.Names
    tables: tables.TableStrings
    title: str
    promise: str
    switch: str
    copy_link: str
    copied: str
    not_copied: str
    link_too_long: str
    model: str
    both_models: str
    all_models: str
    clear: str
    stop: str
    examples: str
    sentences: str
    latency: str
    time_left: str
    old_answer: str
    unknown_signs: str
    more_signs: str
    probabilities: str
    other_classes: str
    first_rows: str
    numbers: str
    too_long: Notice
    working: Notice
    failed: Notice
    unreadable: Notice
    unreadable_question: Notice
    no_encoder: Notice
    queued: Notice
    forgotten: Notice
    other_host: Notice
    other_page: Notice
    no_length: Notice

    def line(self, notice: Notice) -> str:
        """Return a notice as one line.

        >>> CHINESE.line(Notice("文件太大", "请分成几份。"))
        '文件太大。请分成几份。'
        """
        return f"{notice.problem}{self.full_stop}{notice.remedy}"

    def caption(self, text: str, meaning: str) -> str:
        """Return what an example's button shows: the text, where needed with its translation."""
        return f"{text}\n{meaning}" if self.translates_examples else text

    def count(self, number: float) -> str:
        """Return a large count in a short form.

        >>> CHINESE.count(620), CHINESE.count(620_000), CHINESE.count(45_678_901)
        ('620', '62 万', '4,568 万')
        >>> CHINESE.count(134_000_000), ENGLISH.count(620_000), ENGLISH.count(45_678_901)
        ('1.34 亿', '620 K', '45.7 M')
        """
        for size, name in self.units:
            if number >= size:
                share = number / size
                return f"{share:.3g} {name}" if share < 999.5 else f"{share:,.0f} {name}"
        return f"{number:,.0f}"


CHINESE = PageStrings(
    code="zh-CN",
    query="zh",
    full_stop="。",
    units=((1e8, "亿"), (1e4, "万")),
    translates_examples=False,
    names=names.CHINESE,
    tables=tables.CHINESE,
    title="中文 ALBERT 演示",
    promise="模型就在这台电脑上运行，您输入的文字不会传到别处。",
    switch="English",
    copy_link="复制链接",
    copied="已复制：打开这个链接会看到同样的内容。",
    not_copied="没能复制；请复制地址栏里的网址。",
    link_too_long="文本有 {count} 个字符，链接最多带 2,000 个；请先缩短文本。",
    model="模型",
    both_models="两个并排",
    all_models="全部并排",
    clear="清空",
    stop="停止",
    examples="点一个例子试试",
    sentences="句子",
    latency="用时 {time}",
    time_left="还要 {time}",
    old_answer="内容改了，这是上一次的结果……",
    unknown_signs="模型不认识：",
    more_signs="等，另有 {count} 种",
    probabilities="各类别的概率",
    other_classes="其余 {count} 类合计",
    first_rows="前几行",
    numbers="查看数值",
    too_long=Notice(
        "文本有 {count} 个字符，超过了网页的上限 {limit} 个",
        "请截取一部分，或在命令行里处理整个文件：zh-albert predict 模型 文件",
    ),
    working=Notice("正在读 {count} 个字符……", "结果出来前，可以照常输入别的文字，或看别的页。"),
    failed=Notice("没能完成：{reason}", "请换一段文本再试；若仍然如此，请重新启动演示。"),
    unreadable=Notice(
        "这段文本里没有模型能读的字符", "它只有空格或控制字符；请输入汉字、字母、数字或标点。"
    ),
    unreadable_question=Notice(
        "问题里没有模型能读的字符", "它只有空格或控制字符；请用汉字、字母或数字提问。"
    ),
    no_encoder=Notice(
        "还没有附带的预训练编码器",
        "请先训练一个：zh-albert pretrain 配置.toml；其他几页现在就能用。",
    ),
    queued=Notice("正在排队，前面还有 {count} 个任务", "轮到时会自动开始；页面照常可用。"),
    forgotten=Notice("太久没有人回来看，任务和结果已经删除", "还要结果的话，请再开始一次。"),
    other_host=Notice("这个演示的地址不是“{host}”", "请用启动时显示的地址打开。"),
    other_page=Notice("请求来自别的网页（{origin}）", "请在演示自己的页面里操作。"),
    no_length=Notice("请求没有写明长度", "请加上 Content-Length。"),
)

ENGLISH = PageStrings(
    code="en",
    query="en",
    full_stop=". ",
    units=((1e9, "B"), (1e6, "M"), (1e3, "K")),
    translates_examples=True,
    names=names.ENGLISH,
    tables=tables.ENGLISH,
    title="A small Chinese ALBERT, in your browser",
    promise="The models run on this computer; your text never leaves it.",
    switch="中文",
    copy_link="Copy link",
    copied="Copied: this link opens the same page with the same text.",
    not_copied="It could not be copied; copy the address from the address bar.",
    link_too_long="The text has {count} characters, a link holds up to 2,000; shorten it first.",
    model="Model",
    both_models="Both",
    all_models="All",
    clear="Clear",
    stop="Stop",
    examples="Click an example",
    sentences="Sentences",
    latency="took {time}",
    time_left="{time} left",
    old_answer="Changed since; this is the earlier answer …",
    unknown_signs="Unknown to the model: ",
    more_signs="and {count} others",
    probabilities="Probability of each class",
    other_classes="the other {count} classes together",
    first_rows="The first rows",
    numbers="The numbers",
    too_long=Notice(
        "The text has {count} characters; this page takes up to {limit}",
        "Take a part of it, or use the command line: zh-albert predict MODEL FILE",
    ),
    working=Notice(
        "Reading {count} characters …",
        "Until the answer comes, type something else or look at another tab.",
    ),
    failed=Notice("It did not work: {reason}", "Try another text, then a restart."),
    unreadable=Notice(
        "Nothing in this text can be read by the model",
        "It is only spaces or control characters; type characters, letters or digits.",
    ),
    unreadable_question=Notice(
        "Nothing in this question can be read by the model",
        "It is only spaces or control characters; type characters, letters or digits.",
    ),
    no_encoder=Notice(
        "No pretrained encoder is bundled yet",
        "Train one: zh-albert pretrain CONFIG.toml; the other tabs work already.",
    ),
    queued=Notice(
        "Waiting; jobs before this one: {count}", "It starts by itself, and the page stays usable."
    ),
    forgotten=Notice(
        "Nobody came back for long: the job and its files are gone", "Start it again."
    ),
    other_host=Notice(
        "The demo's address is not “{host}”", "Open it at the address shown when it started."
    ),
    other_page=Notice("The request comes from another page ({origin})", "Use the demo's own page."),
    no_length=Notice("The request does not say how long it is", "Send Content-Length."),
)
