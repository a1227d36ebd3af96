"""Files of ``torch.save``: what is read, what is refused."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers

from tests.helpers.conversions import CONFIG, VOCABULARY, refusal
from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.files import read_tensors
from zh_albert.checkpoints.pretrained_encoder import load_encoder
from zh_albert.checkpoints.store import load_config, save_model
from zh_albert.checkpoints.torch_file import read_torch_file
from zh_albert.errors import CheckpointError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.heads import SequenceClassifier
from zh_albert.model.pretraining_heads import AlbertForPretraining


class Harm:
    """A pickle of it makes a folder when it is opened carelessly."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return Path.mkdir, (self.folder,)


def test_a_folder_of_transformers_with_a_pickle_is_read_for_conversion(tmp_path: Path) -> None:
    model = AlbertForPretraining(CONFIG)
    files = {"vocab.txt": VOCABULARY}
    save_model(tmp_path / "a", model=model, config=CONFIG, files=files, task={})
    expected = read_tensors(tmp_path / "a")
    path = tmp_path / "a/model.safetensors"
    torch.save(safetensors.torch.load_file(path), tmp_path / "a/pytorch_model.bin")
    path.unlink()
    (tmp_path / "a/manifest.json").unlink()
    (tmp_path / "a/training_args.bin").write_bytes(b"never opened")
    convert(tmp_path / "a", tmp_path / "b", to="huggingface")

    found = read_tensors(tmp_path / "b")
    assert found.keys() == expected.keys()
    assert all(torch.equal(tensor, found[name]) for name, tensor in expected.items())


def test_a_masked_lm_that_transformers_saved_is_converted_and_started_from(tmp_path: Path) -> None:
    """It has neither pooler nor sentence order, and transformers 5 saves tokenizer.json alone."""
    theirs = transformers.AlbertForMaskedLM(
        transformers.AlbertConfig(
            vocab_size=7,
            embedding_size=4,
            hidden_size=8,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=8,
            max_position_embeddings=8,
        )
    ).eval()
    theirs.save_pretrained(tmp_path / "a")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "中", "文"]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path / "a")
    (tmp_path / "a/vocab.txt").unlink(missing_ok=True)

    for out in ("b", "c"):
        convert(tmp_path / "a", tmp_path / out, to="zh_albert")

    assert (tmp_path / "b/vocab.txt").read_text("utf-8").split() == tokens
    found, again = (read_tensors(tmp_path / out) for out in ("b", "c"))
    assert all(torch.equal(tensor, again[name]) for name, tensor in found.items())
    opened = transformers.AlbertForMaskedLM.from_pretrained(tmp_path / "b").eval()
    ids = torch.tensor([[2, 5, 4, 3]])
    with torch.no_grad():
        assert torch.equal(opened(ids).logits, theirs(ids).logits)
    config, _ = load_config(tmp_path / "a")
    classifier = SequenceClassifier(config, 2)
    load_encoder(classifier, tmp_path / "a")
    weights = theirs.albert.embeddings.word_embeddings.weight
    assert torch.equal(classifier.encoder.embeddings.word.weight, weights)


def test_safetensors_win_over_whatever_else_is_in_the_folder(tmp_path: Path) -> None:
    model = AlbertEncoder(CONFIG)
    save_model(tmp_path / "a", model=model, config=CONFIG, files={}, task={})
    for name in ("vectors.index", "optimizer.pt"):
        (tmp_path / "a" / name).write_bytes(b"never opened")

    assert read_any(tmp_path / "a").config == CONFIG


def test_a_pickle_that_is_more_than_tensors_is_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "uer"
    folder.mkdir()
    for content in ({"a": Harm(tmp_path / "harm")}, Harm(tmp_path / "harm")):
        torch.save(content, folder / "model.bin")
        assert "not opened: it is damaged, or holds more than tensors" in refusal(folder)
        (folder / "model.bin").write_bytes(pickle.dumps(content))
        assert "not opened" in refusal(folder)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "expected tensors by name, found list"),
        ({"step": 3}, "expected tensors by name, found dict"),
    ],
)
def test_a_file_without_named_tensors_is_refused(
    content: object, message: str, tmp_path: Path
) -> None:
    torch.save(content, tmp_path / "model.pt")

    assert message in refusal(tmp_path / "model.pt")


def test_damaged_torch_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "uer.bin"
    torch.save({"embedding.word_embedding.weight": torch.zeros(30, 30)}, path)
    whole = path.read_bytes()
    for content in (b"", b"text", whole[:100], whole[:-50], whole[200:]):
        path.write_bytes(content)
        assert "download it again" in refusal(path)
    path.unlink()
    assert "uer.bin: No such file" in refusal(path)


def test_of_several_torch_files_one_must_be_given(tmp_path: Path) -> None:
    for name in ("a.bin", "b.pt"):
        (tmp_path / name).write_bytes(b"")

    assert "expected one checkpoint, found a.bin, b.pt" in refusal(tmp_path)


def test_numbers_that_are_not_all_in_the_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "uer.bin"
    for tensor in (
        torch.zeros(1).expand(10**9, 10**3),
        torch.zeros(3, 3).to_sparse(),
        torch.zeros(10**6, 10**6, device="meta"),
    ):
        torch.save({"embedding.weight": tensor}, path)
        assert "embedding.weight: expected a dense tensor with all of its numbers" in refusal(path)


def test_many_names_of_the_same_numbers_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZH_ALBERT_MAX_MB", "1")
    path, numbers = tmp_path / "uer.bin", torch.zeros(10**5)
    torch.save({"a": numbers, "b": numbers}, path)  # as tied weights are
    assert read_torch_file(path).keys() == {"a", "b"}
    torch.save({f"{number}": numbers for number in range(1000)}, path)
    assert "bytes of tensors in the file, found 400,000,000" in refusal(path)


def test_what_is_compressed_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "uer.bin"
    torch.save({"a": torch.zeros(10**6)}, path)
    with zipfile.ZipFile(path) as archive:
        parts = {part.filename: archive.read(part) for part in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert "expected parts that are not compressed" in refusal(path)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_are_refused(tmp_path: Path, value: float) -> None:
    torch.save({"a": torch.tensor([1.0, value])}, tmp_path / "uer.bin")
    assert "uer.bin: a: expected finite numbers" in refusal(tmp_path / "uer.bin")


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "uer.bin")
    with pytest.raises(CheckpointError, match="expected a regular file, found a pipe"):
        read_torch_file(tmp_path / "uer.bin")


def test_a_file_in_parts_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    save_model(folder, model=AlbertEncoder(CONFIG), config=CONFIG, files={}, task={})
    (folder / "model.safetensors").rename(folder / "pytorch_model-00001-of-00002.bin")
    (folder / "manifest.json").unlink()
    (folder / "pytorch_model-00002-of-00002.bin").touch()
    (folder / "pytorch_model.bin.index.json").write_text("{}", encoding="utf-8")
    assert "found one in parts (pytorch_model.bin.index.json)" in refusal(folder)


def test_the_prefix_of_parallel_training_is_left_out(tmp_path: Path) -> None:
    tensors = {"module.a.weight": torch.ones(1), "module.b": torch.ones(1)}
    torch.save(tensors, tmp_path / "a.bin")
    assert list(read_torch_file(tmp_path / "a.bin")) == ["a.weight", "b"]
    torch.save({**tensors, "c": torch.ones(1)}, tmp_path / "b.bin")
    assert list(read_torch_file(tmp_path / "b.bin")) == [*tensors, "c"]
