"""One mask: the numbers of ``transformers``' pipeline; its folders open here as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from tests.helpers.micro import save_micro_pretrained
from zh_albert import load
from zh_albert.inference.fill_mask import FillMask
from zh_albert.tokenization.tokenizer import default_tokenizer

TEXTS = ["中国的首都是北[MASK]。", "[MASK]气很好", "他用 iPhone 拍了[MASK]张照片"]


def answers(filler: FillMask, text: str, top_k: int) -> list[tuple[str, float]]:
    return [(one.text, one.score) for one in filler(text, top_k=top_k)[0][0].candidates]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked-LM folder as ``transformers`` writes it: no pooler, no sentence order."""
    folder = tmp_path_factory.mktemp("theirs") / "model"
    ours = save_micro_pretrained(folder.parent / "ours")
    model = transformers.AlbertForMaskedLM.from_pretrained(ours)
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    for name, content in default_tokenizer().save_files().items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.filterwarnings("ignore:.*the weights may be others now")
@pytest.mark.parametrize("text", TEXTS)
def test_one_mask_has_the_scores_of_the_pipeline(theirs: Path, text: str) -> None:
    filler = load(str(theirs))
    assert isinstance(filler, FillMask)
    tokenizer = transformers.BertTokenizer.from_pretrained(theirs)
    model = transformers.AlbertForMaskedLM.from_pretrained(theirs)
    pipeline = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer)
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    expected: dict[str, float] = {}
    for row in pipeline(text, top_k=4000):
        token = tokenizer.convert_ids_to_tokens(row["token"])
        if token not in special and not token.startswith("[unused"):
            expected.setdefault(token.removeprefix("##"), row["score"])  # "5" stands for "##5" too

    found = answers(filler, text, 2000)
    assert [one for one, _ in found[:10]] == list(expected)[:10]
    assert dict(found) == pytest.approx({one: expected[one] for one, _ in found}, rel=1e-3)
