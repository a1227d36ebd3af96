"""Classify texts with an exported ``model.onnx``, without zh-albert and without PyTorch.

pip install onnxruntime tokenizers
zh-albert export sentiment fast --format onnx  # or news, or your own
python classify.py fast 房间很干净 服务太差
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from ngrams import margins, opened  # the file beside this one
from tokenizers import BertWordPieceTokenizer

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it reports its use to Microsoft otherwise
import onnxruntime

folder, *texts = sys.argv[1:]
task = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))["zh_albert"]["task"]
settings = json.loads(Path(folder, "tokenizer_config.json").read_text(encoding="utf-8"))
wide = range(0xFF01, 0xFF5F) if settings["fold_width"] else ()  # signs to read as ASCII
narrow = {sign: sign - 0xFEE0 for sign in wide if chr(sign) not in "！（），：；？～"}
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=settings["do_lower_case"])
tokenizer.enable_padding()
tokenizer.enable_truncation(task["max_length"])  # this library reads longer texts in windows
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

texts = [text.translate(narrow) for text in texts]
if not all(map(str.strip, texts)):
    sys.exit("a text is empty: there is nothing to classify")
encoded = tokenizer.encode_batch(texts)
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
feeds = {name: np.array([getattr(one, field) for one in encoded]) for name, field in names.items()}
logits = session.run(None, feeds)[0]  # (texts, labels)
if grams := opened(folder):
    added = [margins(grams, tokenizer.encode(t, add_special_tokens=False).ids) for t in texts]
    logits = task["ngrams"]["scale"] * (logits + task["ngrams"]["weight"] * np.array(added))
for row in logits:
    if task["head"] == "multi_label":
        given = 1 / (1 + np.exp(-row)) >= task["threshold"]
        print(*np.array(task["labels"])[given])
    elif task["head"] == "regression":
        print(task["mean"] + task["spread"] * row[0])
    else:
        print(task["labels"][row.argmax()], np.exp(row.max()) / np.exp(row).sum())
