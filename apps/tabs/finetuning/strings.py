"""The strings of the fine-tuning tab."""

from __future__ import annotations

from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import JobTabStrings
from apps.tabs.classification import strings as classification
from apps.tabs.classification.strings import ClassificationStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class FinetuningStrings(JobTabStrings):
    """The strings of the fine-tuning tab.

    Attributes:
        classification: The strings of the answers of the trained model.
    """

    classification: ClassificationStrings
    text_column: str
    label_column: str
    epochs: str
    sample: str
    labels: str
    parts: str
    left_out: str
    without_text: str
    without_label: str
    unread: str
    long_text: str
    twice: str
    contradicting: str
    rare_label: str
    beginning: str
    progress: str
    finished: str
    stopped: str
    examined: str
    loss: str
    loss_hint: str
    accuracy: str
    accuracy_hint: str
    updates: str
    try_text: str
    try_placeholder: str
    mine: str
    no_model: Notice
    nothing_learned: Notice
    many_rows: Notice
    same_column: Notice
    few_labels: Notice
    many_labels: Notice


CHINESE = FinetuningStrings(
    page=page.CHINESE,
    classification=classification.CHINESE,
    tab="微调",
    file="带标签的 Excel（.xlsx）、CSV、TSV 或 JSON 文件",
    text_column="文本在哪一列",
    label_column="标签在哪一列",
    epochs="学几遍",
    go="开始学习",
    download="下载模型（{kind}）",
    about=(
        "每行一条文本和它的标签，几十条就能看到效果，最多 {rows} 条。每五条留一条不学，"
        "专门用来评测。模型从附带的编码器开始，在这台电脑上学习。"
        "刷新这一页，学习照常进行；{hours} 小时没有人回来看（别人在排队时是 {minutes} 分钟），"
        "模型和文件就会删除。"
    ),
    sample="90 条客服留言，分三类（CSV）",
    labels="各标签的条数",
    parts="{train} 条用来学习，{dev} 条用来评测",
    left_out="没有用上的行",
    without_text="{count} 行没有文本",
    without_label="{count} 行没有标签",
    unread="{count} 行读不了",
    long_text="{count} 行超过 {limit} 个字符",
    twice="{count} 行和前面重复",
    contradicting="{count} 行的文本前面出现过，标签却不同",
    rare_label="{count} 行的标签太少见（不到 {least} 条）",
    beginning="正在准备……",
    progress="第 {update} / {total} 步",
    finished="学完了，用时 {time}",
    stopped="已停止，保留了目前最好的模型",
    examined="评测 {dev} 条，最好的模型答对 {share}；总猜最常见的标签能对 {chance}",
    loss="训练损失",
    loss_hint="越低越好：模型在所学文本上错得越来越少。",
    accuracy="评测准确率",
    accuracy_hint="没有学过的文本里答对的比例；虚线是总猜最常见的标签时的比例。",
    updates="步数",
    try_text="试一试训练好的模型",
    try_placeholder="输入一句话，看看它分到哪一类……",
    mine="我的模型",
    waiting=Notice("曲线会显示在这里", "上传带标签的文件，或点一个例子，再按“开始学习”。"),
    no_file=Notice("还没有可以学习的文件", "请先上传带标签的文件，或点一个例子。"),
    which_column=Notice(
        "文本和标签各在哪一列？",
        "从列名和内容看不出来；请在文件下面的选框里选好，再按“开始学习”。",
    ),
    no_model=Notice("模型已经不在了", "请再按一次“开始学习”。"),
    nothing_learned=Notice("停得太早，还没有学到东西", "再按“开始学习”会从头来过。"),
    many_rows=Notice(
        "文件有 {rows} 行，这一页最多学 {limit} 行",
        "请挑出一部分，或在命令行里训练：zh-albert finetune --task classification …",
    ),
    same_column=Notice("文本和标签选了同一列", "请在左边为标签选另一列。"),
    few_labels=Notice(
        "至少要有两种标签，每种不少于 {least} 条", "请检查选的是不是标签那一列，或补充文本。"
    ),
    many_labels=Notice(
        "标签超过 {limit} 种", "请检查选的是不是标签那一列；种类真的很多时，请用命令行训练。"
    ),
)

ENGLISH = FinetuningStrings(
    page=page.ENGLISH,
    classification=classification.ENGLISH,
    tab="Fine-tuning",
    file="Excel (.xlsx), CSV, TSV or JSON file with labels",
    text_column="Column with the texts",
    label_column="Column with the labels",
    epochs="Times to read the texts",
    go="Learn",
    download="Download the model ({kind})",
    about=(
        "A text and its label a row; some dozens are enough to see an effect, {rows} are the most. "
        "One in five is kept back for the examination. The model starts from the bundled encoder "
        "and learns on this computer. It goes on while you reload this page; if nobody comes "
        "back for {hours} hours ({minutes} minutes while others wait), its files are removed."
    ),
    sample="90 messages to a shop, three labels (CSV)",
    labels="Texts of each label",
    parts="{train} to learn from, {dev} for the examination",
    left_out="Rows that were left out",
    without_text="rows without a text: {count}",
    without_label="rows without a label: {count}",
    unread="rows that cannot be read: {count}",
    long_text="rows of more than {limit} characters: {count}",
    twice="rows that repeat an earlier one: {count}",
    contradicting="rows that repeat a text with another label: {count}",
    rare_label="rows whose label is too rare (fewer than {least}): {count}",
    beginning="Getting ready …",
    progress="Step {update} of {total}",
    finished="Learned in {time}",
    stopped="Stopped; the best model so far is kept",
    examined=(
        "Of {dev} texts in the examination the best model got {share} right; always saying the "
        "most frequent label gives {chance}"
    ),
    loss="Training loss",
    loss_hint="Lower is better: fewer mistakes on the texts that are learned.",
    accuracy="Examination",
    accuracy_hint="Right answers on texts that were kept back; dashed: the most frequent label.",
    updates="steps",
    try_text="Try what was learned",
    try_placeholder="Type a sentence and see its label …",
    mine="Your model",
    waiting=Notice(
        "Curves appear here", "Upload a file with labels, or click an example, then press Learn."
    ),
    no_file=Notice(
        "There is nothing to learn from yet", "Upload a file with labels, or click an example."
    ),
    which_column=Notice(
        "Which columns hold the texts and the labels?",
        "Names and contents do not tell; choose in the boxes below the file, then press Learn.",
    ),
    no_model=Notice("The model is gone", "Press Learn once more."),
    nothing_learned=Notice("Stopped before anything was learned", "Learn begins anew."),
    many_rows=Notice(
        "The file has {rows} rows; this page learns from up to {limit}",
        "Take a part of it, or use the command line: zh-albert finetune --task classification …",
    ),
    same_column=Notice(
        "Texts and labels are the same column", "Choose another column for the labels."
    ),
    few_labels=Notice(
        "At least two labels are needed, with {least} texts or more each",
        "Is it the column of the labels that was chosen? Else add texts.",
    ),
    many_labels=Notice(
        "There are more than {limit} labels",
        "Is it the column of the labels that was chosen? For so many, use the command line.",
    ),
)
