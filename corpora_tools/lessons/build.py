"""Building of a file of lessons: sentences of a corpus and of a grammar, by turns."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from corpora_tools.decontamination import contaminated, contamination_index, evaluation_texts
from corpora_tools.lessons.grammar import make_meaning
from corpora_tools.lessons.groups import (
    Task,
    group_of_meaning,
    group_of_sentence,
    lessons_of,
    reversed_group,
    reversed_meaning,
)
from corpora_tools.readers import read_documents
from corpora_tools.sentences import split_sentences
from zh_albert.cli.progress import track
from zh_albert.compression.augmentation.tang import tagger
from zh_albert.errors import DataError
from zh_albert.files.textio import atomic_write, encode_json

Lesson = dict[str, Any]

DOMAINS = frozenset({"qa", "forum", "news", "review", "life", "wiki", "law", "essay", "other"})
LENGTHS = range(6, 46)  # characters of a sentence
_REVERSED = 0.4  # of the groups begin with another partner
_OF_DOCUMENT = 3  # sentences, at most
_CHINESE = re.compile("[一-龥]")
_MOSTLY = 0.75  # of the characters are Chinese
# Lists, quotations and addresses; statements on politicians, which a changed copy would falsify.
_LEFT_OUT = re.compile(
    '[“”"「」『』（）()《》【】<>：:…—*#@~～/|=_]|^[一二三四五六七八九十\\d]+[、.．]|习近平|总书记|主席|总理|总统|党中央|[他她]妈的|婊子|傻逼'
)


def write_lessons(
    task: Task,
    corpus: Sequence[Path],
    out: Path,
    *,
    lessons: int,
    seed: int,
    exclude: Sequence[Path] = (),
) -> dict[str, Any]:
    """Write a file of lessons; return how many there are of each label and kind.

    Args:
        task: Labels are scores from 0 to 5 (similarity), or relations (nli).
        corpus: Files of documents. Sentences are taken until there are enough lessons.
        out: JSON Lines with text_a, text_b, label and kind.
        lessons: Number of lessons; at most half of them are of the grammar.
        seed: The same files and seed make the same lessons.
        exclude: Files whose texts must not be in a lesson.

    Raises:
        DataError: If a file cannot be read, or the corpus has too few sentences.
    """
    made: Counter[str] = Counter()
    with atomic_write(out) as file:
        stream = islice(make_lessons(task, corpus, seed=seed, exclude=exclude), lessons)
        for lesson in track(stream, total=lessons, what="lessons"):
            file.write(encode_json(lesson) + b"\n")
            made.update([lesson["kind"].partition("+")[0], "lessons"])
        if made["lessons"] < lessons:
            found = f"found sentences for {made['lessons']:,}"
            raise DataError(
                f"corpus: expected sentences for {lessons:,} lessons, {found}; add files"
            )
    total = made.pop("lessons")
    return {"lessons": total, "kinds": dict(sorted(made.items()))}


def make_lessons(
    task: Task, corpus: Sequence[Path], *, seed: int, exclude: Sequence[Path] = ()
) -> Iterator[Lesson]:
    """Yield lessons as long as the corpus has sentences; see ``write_lessons``."""
    rng = random.Random(seed)
    tag = tagger()
    texts = [text for path in exclude for text in evaluation_texts(path)]
    index = contamination_index(texts) if texts else None
    used: Counter[str] = Counter()
    told: set[str] = set()

    def new(lesson: Lesson) -> bool:
        pair = [lesson["text_a"], lesson["text_b"]]
        key = "\n".join(sorted(pair))
        if key in told or (index and any(contaminated(pair, index))):
            return False
        told.add(key)
        return True

    ahead = 0  # lessons of the corpus without one of the grammar beside them
    for sentence in sentences_of(corpus, rng):
        group = group_of_sentence(sentence, task, tag, rng)
        if rng.random() < _REVERSED:
            group = reversed_group(group, task, tag, rng)
        for lesson in filter(new, lessons_of(group, task, used, rng)):
            ahead += 1
            yield lesson
        while ahead > 0:
            meaning = make_meaning(rng, questions=task == "similarity")
            if rng.random() < _REVERSED:
                meaning = reversed_meaning(meaning, rng)
            group = group_of_meaning(meaning, rng)
            found = list(filter(new, islice(lessons_of(group, task, used, rng), ahead)))
            ahead -= max(len(found), 1)
            yield from found


def sentences_of(corpus: Sequence[Path], rng: random.Random) -> Iterator[str]:
    """Yield up to three clean sentences of each document of the domains that people write in."""
    for path in corpus:
        for _, document in read_documents(path):
            if document.get("domain", "other") not in DOMAINS:
                continue
            lines = document["text"].split("\n")
            found = [one.strip() for line in lines for one in split_sentences(line)]
            clean = [one for one in found if _is_clean(one)]
            yield from rng.sample(clean, min(len(clean), _OF_DOCUMENT))


def _is_clean(sentence: str) -> bool:
    if len(sentence) not in LENGTHS or _LEFT_OUT.search(sentence):
        return False
    return len(_CHINESE.findall(sentence)) >= _MOSTLY * len(sentence)
