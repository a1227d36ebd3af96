"""Classify texts with an exported ``model.onnx``, without zh-albert and without PyTorch.

pip install onnxruntime tokenizers
zh-albert export sentiment fast --format onnx
python onnx_without_this_library.py fast 房间很干净 服务太差
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import BertWordPieceTokenizer

folder, *texts = sys.argv[1:]
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=True)
tokenizer.enable_padding()
tokenizer.enable_truncation(128)  # the model's window; this library reads longer texts in several
config = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))
labels = config["zh_albert"]["task"]["labels"]
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

encoded = tokenizer.encode_batch(texts)
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
feeds = {name: np.array([getattr(one, field) for one in encoded]) for name, field in names.items()}
logits = session.run(None, feeds)[0]
odds = np.exp(logits)
for row in odds / odds.sum(-1, keepdims=True):
    print(labels[row.argmax()], row.max())
