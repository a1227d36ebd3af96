"""What ``load`` takes, and what it imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.micro import save_micro_encoder, save_micro_pretrained
from zh_albert import load
from zh_albert.errors import CheckpointError, ConfigError
from zh_albert.inference.fill_mask import FillMask


@pytest.fixture(scope="module")
def filler(tmp_path_factory: pytest.TempPathFactory) -> FillMask:
    return FillMask(save_micro_pretrained(tmp_path_factory.mktemp("encoder") / "encoder"))


def test_load_takes_encoders_that_can_fill_masks(filler: FillMask, tmp_path: Path) -> None:
    opened = load(str(filler.folder))
    assert isinstance(opened, FillMask)
    assert opened.metadata["dev"]["masked_accuracy"] == 0.3
    assert opened.max_length == 24

    bare = save_micro_encoder(tmp_path / "bare")
    with pytest.raises(
        CheckpointError, match=r"its masked-LM head, found a model without one \(task: none\)"
    ):
        FillMask(bare)
    with pytest.raises(CheckpointError, match="expected a model for classification"):
        load(str(bare))


def test_a_model_may_be_a_path_and_nothing_else() -> None:
    assert load(Path("ner"))("李华") == load("ner")("李华")
    for wrong in (None, 3, b"ner"):
        with pytest.raises(CheckpointError, match="expected a model's name or folder, found"):
            load(wrong)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "how", [{"runtime": "bogus"}, {"runtime": "onnxruntime"}, {"precision": "int8"}]
)
def test_an_encoder_has_one_engine(how: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        load("encoder", **how)


@pytest.mark.slow
def test_answering_loads_nothing_that_is_slow_to_import() -> None:
    program = "import sys, zh_albert.inference.loading; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    slow = {"accelerate", "scipy", "sklearn", "pandas", "torch._dynamo", "onnxruntime", "openvino"}
    assert not slow & set(ran.stdout.decode().split())
