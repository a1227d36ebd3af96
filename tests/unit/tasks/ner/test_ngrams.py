"""N-grams beside a tagger's network: what they know, what is kept of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.helpers.micro import save_micro_encoder
from tests.helpers.travellers import CONFIG, EXAMPLES, TEXTS, opinion
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError
from zh_albert.model.crf import Transitions
from zh_albert.model.crf_decoding import TransitionScores
from zh_albert.tasks.ner import ngrams
from zh_albert.tasks.ner.finetune import finetune
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.tagging.decoding import decoded


def emissions(tagger: TextTagger, texts: list[str]) -> list[torch.Tensor]:
    with torch.inference_mode():
        return opinion(tagger).emissions([passage.text for passage in tagger.encode(texts)])


def test_names_are_learned_by_heart(tagger: TextTagger) -> None:
    transitions = TransitionScores.of(Transitions(*opinion(tagger).transitions()))
    [scores] = emissions(tagger, ["张伟在西湖。"])
    [(_, _, _, tags)] = decoded([scores], transitions)
    # O, and begin, inside, end, single of 人 and of 地
    assert tagger.labels == ["人", "地"]
    assert tags.tolist() == [[1, 3, 0, 5, 7, 0]]


def test_each_text_is_scored_for_itself(
    tagger: TextTagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = emissions(tagger, TEXTS)
    alone = [emissions(tagger, [text])[0] for text in TEXTS]
    tokens = [len(passage.encoding.ids) for passage in tagger.encode(TEXTS)]
    assert [len(scores) for scores in together] == tokens
    torch.testing.assert_close(together, alone)
    monkeypatch.setattr(ngrams, "_ROWS", 7)
    torch.testing.assert_close(emissions(tagger, TEXTS), together)
    assert emissions(tagger, []) == []


def test_what_no_ngram_tells_is_the_same_everywhere(tagger: TextTagger) -> None:
    [scores] = emissions(tagger, ["下雨" * 6])
    inner = scores[3:-3]  # the text's borders are known n-grams
    torch.testing.assert_close(inner, inner[:1].expand_as(inner))
    torch.testing.assert_close(inner[0], opinion(tagger).near.bias)


def test_a_token_is_told_of_the_two_around_it(tagger: TextTagger) -> None:
    [known], [other] = (
        emissions(tagger, [f"下雨下雨下{who}雨下雨下雨"]) for who in ("李华", "雨下")
    )
    changed = (known != other).any(1).nonzero()[:, 0].tolist()
    # Known of it are 李 and 李华, which begin at token 5, and 华, which begins at token 6.
    assert changed == [3, 4, 5, 6, 7, 8]


def test_eight_bits_are_near(tmp_path: Path) -> None:
    tagger, _ = finetune(EXAMPLES, [], CONFIG, init=save_micro_encoder(tmp_path / "encoder"))
    path = tmp_path / NGRAMS
    path.write_bytes(opinion(tagger).to_bytes())
    rounded = NgramTagger.load(path, tagger.tag_set)
    before, after = opinion(tagger).vectors.weight, rounded.vectors.weight
    assert (before - after).abs().max() <= before.abs().max() / 127 / 2 + 1e-6
    assert path.stat().st_size < len(rounded.names) * (4 + 12) + 6000


def test_a_damaged_folder_is_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"of another model than one of 3 types"):
        NgramTagger.load(trained / NGRAMS, TagSet.of("abc"))
    with pytest.raises(CheckpointError, match="missing"):
        NgramTagger.load(tmp_path / NGRAMS, TagSet.of("ab"))
    (tmp_path / NGRAMS).write_bytes((trained / NGRAMS).read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="damaged"):
        NgramTagger.load(tmp_path / NGRAMS, TagSet.of("ab"))
