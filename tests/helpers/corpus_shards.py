"""Shards of a corpus with odd texts."""

from __future__ import annotations

import json
import lzma

TEXTS = [
    "ＮＬＰ是自然语言处理，用Python和python3。" * 30,
    "气温30℃，①好②坏，😂😂！Café\u200b里有臺灣人。" * 30,
    "罕見字龘一次。",
]


def write_shard(path, texts):
    rows = [json.dumps({"text": text, "domain": "d"}, ensure_ascii=False) for text in texts]
    content = "\n".join(rows).encode() + b"\n"
    path.write_bytes(lzma.compress(content) if path.suffix == ".xz" else content)
    return path
