"""Characters tokenized per second on one core, with offsets; compared with the library alone.

Run: python tests/benchmarks/tokenization.py --json

Text: held-out documents of the corpus if available (ZH_ALBERT_DATA), else random tokens of the
vocabulary.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from zh_albert.tables.objects import read_objects
from zh_albert.tokenization.tokenizer import default_tokenizer
from zh_albert.tokenization.vocab import default_vocabulary
from zh_albert.tokenization.wordpiece import WordPieceTokenizer
from zh_albert.tokenization.words import segmenter, word_ranges

DATA = Path(__file__).parents[3] / "shared" / "data"


def read_paragraphs() -> tuple[str, list[str]]:
    """Return the origin of the text, and its paragraphs."""
    path = Path(os.environ.get("ZH_ALBERT_DATA", DATA)) / "corpus" / "heldout.jsonl.xz"
    if path.is_file():
        texts = (row["text"] for _, row in read_objects(path))
        return "heldout", [paragraph for text in texts for paragraph in text.split("\n")]
    rng = random.Random(0)
    rows = [row for row in default_vocabulary().tokens[21:4_000] if not row.startswith("##")]
    return "synthetic", ["".join(rng.choices(rows, k=75)) for _ in range(18_000)]


def build_library() -> tokenizers.Tokenizer:
    """Return the peer: the same tokenizer implemented by the ``tokenizers`` library alone."""
    library = tokenizers.Tokenizer(models.WordPiece(default_vocabulary().ids, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=True)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return library


def speed(work: Callable[[], object], characters: int, repeats: int) -> float:
    """Return the median of characters per second of this process's CPU time."""
    rates = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        rates.append(characters / (time.process_time() - began))
    return statistics.median(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="one repeat")
    options = parser.parse_args()

    source, paragraphs = read_paragraphs()
    characters = sum(map(len, paragraphs))
    repeats = 1 if options.quick else 5
    library = build_library()
    cut = segmenter().cut

    def encode_cold() -> None:
        WordPieceTokenizer(default_vocabulary(), fold_width=True).encode_batch(paragraphs)

    def encode_by_library() -> None:
        for encoded in library.encode_batch(paragraphs, add_special_tokens=False):
            _ = encoded.ids, encoded.offsets

    def find_words() -> None:
        for text in paragraphs:
            word_ranges(text, default_tokenizer().encode(text).offsets, cut)

    ours = speed(encode_cold, characters, repeats)
    peer = speed(encode_by_library, characters, repeats)
    result = {
        "text": source,
        "characters": characters,
        "characters_per_second": round(ours),
        "library_characters_per_second": round(peer),
        "with_words_characters_per_second": round(speed(find_words, characters, repeats)),
        "segmenter": segmenter().name,
        "ratios": {"encode_vs_tokenizers": round(ours / peer, 2)},
    }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
