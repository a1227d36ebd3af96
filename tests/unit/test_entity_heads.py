"""How each head's scores become entities, and entities targets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.crf import Moves, fixed_moves
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.ner.alignment import SkippedEntities, TokenSpan
from zh_albert.tasks.ner.global_pointer_head import GlobalPointerHead
from zh_albert.tasks.ner.heads import Passage
from zh_albert.tasks.ner.networks import HEADS, Head, build_tagger, rotated
from zh_albert.tasks.ner.span_head import SpanHead
from zh_albert.tasks.ner.tag_head import TagHead
from zh_albert.tasks.ner.tags import legal_moves, num_tags, spans_of, tags_of
from zh_albert.tasks.tagging.cuts import cuts
from zh_albert.tasks.window_ownership import decided_by
from zh_albert.tasks.windows import EncodedText, WindowConfig, encode_windows, pad_windows
from zh_albert.tokenization.encoding import Encoding, SpecialIds

SPECIAL = SpecialIds(pad=0, unk=1, cls=2, sep=3, mask=4)
CONFIG = AlbertConfig(
    vocab_size=20,
    embedding_size=4,
    hidden_size=8,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=8,
    max_position_embeddings=32,
)
# Nested, and of two types; "flat" of them are those that every head can mark.
SPANS = [TokenSpan(0, 0, 1), TokenSpan(2, 5, 0), TokenSpan(7, 8, 1), TokenSpan(13, 16, 0)]
NESTED = [*SPANS, TokenSpan(2, 9, 1), TokenSpan(3, 4, 1), TokenSpan(3, 3, 0)]


def read(tokens: int, *, max_length: int = 12, stride: int = 6) -> EncodedText:
    window = WindowConfig(max_length=max_length, stride=stride)
    return encode_windows(Encoding([7] * tokens, []), SPECIAL, window)


def head_of(name: Head, num_types: int = 2) -> Any:
    network = build_tagger(CONFIG, num_types, name)
    if isinstance(network, TokenTagger):
        return TagHead(network, num_types)
    return SpanHead(num_types) if name == "span" else GlobalPointerHead(num_types)


def perfect_scores(name: Head, passage: Passage, length: int) -> torch.Tensor:
    """What a network gives that knows the answer and is sure of it, in every window."""
    rows = []
    for part in passage.text.parts:
        if name == "global_pointer":
            scores = torch.full((2, length, length), -20.0)
            for first, last, kind in passage.spans:
                if first in part and last in part:
                    scores[kind, 1 + first - part.start, 1 + last - part.start] = 20.0
        elif name == "span":
            scores = torch.full((length, 2, 2), -20.0)
            for first, last, kind in passage.spans:
                for token, border in ((first, 0), (last, 1)):
                    if token in part:
                        scores[1 + token - part.start, kind, border] = 20.0
        else:
            scores = torch.zeros(length, num_tags(2))
            tags = tags_of(passage.spans, passage.tokens)
            for token in part:
                scores[1 + token - part.start, tags[token]] = 20.0
        rows.append(scores)
    return torch.stack(rows)


def answer(head: Any, text: EncodedText, scores: torch.Tensor) -> list[Any]:
    decided = decided_by(text.parts)
    pieces = [head.piece(*row) for row in zip(scores, text.parts, decided, strict=True)]
    return head.entities([pieces])[0]


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


def test_an_entity_longer_than_a_window_is_no_pair() -> None:
    skipped = SkippedEntities()
    passage = Passage(read(40), [TokenSpan(3, 30, 0), TokenSpan(5, 6, 0)])
    assert head_of("global_pointer").teachable(passage, skipped) == [TokenSpan(5, 6, 0)]
    assert skipped.too_long == 1
    assert "longer than a window" in str(SkippedEntities(entities=2, too_long=1))


@pytest.mark.parametrize("name", ["softmax", "crf"])
def test_an_entitys_score_is_its_share_of_all_legal_sequences(name: Head) -> None:
    head, text = head_of(name), read(4, max_length=32)
    torch.manual_seed(0)
    network = head._network
    for parameter in network.transitions.parameters() if name == "crf" else ():
        torch.nn.init.normal_(parameter)
    emissions = torch.randn(6, 9)
    scores = network.transitions() if name == "crf" else fixed_moves(legal_moves(2))
    moves = Moves(*(move.detach() for move in scores))

    def score(tags: tuple[int, ...]) -> float:
        total = moves.start[tags[0]] + moves.end[tags[-1]]
        total = total + sum(emissions[1 + token, tag] for token, tag in enumerate(tags))
        return float(total + sum(moves.between[a, b] for a, b in itertools.pairwise(tags)))

    every = {tags: math.exp(score(tags)) for tags in itertools.product(range(9), repeat=4)}
    best = max(every, key=lambda tags: every[tags])
    found = answer(head, text, emissions[None])
    assert [span[:3] for span in found] == [tuple(span) for span in spans_of(best)]
    assert found, "the seed gives at least one entity"
    for span in found:
        share = sum(v for tags, v in every.items() if span[:3] in set(map(tuple, spans_of(tags))))
        assert span.score == pytest.approx(share / sum(every.values()), abs=1e-4)


def test_tags_and_entities_are_each_others_inverse() -> None:
    assert list(spans_of(tags_of(SPANS, 17))) == SPANS
    # What does not begin or does not end: I-x E-x, B-x E-y, B-x O, B-x B-x E-x
    broken = [2, 3, 1, 7, 1, 0, 1, 1, 3]
    assert list(spans_of(broken)) == [TokenSpan(7, 8, 0)]


def test_a_start_goes_with_the_nearest_end_of_its_type() -> None:
    head, text = head_of("span"), read(10, max_length=32)
    scores = torch.full((1, 12, 2, 2), -9.0)
    for kind, border, token in [(0, 0, 0), (0, 0, 2), (0, 1, 4), (0, 1, 6), (1, 0, 1), (1, 1, 5)]:
        scores[0, 1 + token, kind, border] = 9.0
    found = answer(head, text, scores)
    assert [span[:3] for span in found] == [(2, 4, 0), (1, 5, 1)]


def test_an_untrained_pointer_does_not_answer_with_every_pair() -> None:
    head, text = head_of("global_pointer"), read(20, max_length=32)
    assert len(answer(head, text, torch.ones(1, 2, 22, 22))) == 2 * 20


def test_one_token_may_be_of_every_type() -> None:
    passage = Passage(read(1), [TokenSpan(0, 0, 0), TokenSpan(0, 0, 1)])
    found = answer(
        head_of("global_pointer"), passage.text, perfect_scores("global_pointer", passage, 3)
    )
    assert sorted(span[:3] for span in found) == [(0, 0, 0), (0, 0, 1)]


def test_rotation_makes_products_depend_on_the_distance() -> None:
    torch.manual_seed(0)
    one, two = torch.randn(8), torch.randn(8)
    first, second = rotated(one.expand(1, 10, 8))[0], rotated(two.expand(1, 10, 8))[0]
    products = first @ second.T
    for distance in (-4, 0, 3):
        line = products.diagonal(distance)
        torch.testing.assert_close(line, line[:1].expand_as(line))
    assert products[0, 3] != products[3, 0]
    torch.testing.assert_close(first[0], one)


def test_windows_decide_every_token_once_and_the_nearer_one_does() -> None:
    for tokens, length, stride in itertools.product(range(1, 40), (5, 8, 13), (0, 1, 2)):
        text = read(tokens, max_length=length, stride=stride)
        decided = decided_by(text.parts)
        for middle in range(2 * tokens - 1):
            [window] = [w for w, r in enumerate(decided) if middle in r]
            distance = [abs(part.start + part.stop - 1 - middle) for part in text.parts]
            assert distance[window] == min(distance)
            assert middle % 2 or middle // 2 in text.parts[window]


def test_a_long_training_text_is_cut_between_entities() -> None:
    spans = [(3, 4), (2, 5), (9, 30)]
    found = list(cuts(33, spans, limit=5))
    assert [len(part) for part in found][:2] == [2, 5]
    assert [token for part in found for token in part] == list(range(33))
    assert all(len(part) <= 5 for part in found)
    assert list(cuts(4, spans, limit=5)) == [range(4)]
    assert list(cuts(0, [], limit=5)) == []


@pytest.mark.parametrize("name", HEADS)
def test_padding_changes_no_loss(name: Head) -> None:
    torch.manual_seed(0)
    head, network = head_of(name), build_tagger(CONFIG, 2, name).eval()
    short, long = Passage(read(6), [TokenSpan(1, 2, 0)]), Passage(read(30), SPANS)

    def loss(passages: list[Passage]) -> float:
        windows = [window for passage in passages for window in passage.text.windows]
        inputs = pad_windows(windows, 0)
        targets = head.targets(passages, inputs["mask"].shape[1])
        with torch.inference_mode():
            return float(head.loss(network(*inputs.values()), targets))

    assert loss([short, long]) == pytest.approx(loss([short]) + loss([long]), rel=1e-4)


def test_an_unknown_head_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown head 'crff'; did you mean 'crf'"):
        build_tagger(CONFIG, 2, "crff")  # type: ignore[arg-type]
