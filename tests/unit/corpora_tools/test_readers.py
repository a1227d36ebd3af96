"""Reading raw files."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest
import zstandard

from corpora_tools.readers import read_documents
from zh_albert.errors import DataError

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
        (".bz2", bz2.compress),
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
    broken = pa.array([b"\xff"]).view(pa.string())
    parquet.write_table(pa.table({"text": broken}), path)
    with pytest.raises(DataError, match=r"a\.parquet: not a whole Parquet file: 'utf-8' codec"):
        texts(path)
    parquet.write_table(pa.table({"content": ["一"]}), path)
    with pytest.raises(DataError, match="expected a column 'text', found content"):
        texts(path)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("", bytes),
        (".BZ2", bz2.compress),
        (".gz", gzip.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_a_dump_gives_its_articles(tmp_path, suffix, compress):
    path = tmp_path / f"zhwiki.xml{suffix}"
    path.write_bytes(compress(DUMP.encode()))
    assert texts(path) == [("13", "数学\n数学是研究数量的学科。"), ("16", "几何\n形状的学科。")]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"not a whole XML dump|compressed file is damaged"):
        texts(path)


def test_only_a_shard_that_a_job_wrote_may_be_empty(tmp_path):
    nothing = zstandard.ZstdCompressor().compress(b"")
    (tmp_path / "corpus-00001.jsonl.zst").write_bytes(nothing)
    assert texts(tmp_path / "corpus-00001.jsonl.zst") == []
    (tmp_path / "corpus-00001.jsonl.zst").write_bytes(b"")  # a copy that failed
    with pytest.raises(DataError, match="damaged: it is empty"):
        texts(tmp_path / "corpus-00001.jsonl.zst")
    (tmp_path / "mine.jsonl.zst").write_bytes(nothing)
    with pytest.raises(DataError, match="expected at least one document"):
        texts(tmp_path / "mine.jsonl.zst")


def test_a_dump_damaged_in_the_middle_is_said(tmp_path):
    content = bytearray(gzip.compress(DUMP.encode()))
    content[12:60] = b"\xff" * 48
    (tmp_path / "a.xml.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.xml\.gz: the compressed file is damaged"):
        texts(tmp_path / "a.xml.gz")


@pytest.mark.parametrize("name", ["a.xlsx.gz", "a.parquet.zst", "a.doc", "a"])
def test_a_file_of_no_known_kind_is_told_the_known_ones(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    expected = r"expected a file named .*\.xml \(all but \.xlsx and \.parquet also with \.xz, "
    with pytest.raises(DataError, match=expected):
        texts(tmp_path / name)
