"""Building of shards compared with the usual way: jieba, and lists of ids written as JSON.

Run: python tests/benchmarks/instances.py --json

Text: the corpus if available (ZH_ALBERT_DATA), else random tokens of the vocabulary. Each run is a
process of its own; seconds are of its CPU time on one core, without startup and loading of the
dictionary.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = "1"

from corpora_tools.build import build_shards
from corpora_tools.build_parts import BuildConfig
from zh_albert.pretraining.dataset import PretrainingSource
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.shards import open_shards
from zh_albert.tables.objects import read_objects
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import default_vocabulary
from zh_albert.tokenization.words import segmenter

DATA = Path(__file__).parents[3] / "shared" / "data"


def write_text(path: Path, characters: int) -> tuple[str, int]:
    """Write documents of about the given size; return their origin and number."""
    source = Path(os.environ.get("ZH_ALBERT_DATA", DATA)) / "corpus" / "corpus-000.jsonl.xz"
    written = 0
    with path.open("w", encoding="utf-8") as file:
        rows = (row for _, row in read_objects(source)) if source.is_file() else drawn()
        for row in rows:
            file.write(json.dumps({"text": row["text"]}, ensure_ascii=False) + "\n")
            written += len(row["text"])
            if written >= characters:
                break
    return ("corpus" if source.is_file() else "synthetic"), written


def drawn() -> Any:
    rng = random.Random(0)
    rows = [row for row in default_vocabulary().tokens[21:4_000] if not row.startswith("##")]
    while True:
        yield {"text": "。".join("".join(rng.choices(rows, k=25)) for _ in range(25))}


def build(path: Path, out: Path) -> dict[str, float]:
    """Build shards in this process."""
    warm = path.with_suffix(".warm.jsonl")
    write_text(warm, 200_000)
    build_shards([warm], out.with_suffix(".warm"), BuildConfig())
    began = time.process_time()
    manifest = build_shards([path], out, BuildConfig())
    seconds = time.process_time() - began
    return {
        "seconds": seconds,
        "bytes": manifest["bytes"],
        "characters": manifest["counts"]["characters"],
    }


def lists(path: Path, out: Path) -> dict[str, float]:
    """Build instances in the usual way: jieba's words, lists of ids and word starts, JSON lines."""
    cut = segmenter("jieba").cut
    list(cut("你好"))
    ids, unknown = default_vocabulary().ids, default_tokenizer().special.unk
    began = time.process_time()
    with out.open("w", encoding="utf-8") as file:
        for _, row in read_objects(path):
            token_ids: list[int] = []
            starts: list[int] = []
            for word in cut(row["text"].lower()):
                if not word.isspace():
                    starts.append(len(token_ids))
                    known = ids.get(word)
                    token_ids += [known] if known else [ids.get(c, unknown) for c in word]
            file.write(json.dumps({"ids": token_ids, "words": starts}) + "\n")
    return {"seconds": time.process_time() - began, "bytes": out.stat().st_size}


def apart(work: Callable[[Path, Path], dict[str, float]], path: Path) -> dict[str, float]:
    """Run a function in a process of its own; also return its peak memory."""
    receiver, sender = multiprocessing.get_context("spawn").Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=_report, args=(work, path, sender)
    )
    process.start()
    result: dict[str, float] = receiver.recv()
    process.join()
    return result


def _report(work: Callable[[Path, Path], dict[str, float]], path: Path, sender: Any) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        result = work(path, Path(folder) / "out")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sender.send({**result, "peak_rss_bytes": peak})


def loading(path: Path, out: Path) -> dict[str, float]:
    """Draw, mask and shuffle an epoch of instances from shards."""
    build_shards([path], out, BuildConfig())
    sets = TokenSets.of(default_tokenizer())
    source = PretrainingSource(open_shards(out), sets, InstanceConfig(), batch_tokens=16_384)
    items = source.plan(0)
    began = time.process_time()
    tokens = sum(int(source.load_arrays(item).mask.sum()) for item in items)
    return {"tokens_per_second": tokens / (time.process_time() - began)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="less text, one repeat")
    options = parser.parse_args()
    base, repeats = (1_000_000, 1) if options.quick else (4_000_000, 3)

    with tempfile.TemporaryDirectory() as folder:
        paths = {times: Path(folder) / f"{times}.jsonl" for times in (1, 2, 4)}
        sizes = {times: write_text(path, base * times) for times, path in paths.items()}
        peer_path = Path(folder) / "peer.jsonl"
        _, peer_characters = write_text(peer_path, base)
        ratios, rates, per_size = [], [], {times: [] for times in paths}
        for _ in range(repeats):
            runs = {times: apart(build, path) for times, path in paths.items()}
            peer = apart(lists, peer_path)
            for times, run in runs.items():
                per_size[times].append(run["seconds"] / sizes[times][1] * 1e6)
            rates.append(runs[4]["characters"] / runs[4]["seconds"])
            ratios.append(rates[-1] / (peer_characters / peer["seconds"]))
        result = {
            "text": sizes[1][0],
            "characters": sizes[4][1],
            "characters_per_second": round(statistics.median(rates)),
            "peak_rss_bytes": int(runs[4]["peak_rss_bytes"]),
            "bytes_per_character": round(runs[4]["bytes"] / runs[4]["characters"], 3),
            "seconds_per_million_characters": {
                f"{times}x": round(statistics.median(values), 4)
                for times, values in per_size.items()
            },
            "lists_characters_per_second": round(peer_characters / peer["seconds"]),
            "lists_bytes_per_character": round(peer["bytes"] / peer_characters, 3),
            "load_tokens_per_second": round(apart(loading, paths[1])["tokens_per_second"]),
            "ratios": {"build_vs_jieba_lists": round(statistics.median(ratios), 2)},
        }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
