"""From a model folder to one that a runtime runs: its answers, its checks, its errors."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from tests.helpers.commands import QUICK, Cli, refused
from tests.helpers.micro import CONFIG
from tests.helpers.task_files import reviews
from zh_albert import load
from zh_albert.checkpoints.files import EXPORT_METADATA
from zh_albert.errors import CheckpointError, ConfigError, MissingExtraError
from zh_albert.inference.export import export
from zh_albert.runtimes.onnx_network import GraphOutputs, onnx_model
from zh_albert.serving.server import open_model
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

TEXTS = ["房间很好。", "服务太差，味道也糟糕" * 9, "好", "早餐喜欢 ok", "物流失望。"]


def scores(folder: Path, **how: Any) -> np.ndarray:
    return np.array([one.scores["positive"] for one in load(str(folder), **how)(TEXTS)])


@pytest.mark.parametrize(
    ("form", "precision", "near"),
    [
        ("onnx", "fp32", 2e-6),
        ("onnx", "fp16", 2e-3),
        ("openvino", "fp32", 2e-6),
        ("onnx", "int8", 0.05),
    ],
)
def test_an_exported_folder_loads_and_answers_as_before(
    trained: Path, tmp_path: Path, cli: Cli, form: str, precision: str, near: float
) -> None:
    out = tmp_path / "fast"
    ran = cli("export", trained, out, "--format", form, "--precision", precision, "--json")
    assert ran.code == 0, ran.err
    metadata = json.loads(ran.out)
    assert metadata["largest_difference"] < 0.1
    runtime = load(str(out))._model.runtime.open()
    assert runtime.name.endswith(precision)
    np.testing.assert_allclose(
        scores(out), scores(trained, runtime="torch", precision="fp32"), atol=near
    )
    (tmp_path / "lines.txt").write_text("房间很好。\n\n服务太差。\n", encoding="utf-8")
    rows = [json.loads(row) for row in cli("predict", out, tmp_path / "lines.txt").out.splitlines()]
    assert [row["label"] for row in rows] == ["positive", None, "negative"]


def test_an_export_leaves_no_network_of_the_one_before(
    trained: Path, tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "fast"
    for form, files in (("onnx", 1), ("openvino", 2), ("onnx", 1)):
        assert cli("export", trained, out, "--format", form).code == 0
        assert len([*out.glob("model.onnx"), *out.glob("openvino.*")]) == files
        assert load(str(out))(["房间很好。"])


@pytest.mark.parametrize("command", [("export", "--format", "onnx"), ("convert",)])
def test_a_model_trained_in_the_folder_is_not_replaced(
    trained: Path, tmp_path: Path, cli: Cli, command: tuple[str, ...]
) -> None:
    name, *options = command
    mine = tmp_path / "mine"
    shutil.copytree(trained, mine)
    (mine / "training").mkdir(exist_ok=True)
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    ran = cli(name, trained, mine, *options)
    assert ran.code == 2
    assert "was trained there" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before
    if name == "export":
        assert cli(name, mine, mine, *options).code == 0  # itself in another form


def test_weights_in_8_bits_are_computed_with_as_they_are(
    trained: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, dev = tmp_path / "small", reviews(tmp_path / "dev.jsonl")
    arguments = ("export", trained, small, "--format=zh_albert", "--precision=int8")
    ran = cli(*arguments, "--dev", dev, "--json")
    assert ran.code == 0, ran.err
    assert {"fp32", "int8"} <= json.loads(ran.out)["dev"].keys()
    weights = "model.safetensors"
    assert (small / weights).stat().st_size < 0.75 * (trained / weights).stat().st_size
    assert not list(small.glob("*.onnx"))
    expected = scores(trained, runtime="torch", precision="fp32")
    assert load(str(small))._model.runtime.open().name == "onnxruntime int8"
    assert load(str(small), runtime="onnxruntime").runs_in == "onnxruntime int8"
    assert load(str(small), runtime="torch").runs_in == "torch fp32"
    np.testing.assert_allclose(scores(small), expected, atol=0.05)
    np.testing.assert_allclose(scores(small, precision="fp32"), expected, atol=0.02)

    # Without ONNX Runtime the same folder is computed as any other.
    monkeypatch.setattr("zh_albert.runtimes.exported.is_installed", lambda _: False)
    assert "int8" not in load(str(small))._model.runtime.open().name
    np.testing.assert_allclose(scores(small), expected, atol=0.05)


def test_weights_in_fewer_bits_stay_as_they_are(trained: Path, tmp_path: Path, cli: Cli) -> None:
    few, fast, weights = tmp_path / "few", tmp_path / "fast", "model.safetensors"
    dev = reviews(tmp_path / "dev.jsonl")
    options = ("--train", dev, "--dev", dev, "--out", few)
    assert cli("compress", "quantize", trained, *options, "--set", "store.bits=5").code == 0
    arguments = ("export", few, fast, "--format=zh_albert", "--precision=int8")
    assert cli(*arguments, "--dev", dev).code == 0
    assert (fast / weights).read_bytes() == (few / weights).read_bytes()
    assert load(str(fast))._model.runtime.open().name == "onnxruntime int8"
    np.testing.assert_array_equal(scores(fast, precision="fp32"), scores(few, precision="fp32"))


def test_without_onnx_runtime_integers_are_neither_promised_nor_written(
    trained: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast, arguments = tmp_path / "fast", ("--format=zh_albert", "--precision=int8")
    assert cli("export", trained, fast, *arguments).code == 0
    for module in ("runtimes.exported", "runtimes.selection", "inference.export"):
        monkeypatch.setattr(f"zh_albert.{module}.is_installed", lambda _: False)
    assert TextClassifier.load(fast).runtime.open().name == "torch fp32"  # what evaluate computes
    assert open_model(str(fast))._model.runtime.open().name == "torch fp32"  # the server's
    with pytest.raises(MissingExtraError, match=r"onnxruntime is not installed; run: pip install"):
        load(str(fast), precision="int8")
    refused = cli("export", trained, tmp_path / "x", *arguments)
    assert refused.code == 2
    assert "zh-albert[onnx]" in refused.err
    assert not (tmp_path / "x").exists()


def test_integers_of_8_bits_that_a_version_before_wrote_are_not_computed_with(
    trained: Path, tmp_path: Path
) -> None:
    fast = tmp_path / "fast"
    metadata = export(trained, fast, form="onnx", precision="int8")
    del metadata["matrix_bits"]
    (fast / "manifest.json").unlink()  # there was none then
    (fast / EXPORT_METADATA).write_text(json.dumps(metadata))
    with pytest.raises(CheckpointError, match=r"export.json: expected .* matrix_bits = 7 and"):
        load(str(fast))


def test_a_graph_whose_tokens_share_a_scale_is_not_computed_with(
    trained: Path, tmp_path: Path
) -> None:
    fast = tmp_path / "fast"
    metadata = export(trained, fast, form="onnx", precision="int8")
    assert metadata.pop("scales") == "token"
    (fast / "manifest.json").unlink()  # there was none then
    (fast / EXPORT_METADATA).write_text(json.dumps(metadata))
    with pytest.raises(CheckpointError, match=r"scales = token; run zh-albert export again"):
        load(str(fast))


def test_a_folder_in_int8_is_scored_converted_exported_and_trained_on_like_any_other(
    trained: Path, tmp_path: Path, cli: Cli
) -> None:
    small, dev = tmp_path / "small", reviews(tmp_path / "dev.jsonl")
    export(trained, small, form="zh_albert", precision="int8")
    data = ("--task=classification", "--train", dev, "--dev", dev)
    for command in (
        ("evaluate", small, dev, "--json"),
        ("inspect", small, "--json"),
        ("convert", small, tmp_path / "plain"),
        ("export", small, tmp_path / "onnx", "--format=onnx"),
        ("export", small, small, "--format=zh_albert", "--precision=int8", "--dev", dev),
        ("finetune", *data, "--init", small, *QUICK, "--out", tmp_path / "tuned"),
    ):
        ran = cli(*command)
        assert ran.code == 0, ran.err
    assert not (tmp_path / "plain" / EXPORT_METADATA).exists()
    assert not (tmp_path / "tuned" / EXPORT_METADATA).exists()
    names = {
        name: load(str(tmp_path / name))._model.runtime.open().name
        for name in ("small", "plain", "onnx", "tuned")
    }
    assert [name for name, runtime in names.items() if runtime.endswith("int8")] == ["small"]
    near = scores(small, runtime="torch", precision="fp32")
    np.testing.assert_allclose(scores(tmp_path / "plain"), near, atol=0.02)
    np.testing.assert_allclose(scores(tmp_path / "onnx"), near, atol=1e-4)


def test_bf16_answers_are_near_and_need_no_more_room(trained: Path, tmp_path: Path) -> None:
    metadata = export(trained, tmp_path / "fast", form="openvino", precision="bf16")
    assert metadata["bytes"] < 2 * metadata["parameters"] + 200_000
    near = scores(trained, runtime="torch", precision="fp32")
    np.testing.assert_allclose(scores(tmp_path / "fast"), near, atol=0.05)


def test_every_other_head_loads_again(tmp_path: Path) -> None:
    window = WindowConfig(max_length=24, stride=6)
    torch.manual_seed(0)
    for head in ("crf", "global_pointer"):
        tagger = TextTagger(CONFIG, default_tokenizer(), ["人", "地"], window=window, head=head)  # type: ignore[arg-type]
        for name, parameter in tagger.module.named_parameters():
            if name == "types.bias":
                parameter.data += 4  # so that random weights find something
        tagger.save(tmp_path / head, card="")
        export(tmp_path / head, tmp_path / "fast", form="onnx")
        expected = load(str(tmp_path / head), runtime="torch", precision="fp32")(TEXTS)
        for found, wanted in zip(load(str(tmp_path / "fast"))(TEXTS), expected, strict=True):
            assert [replace(entity, score=0) for entity in found] == (
                [replace(entity, score=0) for entity in wanted]
            )
            assert [e.score for e in found] == pytest.approx([e.score for e in wanted], abs=1e-4)
        assert any(expected)
    TextReader(CONFIG, default_tokenizer(), window=window).save(tmp_path / "reader", card="")
    export(tmp_path / "reader", tmp_path / "fast", form="onnx")
    question, context = "去了哪里？", "昨天李华去了杭州。" * 5
    fast, plain = load(str(tmp_path / "fast")), load(str(tmp_path / "reader"), runtime="torch")
    assert fast(question=question, context=context).text == (
        plain(question=question, context=context).text
    )


def test_int8_with_fixed_scales_is_told_and_answers_alone_as_among_others(
    trained: Path, cli: Cli, tmp_path: Path
) -> None:
    dev = reviews(tmp_path / "dev.jsonl")
    arguments = ("export", trained, tmp_path / "fixed", "--format=onnx", "--precision=int8")
    ran = cli(*arguments, "--dev", dev, "--calibration", dev, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["scales"] == "calibrated"
    classify = load(str(tmp_path / "fixed"))
    texts = ["房间很好。", "服务太差，再也不来。", "早餐"]
    assert classify(texts) == [classify([text])[0] for text in texts]
    wrong = ("export", trained, tmp_path / "no", "--format=onnx", "--calibration", dev)
    refused(cli(*wrong), "calibration fixes the scales of onnx in int8; leave it out for onnx fp32")


def test_int8_is_measured_on_a_dev_file_and_refused_if_it_costs_too_much(
    trained: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = reviews(tmp_path / "dev.jsonl")
    arguments = ("export", trained, tmp_path / "fast", "--format=onnx", "--precision=int8")
    ran = cli(*arguments, "--dev", dev)
    assert ran.code == 0, ran.err
    metadata = json.loads((tmp_path / "fast" / EXPORT_METADATA).read_text())
    assert metadata["dev"]["metric"] == "accuracy"
    assert metadata["dev"]["fp32"] - metadata["dev"]["int8"] < 0.005
    assert cli("evaluate", tmp_path / "fast", dev, "--json").code == 0

    def mixed_up(network: Any, outputs: GraphOutputs, **how: Any) -> bytes:
        if how["precision"] == "int8":  # near enough for the parity check, the wrong way round
            network.classifier.bias.data += torch.tensor([9.0, -9.0]) * 1e3
        return onnx_model(network, outputs, **how)

    monkeypatch.setattr("zh_albert.runtimes.exported.onnx_model", mixed_up)
    ran = cli(
        "export", trained, tmp_path / "bad", "--format=onnx", "--precision=int8", "--dev", dev
    )
    assert ran.code == 2
    assert "error:" in ran.err
    assert "points of accuracy" in ran.err
    assert not (tmp_path / "bad").exists()


def test_a_file_that_answers_otherwise_is_not_written(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(network: Any, outputs: GraphOutputs, **how: Any) -> bytes:
        content = onnx_model(network, outputs, **how)
        network.classifier.bias.data += 0.1
        return content

    monkeypatch.setattr("zh_albert.runtimes.exported.onnx_model", other)
    with pytest.raises(CheckpointError, match=r"not written: .* differ .* by 0\.\d+ of the"):
        export(trained, tmp_path / "fast", form="onnx")
    assert not (tmp_path / "fast").exists()


def test_an_export_of_other_weights_is_noticed(trained: Path, tmp_path: Path, cli: Cli) -> None:
    export(trained, tmp_path / "fast", form="onnx")
    classifier = TextClassifier.load(trained)
    classifier.module.classifier.bias.data += 1
    classifier.save(tmp_path / "other", card="")
    shutil.copy(tmp_path / "other" / "model.safetensors", tmp_path / "fast")
    with pytest.raises(CheckpointError, match=r"model\.safetensors: has another content"):
        load(str(tmp_path / "fast"))
    (tmp_path / "fast" / "manifest.json").unlink()
    with pytest.raises(CheckpointError, match="of other weights"):
        load(str(tmp_path / "fast"))
    (tmp_path / "fast" / EXPORT_METADATA).write_text("{}")
    assert "export.json" in cli("predict", tmp_path / "fast").err


@pytest.mark.parametrize(
    ("form", "precision"), [("onnx", "bf16"), ("openvino", "int8"), ("zh_albert", "fp32")]
)
def test_what_a_format_has_not_is_said(
    trained: Path, tmp_path: Path, form: Any, precision: Any
) -> None:
    with pytest.raises(ConfigError, match=f"{form}: expected a precision of .* found {precision}"):
        export(trained, tmp_path / "fast", form=form, precision=precision)


def test_fp16_halves_the_file_and_next_to_nothing_changes(trained: Path, tmp_path: Path) -> None:
    sizes = {}
    for precision, within in (("fp32", 1e-4), ("fp16", 0.01)):
        metadata = export(trained, tmp_path / precision, form="onnx", precision=precision)
        sizes[precision] = (tmp_path / precision / "model.onnx").stat().st_size
        assert metadata["largest_difference"] < within
    graph = 30_000  # bytes, beside the weights
    assert sizes["fp16"] < sizes["fp32"] / 2 + graph


def test_an_older_opset_is_written_opened_and_named(
    trained: Path, tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "fast"
    for precision, near in (("fp32", 2e-6), ("int8", 0.05)):
        ran = cli("export", trained, out, "--format=onnx", "--precision", precision, "--opset=17")
        assert ran.code == 0, ran.err
        assert json.loads((out / EXPORT_METADATA).read_text())["opset"] == 17
        assert [one.version for one in onnx.load(out / "model.onnx").opset_import] == [17]
        expected = scores(trained, runtime="torch", precision="fp32")
        np.testing.assert_allclose(scores(out), expected, atol=near)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format=onnx", "--opset=18"), "expected an opset of 17 or 23, found 18"),
        (("--format=openvino", "--opset=17"), "an opset is of the format onnx; leave it out"),
    ],
)
def test_an_opset_that_is_not_written_is_refused(
    trained: Path, tmp_path: Path, cli: Cli, arguments: tuple[str, ...], said: str
) -> None:
    ran = cli("export", trained, tmp_path / "fast", *arguments)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert said in ran.err
    assert not (tmp_path / "fast").exists()


def test_a_stream_reads_no_more_than_two_pools_ahead(trained: Path) -> None:
    drawn = 0

    def lines() -> Any:
        nonlocal drawn
        for _ in range(20_000):
            drawn += 1
            yield "房间很好。"

    first = next(iter(load(str(trained)).stream(lines())))
    assert first.label == "positive"
    assert drawn <= 2 * 2048


def test_another_model_is_not_replaced_but_an_export_is(
    trained: Path, tmp_path: Path, cli: Cli
) -> None:
    kept = tmp_path / "kept"
    shutil.copytree(trained, kept, ignore=shutil.ignore_patterns("training"))
    ran = cli("export", trained, kept, "--format", "onnx")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "holds a model already" in ran.err
    assert not (kept / EXPORT_METADATA).exists()
    for _ in range(2):
        assert cli("export", trained, tmp_path / "fast", "--format", "onnx").code == 0


def test_a_model_exported_into_its_own_folder_is_not_replaced(
    trained: Path, tmp_path: Path, cli: Cli
) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(trained, mine, ignore=shutil.ignore_patterns("training"))
    for _ in range(2):  # itself, as often as one likes
        assert cli("export", mine, mine, "--format", "onnx").code == 0
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    ran = cli("export", trained, mine, "--format", "onnx")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "holds a model already" in ran.err
    assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before
    # Its own export is no only copy, also of a version before, which has to be made again.
    fast = tmp_path / "fast"
    assert cli("export", mine, fast, "--format", "onnx").code == 0
    (fast / EXPORT_METADATA).write_text("{", encoding="utf-8")
    assert cli("export", mine, fast, "--format", "onnx").code == 0


def test_a_model_saved_over_an_export_is_the_one_that_answers(
    trained: Path, tmp_path: Path
) -> None:
    out = tmp_path / "fast"
    export(trained, out, form="onnx")
    classifier = TextClassifier.load(trained)
    classifier.module.classifier.bias.data += torch.tensor([9.0, 0.0])
    classifier.save(out, card="", dtype=torch.float32)
    assert [answer.label for answer in load(out)(TEXTS)] == [classifier.labels[0]] * len(TEXTS)
