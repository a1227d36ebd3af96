"""Compare pairs of sentences with an exported ``model.onnx``, without zh-albert and PyTorch.

Answers are those of the model alone; zh-albert changes them for texts that look alike and say
different things (``different_at_most`` and ``different_adds`` in ``config.json``).

pip install onnxruntime tokenizers
zh-albert export nli fast --format onnx  # or similarity, or your own
python pair.py fast 他在北京工作 他有工作 他在北京工作 他失业了
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
pairs = list(zip(texts[::2], texts[1::2], strict=True))
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
outputs = []
for order in (1, -1) if task.get("symmetric") else (1,):  # both orders count
    encoded = tokenizer.encode_batch([pair[::order] for pair in pairs])
    feeds = {name: np.array([getattr(e, field) for e in encoded]) for name, field in names.items()}
    outputs.append(session.run(None, feeds)[0])
logits = np.mean(outputs, axis=0)  # (pairs, labels), or one value a pair, normalised
if grams := opened(folder):
    tokens = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    added = [margins(grams, *tokens[at : at + 2]) for at in range(0, len(tokens), 2)]
    logits = task["ngrams"]["scale"] * (logits + task["ngrams"]["weight"] * np.array(added))
for row in logits:
    if task["head"] == "regression":
        print(task["mean"] + task["spread"] * row[0])
    else:
        print(task["labels"][row.argmax()], np.exp(row.max()) / np.exp(row).sum())
