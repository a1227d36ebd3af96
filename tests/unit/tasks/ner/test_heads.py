"""How each head's scores become entities, and entities targets."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.entity_heads import (
    CONFIG,
    NESTED,
    SPANS,
    TAGS,
    answer,
    head_of,
    perfect_scores,
    read,
)
from zh_albert.tasks.ner.alignment import SkippedEntities, TokenSpan
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.networks import HEADS, Head, build_tagger
from zh_albert.tasks.window_ownership import decided_by
from zh_albert.tasks.windows import pad_windows


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("tokens", [17, 40])
def test_sure_scores_give_the_entities_back_and_no_loss(name: Head, tokens: int) -> None:
    head, text = head_of(name), read(tokens)
    assert len(text.windows) > 1
    passage = Passage(text, SPANS)
    length = max(map(len, text.windows))
    scores = perfect_scores(name, passage, length)
    found = answer(head, text, scores)
    assert sorted(span[:3] for span in found) == [tuple(span) for span in SPANS]
    assert all(span.score > 0.99 for span in found)

    inputs = head.targets([passage], length)
    assert head.loss(scores, inputs) < 1e-2 * head.weight([passage])
    assert head.loss(scores * 0, inputs) > 0.1 * head.weight([passage])


@pytest.mark.parametrize("name", HEADS)
def test_only_the_window_with_most_context_is_asked(name: Head) -> None:
    head, text = head_of(name), read(17)
    passage = Passage(text, SPANS)
    length = max(map(len, text.windows))
    scores = perfect_scores(name, passage, length)
    inputs, expected = head.targets([passage], length), answer(head, text, scores)
    loss = head.loss(scores, inputs)
    for window, (part, decided) in enumerate(zip(text.parts, decided_by(text.parts), strict=True)):
        for token in part:  # spoil what other windows decide, and padding
            if 2 * token not in decided:
                place = 1 + token - part.start
                if name != "global_pointer":
                    scores[window, place] = 30.0
                elif all(token + other not in decided for other in part if other >= token):
                    scores[window, :, place, place:] = 30.0
        scores[window, ..., 0, :] = 30.0 if name == "global_pointer" else scores[window, ..., 0, :]
    assert answer(head, text, scores) == expected
    torch.testing.assert_close(head.loss(scores, inputs), loss)


@pytest.mark.parametrize("name", HEADS)
def test_what_a_head_cannot_mark_is_left_out_and_counted(name: Head) -> None:
    head, skipped = head_of(name), SkippedEntities()
    text = read(17, max_length=32)
    taught = head.teachable(Passage(text, NESTED), skipped)
    overlapping = {"softmax": 4, "crf": 4, "span": 3, "global_pointer": 0}[name]
    assert skipped.overlapping == overlapping
    assert len(taught) == len(NESTED) - overlapping
    scores = perfect_scores(name, Passage(text, taught), 32)
    assert sorted(span[:3] for span in answer(head, text, scores)) == sorted(map(tuple, taught))


@pytest.mark.parametrize("name", HEADS)
def test_padding_changes_no_loss(name: Head) -> None:
    torch.manual_seed(0)
    head, network = head_of(name), build_tagger(CONFIG, TAGS, name).eval()
    short, long = Passage(read(6), [TokenSpan(1, 2, 0)]), Passage(read(30), SPANS)

    def loss(passages: list[Passage]) -> float:
        windows = [window for passage in passages for window in passage.text.windows]
        inputs = pad_windows(windows, 0)
        targets = head.targets(passages, inputs["mask"].shape[1])
        with torch.inference_mode():
            return float(head.loss(network(*inputs.values()), targets))

    assert loss([short, long]) == pytest.approx(loss([short]) + loss([long]), rel=1e-4)
