"""``zh-albert predict`` on a long file: memory, rate and order; and the startup time of the page.

Run: python tests/benchmarks/streaming.py --json
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil

from zh_albert.tokenization.vocab import default_vocabulary


def write_texts(path: Path, lines: int) -> int:
    """Write lines of lognormal length (median 25, at most 512 characters); return the characters.

    Every line starts with its number, so that the order of the results can be checked by eye.
    """
    rng = random.Random(0)
    chinese = [row for row in default_vocabulary().tokens if "一" <= row <= "鿿"][:3000]
    characters = 0
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            length = min(512, max(3, round(rng.lognormvariate(3.22, 0.95))))
            text = f"{number}" + "".join(rng.choices(chinese, k=length))
            characters += len(text)
            file.write(text + "\n")
    return characters


def predict(path: Path, out: Path) -> tuple[float, int]:
    """Run the command; return wall-clock seconds and the peak resident size in bytes."""
    command = [sys.executable, "-m", "zh_albert.cli", "predict", "sentiment", str(path)]
    peak, began = 0, time.monotonic()
    with out.open("wb") as file, subprocess.Popen(command, stdout=file) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                peak = max(peak, watched.memory_info().rss)
            except psutil.NoSuchProcess:
                break
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"predict ended with {process.returncode}")
    return time.monotonic() - began, peak


def in_order(path: Path, out: Path, sample: int = 200) -> bool:
    """Return whether sampled lines get the same label alone as in the stream."""
    from zh_albert import load

    texts = path.read_text(encoding="utf-8").splitlines()
    rows = out.read_text(encoding="utf-8").splitlines()
    chosen = random.Random(1).sample(range(len(texts)), sample)
    answers = load("sentiment")([texts[index] for index in chosen])
    scores = [json.loads(rows[index])["scores"] for index in chosen]
    same = [
        abs(answer.scores["positive"] - score["positive"]) < 1e-3
        for answer, score in zip(answers, scores, strict=True)
    ]
    return len(texts) == len(rows) and all(same)


def page_ready_s(port: int = 7871) -> float:
    """Return the seconds from starting ``zh-albert demo`` to the first answer of the page."""
    command = [sys.executable, "-m", "zh_albert.cli", "demo", "--port", str(port)]
    began = time.monotonic()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while time.monotonic() - began < 60:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
                    return time.monotonic() - began
                except (urllib.error.URLError, ConnectionError):
                    time.sleep(0.05)
        finally:
            process.terminate()
    raise SystemExit("the page did not answer within 60 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="5,000 lines instead of 100,000")
    options = parser.parse_args()
    lines = 5_000 if options.quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "texts.txt", Path(folder) / "labels.jsonl"
        characters = write_texts(path, lines)
        seconds, peak = predict(path, out)
        result = {
            "lines": lines,
            "characters": characters,
            "seconds": round(seconds, 1),
            "texts_per_second": round(lines / seconds),
            "peak_rss_bytes": peak,
            "in_order": in_order(path, out),
            "page_ready_s": round(page_ready_s(), 1),
        }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
