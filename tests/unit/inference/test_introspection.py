"""Looking into an encoder: what is shown is what it computes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AlbertModel

from tests.helpers.micro import CONFIG, save_micro_models, save_micro_pretrained
from zh_albert.checkpoints.store import save_model
from zh_albert.errors import CheckpointError, ConfigError, DataError
from zh_albert.inference.introspection import EncoderView
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.lstm_encoder import build_encoder
from zh_albert.tokenization.tokenizer import default_tokenizer

TEXT = "我 在Xián，看山"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_micro_pretrained(tmp_path_factory.mktemp("inside") / "encoder")


def test_attention_and_movement_are_those_of_transformers(folder: Path) -> None:
    view = EncoderView.load(folder)
    attention, movement = view.attention(TEXT), view.movement(TEXT)

    theirs = AlbertModel.from_pretrained(folder, attn_implementation="eager").eval().float()
    ids = torch.tensor([view.tokenizer.encode(TEXT).ids])
    ids = torch.nn.functional.pad(ids, (1, 0), value=view.tokenizer.special.cls)
    ids = torch.nn.functional.pad(ids, (0, 1), value=view.tokenizer.special.sep)
    with torch.inference_mode():
        found = theirs(ids, output_attentions=True, output_hidden_states=True)
    np.testing.assert_allclose(
        attention.probabilities, torch.cat(found.attentions).numpy(), atol=1e-5
    )
    states = torch.cat(found.hidden_states).numpy()
    for layer in range(CONFIG.num_hidden_layers):
        before, after = states[layer], states[layer + 1]
        lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        cosines = (before * after).sum(1) / lengths
        assert movement.distances[layer] == pytest.approx(
            np.linalg.norm(after - before, axis=1).mean(), rel=1e-4
        )
        assert movement.cosines[layer] == pytest.approx(cosines.mean(), abs=1e-4)
        assert movement.degrees[layer] == pytest.approx(
            np.degrees(np.arccos(cosines)).mean(), abs=0.01
        )


def test_offsets_are_the_users_own_characters(folder: Path) -> None:
    attention = EncoderView.load(folder).attention(TEXT)

    assert attention.tokens[0] == "[CLS]"
    assert attention.offsets[0] is attention.offsets[-1] is None
    slices = [TEXT[o[0] : o[1]] for o in attention.offsets if o]
    assert "".join(slices) == TEXT.replace(" ", "")
    assert attention.probabilities.shape == (2, 2, len(slices) + 2, len(slices) + 2)
    np.testing.assert_allclose(attention.probabilities.sum(-1), 1, atol=1e-5)


def test_every_kind_of_model_can_be_looked_into(tmp_path: Path) -> None:
    for folder in save_micro_models(tmp_path).values():
        view = EncoderView.load(folder)
        assert view.movement("看山").distances.shape == (2,)
        assert view.count("看山") == 4


def test_an_untrained_one_shares_nothing_and_leaves_the_random_state_alone(folder: Path) -> None:
    trained = EncoderView.load(folder)
    torch.manual_seed(7)
    before = torch.get_rng_state()
    view = EncoderView.untrained(trained)

    assert torch.equal(torch.get_rng_state(), before)
    assert [layer.ffn for layer in view.plan] == [0, 1]
    assert [layer.ffn for layer in trained.plan] == [0, 0]
    again = EncoderView.untrained(trained).movement("看山").distances
    np.testing.assert_array_equal(view.movement("看山").distances, again)


def test_a_pruned_encoder_shows_the_heads_it_has(tmp_path: Path) -> None:
    config = replace(CONFIG, plan=((0, 0), (1, 0)), block_heads=(1, 3), head_size=5)
    files = default_tokenizer().save_files()
    save_model(tmp_path, model=AlbertEncoder(config), config=config, files=files, task={})
    view = EncoderView.load(tmp_path)

    sums = view.attention("看山").probabilities.sum(-1)
    np.testing.assert_allclose(sums[0, 0], 1, atol=1e-5)
    np.testing.assert_allclose(sums[1], 1, atol=1e-5)
    assert not sums[0, 1:].any()
    assert EncoderView.untrained(view).config.block_heads == (1, 3)


def test_what_cannot_be_read_is_refused(folder: Path, tmp_path: Path) -> None:
    view = EncoderView.load(folder)

    with pytest.raises(DataError, match="empty"):
        view.attention(" \n")
    with pytest.raises(DataError, match="expected at most 510 tokens, found 511"):
        view.movement("山" * 511)
    with pytest.raises(CheckpointError, match=r"config\.json"):
        EncoderView.load(tmp_path)


def test_an_encoder_without_attention_is_refused(tmp_path: Path) -> None:
    config = replace(CONFIG, layer="lstm")
    files = default_tokenizer().save_files()
    save_model(tmp_path, model=build_encoder(config), config=config, files=files, task={})

    with pytest.raises(ConfigError, match="expected an encoder of transformer layers, found one"):
        EncoderView.load(tmp_path)
