"""N-grams beside a tagger's network: what they know, how both are joined, that both are kept."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from zh_albert.tasks.ner.config import FinetuneConfig, ModelConfig

from tests.micro import save_micro_encoder
from zh_albert.checkpoints.files import NGRAMS
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.estimators.tagger import AlbertTagger
from zh_albert.inference.loading import load
from zh_albert.model.crf import Moves, viterbi
from zh_albert.tasks.ner import ngrams
from zh_albert.tasks.ner.examples import EntityExample, EntitySpan
from zh_albert.tasks.ner.finetune import FinetuneConfig, ModelConfig, evaluate, finetune
from zh_albert.tasks.ner.ngrams import NgramTagger
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

PEOPLE, PLACES = ["李华", "王小明", "张伟", "Anna"], ["杭州", "北京市", "西湖", "广州塔"]
EXAMPLES = [
    EntityExample(
        f"{who}昨天去了{where}。",
        (
            EntitySpan(0, len(who), "人"),
            EntitySpan(len(who) + 4, len(who) + 4 + len(where), "地"),
        ),
    )
    for who in PEOPLE
    for where in PLACES
] * 4
TEXTS = ["李华去北京市", "下雨了", "今天西湖有雨。" * 30, "王"]
CONFIG = FinetuneConfig(
    window=WindowConfig(max_length=16, stride=4),
    train=TrainConfig(epochs=1, peak_lr=1e-3, batch_tokens=256),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ngrams")
    encoder = save_micro_encoder(folder / "encoder")
    finetune(EXAMPLES, EXAMPLES[:8], CONFIG, init=encoder, out=folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def tagger(trained: Path) -> TextTagger:
    return TextTagger.load(trained)


def opinion(tagger: TextTagger) -> NgramTagger:
    assert tagger.ngrams is not None
    return tagger.ngrams


def emissions(tagger: TextTagger, texts: list[str]) -> list[torch.Tensor]:
    with torch.inference_mode():
        return opinion(tagger).emissions([passage.text for passage in tagger.encode(texts)])


def test_names_are_learned_by_heart(tagger: TextTagger) -> None:
    moves = Moves(*opinion(tagger).transitions())
    [scores] = emissions(tagger, ["张伟在西湖。"])
    tags = viterbi(scores[None], torch.ones(1, len(scores), dtype=torch.bool), moves)
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
    exact = NgramTagger.load(path, 2)
    texts = [passage.text for passage in tagger.encode(TEXTS)]
    for ours, theirs in zip(opinion(tagger).emissions(texts), exact.emissions(texts), strict=True):
        assert torch.equal(ours, theirs)

    found = load(str(trained))(TEXTS)
    expected = tagger.entities_of(tagger.encode(TEXTS))
    assert [[(e.start, e.end, e.type) for e in entities] for entities in found] == [
        [tuple(span) for span, _ in spans] for spans in expected
    ]


def test_eight_bits_are_near(tmp_path: Path) -> None:
    tagger, _ = finetune(EXAMPLES, [], CONFIG, init=save_micro_encoder(tmp_path / "encoder"))
    path = tmp_path / NGRAMS
    path.write_bytes(opinion(tagger).to_bytes())
    rounded = NgramTagger.load(path, 2)
    before, after = opinion(tagger).vectors.weight, rounded.vectors.weight
    assert (before - after).abs().max() <= before.abs().max() / 127 / 2 + 1e-6
    assert path.stat().st_size < len(rounded.names) * (4 + 12) + 6000


def test_a_damaged_folder_is_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"of another model than one of 3 types"):
        NgramTagger.load(trained / NGRAMS, 3)
    with pytest.raises(CheckpointError, match="missing"):
        NgramTagger.load(tmp_path / NGRAMS, 2)
    (tmp_path / NGRAMS).write_bytes((trained / NGRAMS).read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="damaged"):
        NgramTagger.load(tmp_path / NGRAMS, 2)


def test_only_a_crf_has_ngrams_beside_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='ngrams = true needs head = "crf", found "span"'):
        ModelConfig(head="span", ngrams=True)
    encoder = save_micro_encoder(tmp_path / "encoder")
    for model in (ModelConfig(head="softmax"), ModelConfig(ngrams=False)):
        tagger, _ = finetune(EXAMPLES, [], replace(CONFIG, model=model), init=encoder)
        assert tagger.ngrams is None


def test_a_pickle_answers_the_same() -> None:
    model = AlbertTagger(init=None, preset="tiny", epochs=1, max_length=16, stride=4)
    model.fit([e.text for e in EXAMPLES[:8]], [e.entities for e in EXAMPLES[:8]])
    again = pickle.loads(pickle.dumps(model))
    assert model.tagger_.ngrams is not None
    assert again.predict(TEXTS) == model.predict(TEXTS)
