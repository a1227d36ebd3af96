"""What all tabs share."""

from __future__ import annotations

from dataclasses import dataclass

from apps.texts.notice import Notice


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTexts:
    """What all tabs share."""

    title: str
    promise: str
    switch: str
    copy_link: str
    copied: str
    not_copied: str
    link_too_long: str
    model: str
    clear: str
    examples: str
    sentences: str
    latency: str
    too_long: Notice
    working: Notice
    failed: Notice


CHINESE = PageTexts(
    title="中文 ALBERT 演示",
    promise="模型就在这台电脑上运行，您输入的文字不会离开它。",
    switch="English",
    copy_link="复制链接",
    copied="已复制：打开这个链接会看到同样的内容。",
    not_copied="没能复制；请复制地址栏里的网址。",
    link_too_long="文本有 {count} 个字符，链接最多带 2,000 个；请先缩短文本。",
    model="模型",
    clear="清空",
    examples="点一个例子试试",
    sentences="句子",
    latency="用时 {time}",
    too_long=Notice(
        "文本有 {count} 个字符，超过了网页的上限 {limit} 个",
        "请截取一部分，或在命令行里处理整个文件：zh-albert predict 模型 文件",
    ),
    working=Notice("正在读 {count} 个字符……", "结果出来前，可以照常输入别的文字，或看别的页。"),
    failed=Notice("没能完成：{reason}", "请换一段文本再试；若仍然如此，请重新启动演示。"),
)


ENGLISH = PageTexts(
    title="A small Chinese ALBERT, in your browser",
    promise="The models run on this computer; your text never leaves it.",
    switch="中文",
    copy_link="Copy link",
    copied="Copied: this link opens the same page with the same text.",
    not_copied="It could not be copied; copy the address from the address bar.",
    link_too_long="The text has {count} characters, a link holds up to 2,000; shorten it first.",
    model="Model",
    clear="Clear",
    examples="Click an example",
    sentences="Sentences",
    latency="took {time}",
    too_long=Notice(
        "The text has {count} characters; this page takes up to {limit}",
        "Take a part of it, or use the command line: zh-albert predict MODEL FILE",
    ),
    working=Notice(
        "Reading {count} characters …",
        "Until the answer comes, type something else or look at another tab.",
    ),
    failed=Notice("It did not work: {reason}", "Try another text, then a restart."),
)
