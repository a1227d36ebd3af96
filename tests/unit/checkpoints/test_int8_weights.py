"""Weights in 8 bits: what is lost, what is not, and files that do not fit together."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from tests.helpers.micro import CONFIG
from zh_albert.checkpoints.convert import convert
from zh_albert.checkpoints.files import NGRAMS, WEIGHTS, count_parameters, read_tensors
from zh_albert.checkpoints.int8_weights import from_int8, to_int8
from zh_albert.checkpoints.store import load_weights, named_tensors, save_model
from zh_albert.errors import CheckpointError
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.rounding import dequantized, is_rounded, rounded
from zh_albert.tasks.catalog import network_of

TASK = {"name": "classification", "labels": ["a", "b"], "pooling": "first"}


@pytest.fixture
def saved(tmp_path: Path) -> tuple[SequenceClassifier, Path]:
    """A classifier and its folder, in 8 bits."""
    torch.manual_seed(0)
    model = SequenceClassifier(CONFIG, 2).eval()
    folder = tmp_path / "small"
    save_model(folder, model=model, config=CONFIG, files={}, task=TASK, dtype=torch.int8)
    return model, folder


LARGE = "encoder.pooler.weight"


def test_no_number_moves_further_than_half_a_step_of_its_row() -> None:
    matrix = torch.randn(7, 50) * torch.logspace(-6, 3, 7)[:, None]
    matrix[3] = 0
    tensors = {LARGE: matrix, "table.bias": torch.randn(7), "a.weight": torch.ones(2, 2)}
    found = from_int8(to_int8(tensors), Path("file"))

    assert found.keys() == tensors.keys()
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}
    half_step = matrix.abs().amax(1, keepdim=True) / 90 / 2
    assert ((found[LARGE] - matrix).abs() <= 1.001 * half_step).all()
    assert torch.equal(found["table.bias"], tensors["table.bias"])
    again = from_int8(to_int8(found), Path("file"))
    torch.testing.assert_close(again[LARGE], found[LARGE], rtol=1e-6, atol=0)


def test_a_folder_is_small_and_answers_nearly_the_same(
    saved: tuple[SequenceClassifier, Path],
) -> None:
    model, folder = saved
    numbers = sum(parameter.numel() for parameter in model.parameters())
    assert (folder / WEIGHTS).stat().st_size < 1.3 * numbers + 5000
    assert count_parameters(folder) == numbers

    other = SequenceClassifier(CONFIG, 2).eval()
    load_weights(other, folder)
    ids = torch.randint(CONFIG.vocab_size, (4, 20))
    mask = torch.ones(4, 20, dtype=torch.bool)
    with torch.inference_mode():
        found, expected = (network(ids, ids * 0, mask) for network in (other, model))
    torch.testing.assert_close(found, expected, rtol=0, atol=0.05 * float(expected.abs().max()))
    assert not torch.equal(found, expected)


def test_others_are_told_that_it_is_none_of_theirs(saved: tuple[SequenceClassifier, Path]) -> None:
    content = json.loads((saved[1] / "config.json").read_text(encoding="utf-8"))
    assert content["model_type"] == "zh_albert"
    assert "architectures" not in content
    assert content["zh_albert"]["weights"] == "int8"


def test_converting_makes_them_and_undoes_them(
    saved: tuple[SequenceClassifier, Path], tmp_path: Path
) -> None:
    model, small = saved
    save_model(
        tmp_path / "plain", model=model, config=CONFIG, files={}, task={**TASK, "ngrams": {}}
    )
    (tmp_path / "plain" / NGRAMS).write_bytes(b"as it is")
    convert(
        tmp_path / "plain",
        tmp_path / "made",
        to="zh_albert",
        dtype=torch.int8,
        network_of=network_of,
    )
    convert(small, tmp_path / "theirs", to="huggingface", network_of=network_of)

    assert (tmp_path / "made" / NGRAMS).read_bytes() == b"as it is"
    made, other = ((folder / WEIGHTS).stat().st_size for folder in (tmp_path / "made", small))
    assert made == pytest.approx(other, rel=0.02)
    theirs = SequenceClassifier(CONFIG, 2)
    load_weights(theirs, tmp_path / "theirs")
    ours = SequenceClassifier(CONFIG, 2)
    load_weights(ours, small)
    assert all(map(torch.equal, named_tensors(theirs).values(), named_tensors(ours).values()))
    with pytest.raises(CheckpointError, match="has no int8 weights"):
        convert(small, tmp_path / "x", to="huggingface", dtype=torch.int8, network_of=network_of)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda _: None, "found none"),
        (lambda scale: scale[1:], r"expected 31 rows, .* found 1,024 numbers"),
        (lambda scale: scale[None, None], r"found shape \(1, 1, 32\)"),
        (lambda scale: scale[:, None].repeat(1, 33), "groups of its 32 columns .* found 33 a row"),
        (lambda scale: scale[:, None].repeat(1, 12), "groups of its 32 columns .* found 12 a row"),
        (lambda scale: scale[:, None][:, :0], r"found shape \(32, 0\)"),
        (lambda scale: scale[:0], r"found shape \(0,\)"),
        (lambda scale: scale / 0, "or not finite"),
    ],
)
def test_numbers_without_their_scales_are_refused(
    saved: tuple[SequenceClassifier, Path], change: object, found: str
) -> None:
    path = saved[1] / WEIGHTS
    tensors = safetensors.torch.load_file(path)
    name = f"{LARGE}.scale"
    changed = change(tensors.pop(name).clone())  # type: ignore[operator]
    path.unlink()
    safetensors.torch.save_file(tensors | ({} if changed is None else {name: changed}), path)

    with pytest.raises(CheckpointError, match=rf"{LARGE} is stored in int8.*{found}"):
        read_tensors(saved[1])


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-9], lambda whole: torch.cat([whole, whole[:5]])]
)
def test_damaged_numbers_are_refused(
    saved: tuple[SequenceClassifier, Path], damage: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    path = saved[1] / WEIGHTS
    tensors = safetensors.torch.load_file(path)
    tensors[LARGE] = damage(tensors[LARGE]).clone()
    path.unlink()
    safetensors.torch.save_file(tensors, path)

    with pytest.raises(CheckpointError, match=rf"{LARGE} is stored in int8.*damaged bytes"):
        read_tensors(saved[1])


FEWER = [(8, 32), (6, None), (4, None), (4, 5), (2, 32)]


@pytest.mark.parametrize(("bits", "group"), FEWER)
def test_a_rounded_network_is_stored_as_it_is(bits: int, group: int | None, tmp_path: Path) -> None:
    """What training with rounded weights has reached is what the file restores."""
    torch.manual_seed(0)
    model = SequenceClassifier(CONFIG, 2).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if is_rounded(name):
                parameter.copy_(dequantized(*rounded(parameter, bits, group)))
            elif parameter.dim() > 1:
                parameter.copy_(parameter.half())
    save_model(
        tmp_path,
        model=model,
        config=CONFIG,
        files={},
        task=TASK,
        dtype=torch.int8,
        bits=bits,
        group=group,
    )
    other = SequenceClassifier(CONFIG, 2)
    load_weights(other, tmp_path)

    assert all(map(torch.equal, named_tensors(other).values(), named_tensors(model).values()))
    content = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    said = f"int{bits}, groups of {group}" if group else f"int{bits}"
    assert content["zh_albert"]["weights"] == said
    assert content["zh_albert"]["format_version"] == 2


def test_fewer_bits_make_smaller_files_and_zeros_smaller_ones_still() -> None:
    matrix = torch.randn(400, 400, generator=torch.Generator().manual_seed(0))
    sizes = {bits: len(to_int8({LARGE: matrix}, bits=bits)[LARGE]) for bits in (6, 4, 3, 2)}
    for bits, size in sizes.items():
        assert size < bits / 8 * matrix.numel()
    matrix[:300] = 0
    assert len(to_int8({LARGE: matrix}, bits=4)[LARGE]) < 0.3 * sizes[4]


def test_the_bytes_of_eight_bits_are_those_of_before() -> None:
    matrix = torch.randn(9, 40, generator=torch.Generator().manual_seed(0))
    scale = matrix.abs().amax(1) / 90
    integers = (matrix / scale[:, None]).round().to(torch.int8)
    stored = to_int8({LARGE: matrix})

    assert bytes(stored[LARGE].numpy()) == zlib.compress(integers.numpy().tobytes(), 9)
    assert torch.equal(stored[f"{LARGE}.scale"], scale)
    assert stored[f"{LARGE}.scale"].dtype == torch.float32


def test_most_numbers_are_small_and_take_less_than_a_byte() -> None:
    matrix = torch.randn(400, 400)
    stored = to_int8({LARGE: matrix})[LARGE]

    assert stored.dtype == torch.uint8
    assert 0.8 * matrix.numel() < stored.numel() < 0.9 * matrix.numel()


def test_folders_of_versions_before_are_read(saved: tuple[SequenceClassifier, Path]) -> None:
    expected = read_tensors(saved[1])
    path = saved[1] / WEIGHTS
    tensors = safetensors.torch.load_file(path)
    for name, scale in [(n, t) for n, t in tensors.items() if n.endswith(".scale")]:
        owner = name.removesuffix(".scale")
        whole = (expected[owner] / torch.where(scale > 0, scale, 1)[:, None]).round()
        tensors[owner] = whole.to(torch.int8)
    path.unlink()
    safetensors.torch.save_file(tensors, path)

    found = read_tensors(saved[1])
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_weights_that_are_no_numbers_are_not_saved(tmp_path: Path) -> None:
    model = SequenceClassifier(CONFIG, 2)
    model.classifier.weight.data[0, 0] = torch.nan
    with pytest.raises(CheckpointError, match=r"not finite.*classifier.weight"):
        save_model(
            tmp_path / "m", model=model, config=CONFIG, files={}, task=TASK, dtype=torch.int8
        )
