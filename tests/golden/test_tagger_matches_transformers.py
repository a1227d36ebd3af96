"""A softmax tagger's folder, opened by ``transformers``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

from tests.helpers.micro import save_micro_encoder
from tests.helpers.spread_models import CONFIG, FILES, IDS, MASK, TYPES, spread
from tests.helpers.travellers import CONFIG as LESSON
from tests.helpers.travellers import EXAMPLES
from zh_albert import load
from zh_albert.checkpoints.store import load_weights
from zh_albert.tasks.ner.finetune import ModelConfig, finetune
from zh_albert.tasks.ner.networks import HEADS, Head, build_tagger
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.ner.tags import Scheme, TagSet
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import load_tokenizer

KINDS = ["地名", "人名"]


pytestmark = pytest.mark.usefixtures("quiet_transformers")


def folder_of(head: Head, folder: Path) -> torch.nn.Module:
    for name, content in FILES.items():
        (folder / name).write_text(content)
    window = WindowConfig(max_length=16, stride=4)
    tagger = TextTagger(CONFIG, load_tokenizer(folder), KINDS, window=window, head=head)
    module = spread(tagger.module)
    tagger.save(folder, card="", dtype=torch.float32)
    return module


def test_the_softmax_head_opens_with_equal_outputs_and_its_tags(tmp_path: Path) -> None:
    ours = folder_of("softmax", tmp_path)
    theirs, report = transformers.AutoModelForTokenClassification.from_pretrained(
        tmp_path, output_loading_info=True
    )
    assert isinstance(theirs, transformers.AlbertForTokenClassification)
    assert not report["missing_keys"]
    assert all(name.startswith("albert.pooler") for name in report["unexpected_keys"])
    assert list(theirs.config.id2label.values()) == list(TagSet.of(KINDS).names)
    with torch.inference_mode():
        expected = theirs.eval()(IDS, MASK.long(), TYPES).logits
        actual = ours(IDS, TYPES, MASK)
    torch.testing.assert_close(actual[MASK], expected[MASK], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("head", [head for head in HEADS if head != "softmax"])
def test_the_other_heads_are_refused_there_and_say_what_they_are(
    head: Head, tmp_path: Path
) -> None:
    folder_of(head, tmp_path)
    with pytest.raises(ValueError, match="zh_albert"):
        transformers.AutoModelForTokenClassification.from_pretrained(tmp_path)
    content = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert content["zh_albert"]["task"]["head"] == head
    reopened = build_tagger(CONFIG, TagSet.of(KINDS), head)
    load_weights(reopened, tmp_path)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_micro_encoder(tmp_path_factory.mktemp("encoder") / "encoder")


def trained(scheme: Scheme, encoder: Path, folder: Path) -> Path:
    settings = ModelConfig(head="softmax", scheme=scheme)
    train = replace(LESSON.train, epochs=4)
    config = replace(LESSON, model=settings, train=train)
    finetune(EXAMPLES, EXAMPLES[:8], config, init=encoder, out=folder / "model")
    return folder / "model"


def found_there(folder: Path, text: str) -> list[tuple[int, int, str]]:
    """What the pipeline of transformers finds, with its usual way of joining tokens."""
    tag = transformers.pipeline(
        "token-classification", model=str(folder), aggregation_strategy="simple"
    )
    return [(e["start"], e["end"], e["entity_group"]) for e in tag(text)]


@pytest.mark.slow
def test_with_bio_tags_the_pipeline_of_transformers_finds_whole_entities(
    encoder: Path, tmp_path: Path
) -> None:
    folder = trained("bio", encoder, tmp_path)
    tagger = load(folder)
    for text in {example.text for example in EXAMPLES}:
        ours = [(e.start, e.end, e.type) for e in tagger([text])[0]]
        assert len(ours) == 2
        assert found_there(folder, text) == ours


def test_with_bioes_tags_it_cuts_them_into_pieces(encoder: Path, tmp_path: Path) -> None:
    """So the docs recommend BIO for the pipeline."""
    folder, text = trained("bioes", encoder, tmp_path), "王小明昨天去了北京市。"
    ours = {(e.start, e.end, e.type) for e in load(folder)([text])[0]}
    assert ours == {(0, 3, "人"), (7, 10, "地")}
    assert not ours & {*found_there(folder, text)}
