"""Texts with the label positive, negative or neutral, as lessons of the bundled "sentiment".

    python docs/recipes/sentiment_lessons.py $DATA runs/sentiment-lessons.jsonl

Reviews alone teach that one polar word decides, and that every text has an opinion. Here are

- texts of a grammar (lessons/sentiment.toml): twenty domains, wordings with negation, contrast,
  irony, comparison, slang, lukewarm words, Cantonese. A text is left out if one of its polar words
  would then be more often in texts of one label than of the other, so no word decides alone;
- training reviews joined by "but", where the part after it decides, and asked about ("is it true
  that ...?": neutral). Only short ones whose label a linear model finds without having seen them;
- neutral texts: questions, headlines, neutral posts, sentences of articles.

About 30,000 rows ``{"text", "label", "kind"}``, the same each time; no text of a dev or test file,
and none of OCNLI, which SimCLUE gathers and which is not for commerce.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from held_out import held_out, plain, train_rows
from sentiment_grammar import GRAMMAR, Grammar, Lesson
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from zh_albert.files.textio import atomic_write, encode_json
from zh_albert.tables.objects import read_objects

SIDES = ("positive", "negative")
MADE = {"positive": 6_000, "negative": 6_000, "neutral": 5_000}  # texts of the grammar
JOINED, TURNED, ASKED = 2_000, 600, 1_200  # two, several of each label joined; questions
FOUND = {"post": 3_000, "headline": 1_500, "sentence": 1_500, "question": 2_000, "service": 1_000}
CONFIDENT = 0.9  # probability of a review's label
PAIR = ("text_a", "text_b")

QUESTIONED = (
    ("question", "dureader_checklist", "question"),
    ("question", "simclue", "text_a"),
    ("service", "afqmc", "text_a"),
)
REVIEWS = ("waimai_10k", "online_shopping_10_cats", "chnsenticorp")
TURNS = re.compile("[但却?？]|不过|可惜|只是|就是|然而|虽|除了|而且|因此|所以|建议|希望")
JOINS = (
    *("虽然{}，但是{}", "{}，但是{}", "{}，但{}", "{}，不过{}", "{}。但是{}", "{}，可是{}"),
    *("{}。不过话说回来，{}", "尽管{}，但是{}"),
)
TURN = ("但是", "但", "可是", "不过", "结果", "然而", "不过最后", "但总的来说")
QUESTIONS = (
    *("听说{}，是真的吗？", "有人说“{}”，真的假的", "请问{}吗？", "大家也觉得{}吗"),
    *("想问一下，是不是{}？", "谁说的{}？求出处", "网上说“{}”，可信吗", "真的像评论说的{}吗？"),
)
ASKS = re.compile(r"[?？]$|吗$|呢$|怎么|如何|什么|哪[里个家些儿]|多少|几[点天个号]")
OPINION = re.compile(
    "[!！~～😀-🙏❤]|喜欢|讨厌|恶心|垃圾|开心|难过|漂亮|优美|最美|精彩|幸福|可惜|失望|满意|感动|可爱"
    "|[太真好][好棒差烂美帅酷惨]|绝了|厉害|伟大|可怕|糟糕|哈哈|呵呵|吓|怒|惊|爱[了你]|牛|最[好差强]"
)


def clear_reviews(tasks: Path, held: set[str]) -> dict[str, dict[str, list[str]]]:
    """Return kind of thing → label → short training reviews of which the label is plain to see."""
    rows = {
        row["text"].strip(" 。，,.!！~～"): (row.get("category", name), row["label"])
        for name in REVIEWS
        for row in train_rows(tasks, name)
    }
    rows = {
        text: known
        for text, known in rows.items()
        if 5 <= len(text) <= 28
        and plain(text) not in held
        and not TURNS.search(text)
        and re.fullmatch(r"[\w，,、 ]+", text)
    }
    labels = np.array([label for _, label in rows.values()])
    vectors = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), min_df=2).fit_transform(rows)
    model = LogisticRegression(C=10, class_weight="balanced", max_iter=300)
    chances = cross_val_predict(model, vectors, labels, cv=4, method="predict_proba")
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (text, (kind, label)), chance in zip(rows.items(), chances, strict=True):
        if chance[sorted(SIDES).index(label)] >= CONFIDENT:
            found[kind][label].append(text.replace(",", "，"))
    return {kind: of for kind, of in found.items() if all(len(of[s]) > 20 for s in SIDES)}


def from_reviews(tasks: Path, held: set[str], luck: random.Random) -> Iterator[Lesson]:
    """Yield pairs of reviews joined so that the second decides, and questions about reviews."""
    reviews = clear_reviews(tasks, held)
    kinds = sorted(reviews)
    sizes = [min(map(len, reviews[kind].values())) for kind in kinds]
    for side, other in (SIDES, SIDES[::-1]):
        for kind in luck.choices(kinds, sizes, k=JOINED):
            first, second = luck.choice(reviews[kind][other]), luck.choice(reviews[kind][side])
            yield Lesson(luck.choice(JOINS).format(first, second), side, "joined")
        for kind in luck.choices(kinds, sizes, k=TURNED):
            first = "。".join(luck.sample(reviews[kind][other], luck.randint(2, 4)))
            second = luck.choice(reviews[kind][side])
            yield Lesson(f"{first}。{luck.choice(TURN)}{second}", side, "turned")
        short = [text for kind in kinds for text in reviews[kind][side] if len(text) < 16]
        for text in luck.sample(short, ASKED // 2):
            yield Lesson(luck.choice(QUESTIONS).format(text), "neutral", "asked")


def neutral_texts(data: Path) -> Iterator[tuple[str, str]]:
    """Yield ``(kind, text)`` of what has no opinion."""
    tasks = data / "tasks"
    for row in train_rows(tasks, "smp2020_ewect_usual"):
        if row["label"] == "neutral":
            yield "post", row["text"]
    for row in train_rows(tasks, "tnews"):
        yield "headline", row["text"]
    for kind, name, field in QUESTIONED:
        for row in train_rows(tasks, name):
            if ASKS.search(row[field]):
                yield kind, row[field]
    for _, row in read_objects(data / "corpus" / "corpus-000.jsonl.xz"):
        if row["domain"] in ("wiki", "news", "docs", "law"):
            for sentence in re.split("(?<=。)|\n", row["text"]):
                if sentence.endswith("。"):
                    yield "sentence", sentence


def neutral(data: Path, luck: random.Random) -> Iterator[Lesson]:
    """Yield as many neutral texts of each kind as FOUND says."""
    found: dict[str, list[str]] = defaultdict(list)
    for kind, text in neutral_texts(data):
        if 5 <= len(text.strip()) <= 70 and not OPINION.search(text):
            found[kind].append(text.strip())
    for kind, count in FOUND.items():
        texts = sorted(set(found[kind]))
        yield from (Lesson(t, "neutral", kind) for t in luck.sample(texts, min(count, len(texts))))


def lessons(data: Path) -> Iterable[Lesson]:
    """Return all lessons in random order; each text once."""
    luck = random.Random(1)
    held, grammar = held_out(data / "tasks"), Grammar(GRAMMAR, luck)
    held |= {plain(row[side]) for row in train_rows(data / "tasks", "ocnli") for side in PAIR}
    made = [*grammar.lessons(MADE), *from_reviews(data / "tasks", held, luck), *neutral(data, luck)]
    by_text = {lesson.text: lesson for lesson in made if plain(lesson.text) not in held}
    return luck.sample(sorted(by_text.values()), len(by_text))


def main() -> None:
    """Make the lessons; write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder with tasks/ and corpus/")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    counts: Counter[Any] = Counter()
    with atomic_write(given.out) as file:
        for lesson in lessons(given.data):
            file.write(encode_json(lesson._asdict()) + b"\n")
            counts[lesson.kind, lesson.label] += 1
    for (kind, label), count in sorted(counts.items()):
        print(f"{kind:16} {label:9} {count:6,}")


if __name__ == "__main__":
    main()
