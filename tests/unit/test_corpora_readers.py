"""Reading raw files, planning tasks, markup."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest
import zstandard

from corpora_tools import folders
from corpora_tools.documents import ReadDocuments, WriteShard
from corpora_tools.folders import find_inputs, plan_tasks
from corpora_tools.markup import strip_markdown, strip_wikitext
from corpora_tools.readers import read_documents
from zh_albert.errors import ConfigError, DataError

DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">
<siteinfo><sitename>维基</sitename></siteinfo>
<page><title>数学</title><ns>0</ns><id>13</id><revision><id>9</id>
<text>'''数学'''是研究[[数量]]的学科&lt;ref&gt;注&lt;/ref&gt;。</text></revision></page>
<page><title>算术</title><ns>0</ns><id>14</id><redirect title="数学"/>
<revision><text>#重定向</text></revision></page>
<page><title>讨论:数学</title><ns>1</ns><id>15</id><revision><text>讨论</text></revision></page>
<page><title>几何</title><ns>0</ns><id>16</id><revision><text>形状的学科。</text></revision></page>
</mediawiki>"""


def texts(path):
    return [(place, row["text"]) for place, row in read_documents(path)]


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("", bytes),
        (".xz", lzma.compress),
        (".gz", gzip.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_json_lines_are_read_plain_and_compressed(tmp_path, suffix, compress):
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(compress('{"text": "一"}\n\n{"text": "二"}\n'.encode()))
    assert texts(path) == [("1", "一"), ("3", "二")]


def test_a_blank_line_ends_a_document_of_plain_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\n一\r\n二\r\n\n \n三\n".encode())
    assert texts(path) == [("2", "一\n二"), ("6", "三")]


def test_parquet_rows_are_documents(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["一", "二"], "id": ["x", "y"], "other": [1, 2]})
    parquet.write_table(table, path)
    assert [row for _, row in read_documents(path)] == [
        {"id": "x", "text": "一"},
        {"id": "y", "text": "二"},
    ]
    parquet.write_table(pa.table({"text": ["一", None]}), path)
    with pytest.raises(DataError, match=r"a\.parquet, row 2: expected a string 'text', found None"):
        texts(path)
    parquet.write_table(pa.table({"content": ["一"]}), path)
    with pytest.raises(DataError, match="expected a column 'text', found content"):
        texts(path)


@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".bz2", bz2.compress)])
def test_a_dump_gives_its_articles(tmp_path, suffix, compress):
    path = tmp_path / f"zhwiki.xml{suffix}"
    path.write_bytes(compress(DUMP.encode()))
    assert texts(path) == [("13", "数学\n数学是研究数量的学科。"), ("16", "几何\n形状的学科。")]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"not a whole XML dump|compressed file is damaged"):
        texts(path)


def test_markdown_becomes_prose():
    text = (
        "---\ntitle: x\n---\n# 标题 #一\n\n第一行，\n接着。"
        "见[这里](http://a.cn/x_(y))。![图](a.png)\n\n"
        "- 一**项**\n- `两`项\n\n"
        "```py\nprint('```')\n```\n\n    代码\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "> 引用<br>换行 &amp; https://a.b/c\n\n1. 甲[^1]\n\n[^1]: 注释\n"
        "<!-- 看\n不见 -->\n<pre>码</pre>末段"
    )
    assert strip_markdown(text).split("\n") == [
        "标题 #一",
        "第一行，接着。见这里。",
        "一项",
        "两项",
        "引用",
        "换行 &",
        "甲",
        "末段",
    ]


def test_wikitext_becomes_prose():
    text = (
        "{{Infobox|name={{z}}}}\n[[File:a.jpg|thumb|一个[[链接|图]]说明]]\n"
        "'''数学'''是研究[[数量]]、[[结构 (数学)|结构]]的学科<ref name=\"a\">注</ref>。"
        "-{zh-hans:计算机;zh-hant:電腦}-也是<ref name=b />。\n== 历史 ==\n* 第一项\n"
        '{| class="wikitable"\n| a || b\n|\n{|\n| c\n|}\n| d\n|}\n'
        "第二段。\n[[Category:数学]]\n== 参考文献 ==\n* 甲\n"
    )
    assert strip_wikitext(text).split("\n") == [
        "数学是研究数量、结构的学科。计算机也是。",
        "历史",
        "第一项",
        "第二段。",
    ]


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "unit", ["[", "`a", "**字", "<", "$", "- ", "![a](", "<!--", "```\n", "<pre", "-{"]
)
def test_broken_markup_takes_no_longer_than_its_length(unit):
    strip_markdown(unit * 100_000)
    if unit in {"<", "<!--", "-{"}:
        strip_wikitext(unit * 20_000)


def test_folders_are_searched_and_names_are_different(tmp_path):
    for name in ("b/x.jsonl", "a/x.jsonl", "a/.hidden.jsonl", "a/notes.doc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    inputs = find_inputs([str(tmp_path), str(tmp_path / "a" / "x.jsonl")])
    apart = find_inputs([str(tmp_path / "b"), str(tmp_path / "a/*.jsonl")])

    assert [(one.name, one.source) for one in inputs] == [
        ("a/x.jsonl", tmp_path.name),
        ("b/x.jsonl", tmp_path.name),
    ]
    assert [one.name for one in apart] == ["0/x.jsonl", "1/x.jsonl"]


def test_small_files_share_a_task_and_large_ones_do_not(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_TASK_BYTES", 100)
    for name, size in (("a", 40), ("b", 60), ("c", 300), ("d", 1), ("e", 0)):
        (tmp_path / f"{name}.txt").write_bytes(b"x" * size)

    tasks = plan_tasks(find_inputs([str(tmp_path)]))

    assert [[one.name[0] for one in task] for task in tasks] == [["a", "b"], ["c"], ["d", "e"]]


def test_documents_have_a_source_a_domain_and_an_id(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(
        '{"text": "\\ud800一", "id": 7, "domain": "d"}\n{"text": "二", "source": "s"}\n'
    )
    tasks = plan_tasks(find_inputs([str(path)]))

    first, second = ReadDocuments(tasks, domain="web").run()
    [third, _] = ReadDocuments(tasks, source="mine").run()

    assert (first.id, first.text) == ("7", "\ufffd一")
    assert first.metadata == {"source": "news", "domain": "d"}
    assert (second.id, second.metadata) == ("news.jsonl:2", {"source": "s", "domain": "web"})
    assert third.metadata["source"] == "mine"


@pytest.mark.parametrize("shard_format", ["zst", "xz"])
def test_a_shard_is_read_back(tmp_path, shard_format):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "一\\n二"}\n{"text": "三"}\n')
    read = ReadDocuments(plan_tasks(find_inputs([str(path)])))

    WriteShard(tmp_path, shard_format).run(read.run())

    shard = tmp_path / f"corpus-00000.jsonl.{shard_format}"
    assert [row["text"] for _, row in read_documents(shard)] == ["一\n二", "三"]
    with pytest.raises(ConfigError, match="must be one of zst, xz, found 'gz'"):
        WriteShard(tmp_path, "gz")
