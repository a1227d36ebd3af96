"""The strings of the tab for whole files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.i18n import page
from apps.i18n.notice import Notice
from apps.i18n.tabs import JobTabStrings


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchStrings(JobTabStrings):
    """The strings of the tab for whole files."""

    fields: Mapping[str, str]
    samples: Mapping[str, str]
    read: str
    empty_cells: str
    without_text: str
    progress: str
    rate: str
    finished: str
    counts: str
    counts_entities: str
    counts_answers: str
    counts_values: str
    answered: Mapping[str, str]
    nothing_counted: str
    no_text: str
    text_missing: str
    answer: str
    score: str
    one_column: Notice
    empty_column: Notice
    no_models: Notice
    stopped: Notice


CHINESE = BatchStrings(
    page=page.CHINESE,
    tab="批量",
    file="Excel（.xlsx）、CSV、TSV 或 JSON 文件",
    fields={
        "text": "文本在哪一列",
        "text_a": "第一句在哪一列",
        "text_b": "第二句在哪一列",
        "question": "问题在哪一列",
        "context": "短文在哪一列",
    },
    go="开始",
    download="下载结果（{kind}）",
    about=(
        "每行一条：一段文本，或者句子对、阅读理解要用的两列。结果保持原来的行、列和顺序，"
        "只在后面加上模型的几列；CSV 结果里以 = + - @ 开头的单元格前会加一个撇号（'），"
        "表格软件就不会当成公式。上传的 CSV 可以用任何常用的分隔符和编码，txt 每行一条文本；"
        "文件最大 {limit} MB。刷新这一页，任务照常进行；"
        "{hours} 小时没有人回来看（别人在排队时是 {minutes} 分钟），"
        "任务和文件就会删除。"
    ),
    samples={
        "reviews": "30 条评论（CSV）",
        "pairs": "12 个句子对（CSV）",
        "questions": "8 个问题和短文（CSV）",
    },
    read="“{name}”共 {rows} 行，{columns} 列",
    empty_cells="“{column}”一列有 {count} 行没有文字，结果里会注明",
    without_text="其中 {count} 行缺少文字，没有回答，结果里已注明",
    progress="已完成 {done} / {total} 行",
    rate="每秒 {rate} 行",
    finished="完成：{total} 行，用时 {time}",
    counts="各类别的行数",
    counts_entities="各类型的实体数",
    counts_answers="找到答案的行数",
    counts_values="各分数段的行数",
    answered={"answer": "找到答案", "none": "文中没有答案"},
    nothing_counted="还没有可以统计的结果。",
    no_text="这一行没有文字",
    text_missing="这一行缺了一段文字",
    answer="回答",
    score="概率",
    waiting=Notice("进度和结果会显示在这里", "上传一个文件，选好模型，再按“开始”。"),
    no_file=Notice("还没有文件", "请先上传一个文件，或点一个例子。"),
    which_column=Notice(
        "哪一列是要读的文本？", "从列名和内容看不出来；请在文件下面的选框里选好，再按“开始”。"
    ),
    one_column=Notice(
        "这个模型要读两列，选中的是同一列",
        "请在上面给每一项选一列；文件里只有一列时，请换一个只读一段文本的模型。",
    ),
    empty_column=Notice(
        "“{column}”一列里没有文字",
        "请换一列；这一列如果是公式，要先在 Excel 里算好并保存。",
    ),
    no_models=Notice(
        "还没有附带的模型", "请先训练一个：zh-albert finetune …；“分词与遮盖”一页现在就能用。"
    ),
    stopped=Notice("已停止，没有留下结果文件", "再按“开始”会从头来过。"),
)

ENGLISH = BatchStrings(
    page=page.ENGLISH,
    tab="Whole files",
    file="Excel (.xlsx), CSV, TSV or JSON file",
    fields={
        "text": "Column with the texts",
        "text_a": "Column with the first sentences",
        "text_b": "Column with the second sentences",
        "question": "Column with the questions",
        "context": "Column with the passages",
    },
    go="Start",
    download="Download the result ({kind})",
    about=(
        "A text a row, or the two columns that pairs and reading take. The result keeps rows, "
        "columns and order; the model's columns come behind them. In CSV, a cell that begins with "
        "= + - @ gets an apostrophe ('), so that no spreadsheet runs it. What you upload may have "
        "any usual separator and encoding; .txt has a text a line; files have up to {limit} MB. "
        "Work goes on while you reload this page; if nobody comes back for {hours} hours "
        "({minutes} minutes while others wait), it is given up and its files are removed."
    ),
    samples={
        "reviews": "30 reviews (CSV)",
        "pairs": "12 pairs of sentences (CSV)",
        "questions": "8 questions with passages (CSV)",
    },
    read="“{name}”: {rows} rows, {columns} columns",
    empty_cells="{count} rows have no text in “{column}”; the result will say so",
    without_text="{count} of them lack a text and have no answer; the result says so",
    progress="{done} of {total} rows done",
    rate="{rate} rows a second",
    finished="Done: {total} rows in {time}",
    counts="Rows of each class",
    counts_entities="Entities of each type",
    counts_answers="Rows with an answer",
    counts_values="Rows by value",
    answered={"answer": "answered", "none": "no answer in the passage"},
    nothing_counted="There is nothing to count yet.",
    no_text="this row has no text",
    text_missing="this row lacks a text",
    answer="Answer",
    score="Score",
    waiting=Notice(
        "Progress and result appear here", "Upload a file, choose a model, press Start."
    ),
    no_file=Notice("There is no file yet", "Upload a file, or click an example."),
    which_column=Notice(
        "Which column holds the texts?",
        "Names and contents do not tell; choose it in the box below the file, then press Start.",
    ),
    one_column=Notice(
        "This model reads two columns, and the same one is chosen twice",
        "Choose a column for each above; for a file of one column, a model of single texts.",
    ),
    empty_column=Notice(
        "No row has a text in “{column}”",
        "Choose another column; of formulas, Excel must have saved the values.",
    ),
    no_models=Notice(
        "No model is bundled yet",
        "Train one: zh-albert finetune …; “Tokens and masks” works already.",
    ),
    stopped=Notice("Stopped; no result file was left", "Start begins anew."),
)
