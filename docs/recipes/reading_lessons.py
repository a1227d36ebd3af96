"""Questions with and without answers, as lessons of the bundled "reader".

    python docs/recipes/reading_lessons.py $DATA runs/reading-lessons.jsonl

The reading sets are of Wikipedia and the web, and most of their questions have an answer. Here are

- training questions of CMRC 2018, DRCD (simplified) and DuReader_checklist that their passage does
  not answer: asked of another passage that is alike (TF-IDF), of their own without the sentence of
  the answer, or about another year, name or title; and answers without outer quotation marks, full
  stops and words like 在 or 的;
- contracts, dialogues in which a fact is corrected, notices, recipes, tables, lists from templates
  (lessons/reading.toml), with answers that are short spans, and about what they do not say.

About 12,000 rows ``{"id", "context", "question", "answers", "kind"}``, the same each time; no text
of a dev or test file. Needs OpenCC (extra "corpora") and jieba (extra "words").
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jieba.posseg
import numpy as np
from held_out import held_out, plain, train_file, train_rows
from reading_templates import Question, Span, template_questions
from simplified import fitting
from sklearn.feature_extraction.text import TfidfVectorizer

from zh_albert.files.textio import atomic_write, encode_json

PASSAGES = 30  # of each template
MOST = {"moved": 2_000, "removed": 1_200, "changed": 1_000, "short": 1_200}
LONGEST = 900  # characters of a passage
NEAREST = 8  # passages among which a question is moved to the first without its answer
YEAR = re.compile(r"(?<!\d)(1[5-9]|20)\d\d(?=年)")
TITLE = re.compile("(?<=《)[^《》]{2,12}(?=》)")
NAMES = ("nr", "nrt", "ns")  # jieba's: people, foreign people, places
BESIDE = tuple("uprvdcwx")  # jieba's kinds of words beside a whole name: 的, 在, 谁, 是 ...
SENTENCE = re.compile(r"[^。！？!?\n]+[。！？!?\n”」]*")
OUTER = re.compile(r"^[\s《「『“‘（(：:，,、。在于是]+|[\s》」』”’）)：:，,、。；;！的]+$")
INNER = re.compile("[《》「」“”（）()]")


def questions_of(tasks: Path) -> list[dict[str, Any]]:
    """Return the training questions of the reading sets, with passages that are not too long."""
    rows = [*train_rows(tasks, "cmrc2018"), *train_rows(tasks, "dureader_checklist")]
    rows += fitting(train_file(tasks, "drcd"))
    held = held_out(tasks)
    return [
        row
        for row in rows
        if len(row["context"]) <= LONGEST
        and not held & {plain(row["context"]), plain(row["question"])}
    ]


def moved(rows: Sequence[dict[str, Any]]) -> Iterator[Question]:
    """Ask each question of the nearest other passage that does not contain the answer."""
    passages = sorted({row["context"] for row in rows})
    weigh = TfidfVectorizer(analyzer="char", ngram_range=(2, 2), sublinear_tf=True, min_df=2)
    vectors = weigh.fit_transform(passages)
    asked = weigh.transform([row["question"] for row in rows])
    for first in range(0, len(rows), 500):
        likeness = (asked[first : first + 500] @ vectors.T).toarray()
        nearest = np.argsort(-likeness, axis=1)[:, :NEAREST]
        for row, places in zip(rows[first : first + 500], nearest, strict=True):
            for place in places:
                other = passages[place]
                if other != row["context"] and row["answers"][0]["text"] not in other:
                    yield Question(other, row["question"], None, "moved")
                    break


def removed(rows: Sequence[dict[str, Any]]) -> Iterator[Question]:
    """Remove the sentence with the whole answer, if the answer is nowhere else."""
    for row in rows:
        context, answer = row["context"], row["answers"][0]
        for sentence in SENTENCE.finditer(context):
            if sentence.start() <= answer["start"] < sentence.end():
                left = context[: sentence.start()] + context[sentence.end() :]
                whole = answer["start"] + len(answer["text"]) <= sentence.end()
                if whole and answer["text"] not in left and len(left) >= 80:
                    yield Question(left, row["question"], None, "removed")
                break


def names_in(question: str) -> Iterator[tuple[str, str]]:
    """Yield ``(name, kind)``: titles, people and places that are no parts of other names."""
    yield from ((title.group(), "title") for title in TITLE.finditer(question))
    words = [("", "x"), *map(tuple, jieba.posseg.cut(question)), ("", "x")]
    beside = zip(words[:-2], words[1:-1], words[2:], strict=True)
    for (before, left), (name, kind), (after, right) in beside:
        whole = left.startswith(BESIDE) and right.startswith(BESIDE)
        if whole and kind in NAMES and len(name) > 1 and not {before, after} & set("·-—=《》"):
            yield name, kind


def changed(rows: Sequence[dict[str, Any]], luck: random.Random) -> Iterator[Question]:
    """Ask about another year, title or name, which the passage does not mention."""
    found: list[tuple[dict[str, Any], str, str]] = []  # row, name, kind of name
    for row in rows:
        question, context = row["question"], row["context"]
        found += [(row, *named) for named in names_in(question) if named[0] in context]
        for year in YEAR.finditer(question):
            other = str(int(year.group()) + luck.choice([-31, -13, -4, -2, 3, 5, 11, 17]))
            if year.group() in context and other not in context:
                asked = question.replace(year.group(), other)
                yield Question(context, asked, None, "changed")
    of_kind = {kind: sorted({n for _, n, k in found if k == kind}) for _, _, kind in found}
    for row, name, kind in found:
        other = luck.choice(of_kind[kind])
        if other not in row["context"] and other not in row["question"]:
            asked = row["question"].replace(name, other)
            yield Question(row["context"], asked, None, "changed")


def short(rows: Sequence[dict[str, Any]]) -> Iterator[Question]:
    """Shorten answers by what does not belong to them."""
    for row in rows:
        answer = row["answers"][0]
        text = answer["text"]
        begin = OUTER.match(text)
        left = text[begin.end() :] if begin and begin.end() else text
        bare = OUTER.sub("", left)
        if 1 < len(bare) < min(len(text), 20) and not INNER.search(bare):
            start = answer["start"] + len(text) - len(left)
            yield Question(row["context"], row["question"], Span(start, bare), "short")


def lessons(tasks: Path) -> list[Question]:
    """Return all questions, those of a passage together (``keep_back.py``), in random order."""
    luck = random.Random(1)
    rows = questions_of(tasks)
    luck.shuffle(rows)
    answered = [row for row in rows if row["answers"]]
    found = [*template_questions(luck, PASSAGES)]
    for of_sets in (
        moved(answered[: 2 * MOST["moved"]]),
        removed(answered[-3 * MOST["removed"] :]),
        changed(answered, luck),
        short(answered),
    ):
        some = list(of_sets)
        found += luck.sample(some, min(MOST[some[0].kind], len(some)))
    places = {question.passage: luck.random() for question in found}
    return sorted(luck.sample(found, len(found)), key=lambda question: places[question.passage])


def main() -> None:
    """Make the questions; write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder with tasks/")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    counts: Counter[tuple[str, bool]] = Counter()
    with atomic_write(given.out) as file:
        for number, (passage, question, answer, kind) in enumerate(lessons(given.data / "tasks")):
            assert answer is None or passage.startswith(answer.text, answer.start)
            row = {"id": f"lesson-{number}", "context": passage, "question": question}
            answers = [] if answer is None else [{"text": answer.text, "start": answer.start}]
            file.write(encode_json({**row, "answers": answers, "kind": kind}) + b"\n")
            counts[kind, answer is not None] += 1
    for (kind, said), count in sorted(counts.items()):
        print(f"{kind:10} {'answered' if said else 'declined'} {count:6,}")


if __name__ == "__main__":
    main()
