"""The strings that say what is wrong with an uploaded file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.i18n.notice import Notice


@dataclass(frozen=True, kw_only=True, slots=True)
class TableStrings:
    """The faults of an uploaded file, each with its remedy; and what its reader decided.

    Attributes:
        notes: Sentences for the kinds of ``FileNote``.
        damaged: Says how many rows cannot be read.
    """

    other_kind: Notice
    too_large: Notice
    quota: Notice
    page_full: Notice
    packed: Notice
    binary: Notice
    file_gone: Notice
    long_line: Notice
    large_array: Notice
    old_mac: Notice
    not_utf8: Notice
    not_json: Notice
    bad_array: Notice
    bad_csv: Notice
    ragged: Notice
    bad_header: Notice
    old_workbook: Notice
    no_workbook: Notice
    bad_workbook: Notice
    annotation: Notice
    large_workbook: Notice
    empty_workbook: Notice
    many_columns: Notice
    long_cell: Notice
    no_rows: Notice
    no_texts: Notice
    notes: Mapping[str, str]
    damaged: str


CHINESE = TableStrings(
    other_kind=Notice(
        "只能读 .xlsx、.csv、.tsv、.json、.jsonl 和 .txt 文件，收到的是“{name}”",
        "请另存为 Excel 工作簿（.xlsx）或 CSV，再上传一次。",
    ),
    too_large=Notice(
        "文件有 {size} MB，这一页最多收 {limit} MB",
        "请把文件分成几份，或在命令行里处理：zh-albert predict 模型 文件",
    ),
    quota=Notice(
        "两个多小时内最多上传 {limit} MB，再加这个文件就超过了",
        "请过一会儿再上传，或在命令行里处理：zh-albert predict 模型 文件",
    ),
    page_full=Notice("大家上传的文件太多，暂时放不下了", "请过一会儿再上传。"),
    packed=Notice(
        "这是压缩包或 Excel 工作簿，不是文本文件",
        "请先解压；如果是 Excel 工作簿，请把文件名的结尾改成 .xlsx，再上传。",
    ),
    binary=Notice("这是二进制文件，不是文本文件", "请上传 .xlsx、CSV 或 JSON 文件。"),
    file_gone=Notice("上传的文件已经不在了，它只保留约两小时", "请再上传一次。"),
    long_line=Notice("第 {line} 行太长", "请检查换行；JSON 请改成每行一个对象。"),
    large_array=Notice("这个 JSON 数组太大，不能整个读入", "请改成每行一个对象，再上传。"),
    old_mac=Notice(
        "第 {line} 行用的是旧式 Mac 的换行（只有回车符）",
        "请在 Excel 里另存为“CSV UTF-8（逗号分隔）”，再上传。",
    ),
    not_utf8=Notice(
        "第 {line} 行不是 UTF-8，文件也不是 GB18030 或 Big5",
        "文件里可能混有几种编码，或者已损坏；请在 Excel 里另存为“CSV UTF-8（逗号分隔）”，再上传。",
    ),
    not_json=Notice(
        "第 {line} 行不是一个 JSON 对象", '每行写一个对象，例如 {{"text": "房间很干净"}}'
    ),
    bad_array=Notice(
        "这个 JSON 数组读不了：它不完整，或者有语法错误",
        '请检查括号和逗号，或改成每行一个对象，例如 {{"text": "房间很干净"}}',
    ),
    bad_csv=Notice(
        "第 {line} 行的引号没有配对，或者一个单元格太长",
        "含有逗号、引号或换行的单元格要放在双引号里，里面的引号写两遍。",
    ),
    ragged=Notice(
        "第 {line} 行有 {found} 格，表头有 {expected} 格",
        "请补齐这一行；文字里有逗号时，整个单元格要放在双引号里。",
    ),
    bad_header=Notice(
        "表头里有空的或重复的列名", "请在第一行给每一列写一个不同的名字，例如 text,label"
    ),
    old_workbook=Notice(
        "这是旧式的 .xls 工作簿，或者设了密码",
        "请在 Excel 里打开，去掉密码，另存为“Excel 工作簿（.xlsx）”，再上传。",
    ),
    no_workbook=Notice(
        "这不是 Excel 工作簿，只是文件名像；或者文件不完整",
        "请在 Excel 里打开，另存为“Excel 工作簿（.xlsx）”，再上传。",
    ),
    annotation=Notice("第 {line} 行的标注与工具导出的格式不同", "请重新导出，再上传。"),
    bad_workbook=Notice(
        "这个工作簿读不了：它已损坏，或者不是 Excel 的格式",
        "请在 Excel 里打开，另存为“Excel 工作簿（.xlsx）”，再上传。",
    ),
    large_workbook=Notice(
        "这个工作簿解压后太大", "请把它分成几份，或另存为“CSV UTF-8（逗号分隔）”，再上传。"
    ),
    empty_workbook=Notice(
        "所有工作表的列名下面都没有内容",
        "第一行写列名，从第二行起每行写一条文本；公式要先在 Excel 里算好并保存，才有内容。",
    ),
    many_columns=Notice("列数超过了 {limit}", "请只留下需要的列，再上传。"),
    long_cell=Notice("第 {line} 行有一个单元格超过 {limit} 个字符", "请缩短或删去这一行，再上传。"),
    no_rows=Notice("文件里没有数据", "第一行写列名（如 text），从第二行起每行写一条文本。"),
    no_texts=Notice("文件里没有一个单元格是文字", "请检查是否有一列文本，例如名为 text 的列。"),
    notes={
        "encoding": "文件不是 UTF-8，按 {name} 编码读取",
        "left_out": "标注里没有读的：{counts}",
        "sheet": "读的是工作表“{name}”；没有读：{others}",
        "repeated_header": "第 {line} 行又写了一遍列名，跳过了",
        "title": "列名上面的“{title}”当作标题，没有读",
        "no_names": "第一行不是列名，各列依次当作 {names}",
        "formulas": "有的公式还没有算出结果，当作空单元格读；请在 Excel 里打开并保存一次",
        "nameless": "没有列名的列里有内容（第 {line} 行起），没有读",
        "cut_text": "有的文字超过单元格的上限 32,767 个字符，在 .xlsx 里截短了",
    },
    damaged="有 {count} 行读不了，第一处在第 {line} 行；结果里会注明",
)

ENGLISH = TableStrings(
    other_kind=Notice(
        "Only .xlsx, .csv, .tsv, .json, .jsonl and .txt files can be read, not “{name}”",
        "Save it as an Excel workbook (.xlsx) or CSV and upload it again.",
    ),
    too_large=Notice(
        "The file has {size} MB; this page takes up to {limit} MB",
        "Split it, or use the command line: zh-albert predict MODEL FILE",
    ),
    quota=Notice(
        "With this file, more than {limit} MB would be uploaded in about two hours",
        "Upload it later, or use the command line: zh-albert predict MODEL FILE",
    ),
    page_full=Notice("All visitors together have uploaded too much", "Upload it later."),
    packed=Notice(
        "This is an archive or an Excel workbook, not a text file",
        "Unpack it first; let the name of an Excel workbook end in .xlsx.",
    ),
    binary=Notice("This is a binary file, not a text file", "Upload a file of .xlsx, CSV or JSON."),
    file_gone=Notice(
        "The uploaded file is gone: it is kept for about two hours", "Upload it again."
    ),
    long_line=Notice(
        "Line {line} is too long", "Check the line breaks; of JSON, write an object a line."
    ),
    large_array=Notice("The JSON array is too large to be read", "Write an object a line."),
    old_mac=Notice(
        "Line {line} ends as on old Macs, in a carriage return alone",
        "In Excel, save the file as “CSV UTF-8 (comma delimited)”.",
    ),
    not_utf8=Notice(
        "Line {line} is not UTF-8, nor is the file GB18030 or Big5",
        "It may mix encodings, or be damaged; in Excel, save it as “CSV UTF-8 (comma delimited)”.",
    ),
    not_json=Notice(
        "Line {line} is not a JSON object", 'Write an object a line, such as {{"text": "…"}}'
    ),
    bad_array=Notice(
        "The JSON array cannot be read: it is incomplete, or has an error",
        'Check brackets and commas, or write an object a line, such as {{"text": "…"}}',
    ),
    bad_csv=Notice(
        "Line {line} has a quote without its partner, or a cell that is too long",
        "A cell with commas, quotes or line breaks stands in double quotes, quotes in it doubled.",
    ),
    ragged=Notice(
        "Line {line} has {found} cells, the header {expected}",
        "Complete the line; a cell whose text has commas stands in double quotes.",
    ),
    bad_header=Notice(
        "The header has an empty column name, or the same one twice",
        "Give each column a name of its own in the first line, such as text,label",
    ),
    old_workbook=Notice(
        "This is an old .xls workbook, or one with a password",
        "Open it in Excel, remove the password, and save it as “Excel Workbook (.xlsx)”.",
    ),
    no_workbook=Notice(
        "This is no Excel workbook, though its name says so; or it is incomplete",
        "Open it in Excel, and save it as “Excel Workbook (.xlsx)”.",
    ),
    annotation=Notice(
        "The annotation in line {line} has another form than its tool exports", "Export it again."
    ),
    bad_workbook=Notice(
        "The workbook cannot be read: it is damaged, or of another format",
        "Open it in Excel, and save it as “Excel Workbook (.xlsx)”.",
    ),
    large_workbook=Notice(
        "The workbook unpacks to too much", "Split it, or save it as “CSV UTF-8 (comma delimited)”."
    ),
    empty_workbook=Notice(
        "No sheet has anything below the names of its columns",
        "Begin with a row of names, then a text a row; Excel must have saved values of formulas.",
    ),
    many_columns=Notice("There are more than {limit} columns", "Keep those that are needed."),
    long_cell=Notice(
        "A cell of line {line} has more than {limit} characters", "Shorten or remove that line."
    ),
    no_rows=Notice(
        "There is no data in the file",
        "Begin with a line of column names (such as text), then a text a line.",
    ),
    no_texts=Notice(
        "No cell of the file holds a text", "Is there a column of texts, such as one called text?"
    ),
    notes={
        "encoding": "The file is not UTF-8; it was read as {name}",
        "left_out": "Left out of the annotations: {counts}",
        "sheet": "Read from the sheet “{name}”; not read: {others}",
        "repeated_header": "Line {line} names the columns again and was left out",
        "title": "“{title}” above the names of the columns was taken for a title",
        "no_names": "The first row names no columns; they were taken as {names}",
        "formulas": "Formulas without stored values are read as empty; save it in Excel first",
        "nameless": "Cells in columns without a name (from line {line} on) were left out",
        "cut_text": "Texts longer than a cell's limit of 32,767 characters are cut in the .xlsx",
    },
    damaged="Rows that cannot be read: {count}, the first in line {line}; the result will say so",
)
