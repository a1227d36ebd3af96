"""The heads against ``transformers`` on random weights."""

from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from zh_albert.checkpoints.key_maps import from_huggingface
from zh_albert.model.config import AlbertConfig
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.pretraining_heads import AlbertForPretraining

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "embedding_size": 7,
    "hidden_size": 12,
    "num_hidden_layers": 4,
    "num_hidden_groups": 2,
    "num_attention_heads": 3,
    "intermediate_size": 21,
    "max_position_embeddings": 16,
}


def assert_equal(actual: Tensor, expected: Tensor) -> None:
    """Largest difference, relative to the largest value, below 1e-5 (and rounding far below)."""
    difference = (actual - expected).abs().max() / expected.abs().max()
    assert difference < (1e-5 if actual.dtype == torch.float32 else 1e-11)


def take_weights(
    ours: nn.Module, theirs: nn.Module, config: AlbertConfig, std: float, dtype: torch.dtype
) -> None:
    """Spread their weights and copy them into ours; strict: none missing, none left over."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, std=std)
    stored = theirs.to(dtype).eval().state_dict()
    names = from_huggingface(stored, config)
    untied = {n: stored[t] for t, n in names.items() if not n.endswith(".tied")}
    ours.to(dtype).eval().load_state_dict(untied)


def batch() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    mask = torch.arange(9) < torch.tensor([9, 6, 1])[:, None]
    return torch.randint(1, 50, (3, 9)), torch.randint(2, (3, 9)), mask


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("std", [0.5, 0.005])
@pytest.mark.parametrize("hidden_act", ["gelu_new", "gelu", "relu"])
def test_pretraining_heads_equal_transformers(
    hidden_act: Any, std: float, dtype: torch.dtype
) -> None:
    config = AlbertConfig(**SIZES, hidden_act=hidden_act)
    theirs = transformers.AlbertForPreTraining(
        transformers.AlbertConfig(**SIZES, hidden_act=hidden_act)
    )
    ours = AlbertForPretraining(config)
    take_weights(ours, theirs, config, std, dtype)
    ids, types, mask = batch()
    positions = torch.tensor([[1, 0], [0, 3], [0, 8], [2, 0]])

    with torch.inference_mode():
        expected = theirs(ids, mask.long(), types)
        actual = ours(ids, types, mask, positions)

    masked = expected.prediction_logits[positions[:, 0], positions[:, 1]]
    assert_equal(actual.masked, masked)
    assert_equal(actual.order, expected.sop_logits)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("std", [0.5, 0.005])
@pytest.mark.parametrize("hidden_act", ["gelu_new", "gelu"])
def test_classifier_equals_transformers(hidden_act: Any, std: float, dtype: torch.dtype) -> None:
    config = AlbertConfig(**SIZES, hidden_act=hidden_act)
    theirs = transformers.AlbertForSequenceClassification(
        transformers.AlbertConfig(**SIZES, hidden_act=hidden_act, num_labels=5)
    )
    ours = SequenceClassifier(config, 5)
    take_weights(ours, theirs, config, std, dtype)
    ids, types, mask = batch()

    with torch.inference_mode():
        expected = theirs(ids, mask.long(), types).logits
        actual = ours(ids, types, mask)

    assert_equal(actual, expected)


def test_mean_pooling_leaves_padding_out() -> None:
    torch.manual_seed(0)
    classifier = SequenceClassifier(AlbertConfig(**SIZES), 5, pooling="mean").double().eval()
    ids, types, mask = batch()

    with torch.inference_mode():
        together = classifier(ids, types, mask)
        alone = classifier(ids[1:2, :6], types[1:2, :6], mask[1:2, :6])
        hidden = classifier.encoder(ids[:1], types[:1], mask[:1]).hidden
        by_hand = classifier.classifier(torch.tanh(classifier.encoder.pooler(hidden.mean(1))))

    torch.testing.assert_close(together[1:2], alone)
    torch.testing.assert_close(together[:1], by_hand)


def test_no_masked_position_gives_no_logits() -> None:
    model = AlbertForPretraining(AlbertConfig(**SIZES))

    output = model(*batch(), torch.empty(0, 2, dtype=torch.long))

    assert output.masked.shape == (0, 50)
    assert output.order.shape == (3, 2)


def test_brightmart_logits_go_back_through_the_embeddings_projection() -> None:
    torch.manual_seed(0)
    model = AlbertForPretraining(AlbertConfig(**SIZES, embedding_layout="brightmart")).eval()
    hidden = torch.randn(1, 2, 12)

    with torch.inference_mode():
        actual = model.masked_logits(hidden, torch.tensor([[0, 1]]))
        head, embeddings = model.masked_lm, model.encoder.embeddings
        transformed = head.norm(head.activation(head.dense(hidden[0, 1])))
        table = embeddings.projection(embeddings.word.weight)  # (vocab, hidden)
        expected = table @ transformed + head.bias

    torch.testing.assert_close(actual[0], expected)


@pytest.mark.parametrize("layout", ["google", "brightmart"])
def test_gradient_reaches_heads_and_tied_table(layout: Any) -> None:
    torch.manual_seed(0)
    model = AlbertForPretraining(AlbertConfig(**SIZES, embedding_layout=layout))

    output = model(*batch(), torch.tensor([[0, 1], [1, 2]]))
    (output.masked.logsumexp(-1).sum() + output.order.square().sum()).backward()

    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
    table = model.encoder.embeddings.word.weight.grad
    assert table is not None
    assert (table.abs().sum(-1) > 0).all()  # every row is an output class
