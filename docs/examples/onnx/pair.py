"""Compare pairs of sentences with an exported ``model.onnx``, without zh-albert and PyTorch.

pip install onnxruntime tokenizers
zh-albert export nli fast --format onnx
python pair.py fast 他在北京工作 他有工作 他在北京工作 他失业了
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from tokenizers import BertWordPieceTokenizer

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it reports its use to Microsoft otherwise
import onnxruntime

folder, *texts = sys.argv[1:]
task = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))["zh_albert"]["task"]
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=True)
tokenizer.enable_padding()
tokenizer.enable_truncation(task["max_length"])  # this library reads longer texts in windows
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

encoded = tokenizer.encode_batch(list(zip(texts[::2], texts[1::2], strict=True)))
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
feeds = {name: np.array([getattr(one, field) for one in encoded]) for name, field in names.items()}
for row in session.run(None, feeds)[0]:  # (pairs, labels), or one value a pair, normalised
    if task["head"] == "regression":
        print(task["mean"] + task["spread"] * row[0])
    else:
        print(task["labels"][row.argmax()], np.exp(row.max()) / np.exp(row).sum())
