"""A tagger with n-grams: how the two are joined, and that both are kept."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.helpers.travellers import EXAMPLES, TEXTS, opinion
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.inference.loading import load
from zh_albert.tasks.ner.finetune import evaluate
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.tagger import TextTagger


def test_the_joined_scores_are_between_both(tagger: TextTagger) -> None:
    texts = [passage.text for passage in tagger.encode(TEXTS)]
    share, found = tagger.ngrams_share, {}
    with torch.inference_mode():
        for tagger.ngrams_share in (0.0, 0.25, 1.0):
            found[tagger.ngrams_share] = torch.cat(tagger.emissions_of(texts))
        tagger.ngrams_share = share
        torch.testing.assert_close(found[1.0], torch.cat(opinion(tagger).emissions(texts)))
    torch.testing.assert_close(found[0.25], 0.75 * found[0.0] + 0.25 * found[1.0])


def test_a_share_of_nothing_leaves_the_network_alone(trained: Path) -> None:
    both, network = TextTagger.load(trained), TextTagger.load(trained)
    both.ngrams_share, network.ngrams = 0.0, None
    texts = both.encode([example.text for example in EXAMPLES])
    assert both.entities_of(texts) == network.entities_of(texts)


def test_dev_examples_choose_the_share(trained: Path) -> None:
    tagger = TextTagger.load(trained)
    torch.manual_seed(0)
    torch.nn.init.normal_(tagger.module.get_parameter("classifier.weight"))  # it has forgotten all
    scores = {}
    for tagger.ngrams_share in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        scores[tagger.ngrams_share] = evaluate(tagger, EXAMPLES)["f1"]
    tuned = evaluate(tagger, EXAMPLES, tune=True)
    near = [share for share, f1 in scores.items() if f1 >= max(scores.values()) - 0.005]
    assert tagger.ngrams_share == min(near), "what hardly gains is not learned by heart"
    assert tuned["f1"] == scores[tagger.ngrams_share]
    assert min(scores.values()) < max(scores.values()), "the shares make a difference"
    assert evaluate(tagger, EXAMPLES)["f1"] == tuned["f1"]


def test_a_folder_keeps_both(trained: Path, tmp_path: Path) -> None:
    tagger = TextTagger.load(trained)
    task = json.loads((trained / "config.json").read_text())["zh_albert"]["task"]
    assert task["ngrams"] == {"share": tagger.ngrams_share}
    path = tmp_path / NGRAMS
    path.write_bytes(opinion(tagger).to_bytes(exact=True))
    exact = NgramTagger.load(path, tagger.tag_set)
    texts = [passage.text for passage in tagger.encode(TEXTS)]
    for ours, theirs in zip(opinion(tagger).emissions(texts), exact.emissions(texts), strict=True):
        assert torch.equal(ours, theirs)

    found = load(str(trained))(TEXTS)
    expected = tagger.entities_of(tagger.encode(TEXTS))
    assert [[(e.start, e.end, e.type) for e in entities] for entities in found] == [
        [tuple(span) for span, _ in spans] for spans in expected
    ]
