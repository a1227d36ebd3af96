"""A reader's folder, opened by ``transformers``."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from tests.helpers.spread_models import CONFIG, FILES, IDS, MASK, TYPES, spread
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import load_tokenizer

pytestmark = pytest.mark.usefixtures("quiet_transformers")


def test_a_reader_opens_with_equal_outputs(tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    window = WindowConfig(max_length=16, stride=4)
    reader = TextReader(CONFIG, load_tokenizer(tmp_path), window=window)
    ours = spread(reader.module)
    reader.save(tmp_path, card="", dtype=torch.float32)
    theirs, report = transformers.AutoModelForQuestionAnswering.from_pretrained(
        tmp_path, output_loading_info=True
    )
    assert isinstance(theirs, transformers.AlbertForQuestionAnswering)
    assert not report["missing_keys"]
    assert all(name.startswith("albert.pooler") for name in report["unexpected_keys"])
    with torch.inference_mode():
        expected = theirs.eval()(IDS, MASK.long(), TYPES)
        actual = ours(IDS, TYPES, MASK)
    both = torch.stack([expected.start_logits, expected.end_logits], dim=-1)
    torch.testing.assert_close(actual[MASK], both[MASK], rtol=1e-4, atol=1e-5)
