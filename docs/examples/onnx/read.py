"""Answer a question by a passage with an exported ``model.onnx``, without zh-albert and PyTorch.

pip install onnxruntime tokenizers
zh-albert export reader fast --format onnx
python read.py fast 李华去了哪里？ 昨天李华坐火车去了杭州。
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from tokenizers import BertWordPieceTokenizer

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it reports its use to Microsoft otherwise
import onnxruntime

folder, question, context = sys.argv[1:]
task = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))["zh_albert"]["task"]
settings = json.loads(Path(folder, "tokenizer_config.json").read_text(encoding="utf-8"))
wide = range(0xFF01, 0xFF5F) if settings["fold_width"] else ()  # signs to read as ASCII
narrow = {sign: sign - 0xFEE0 for sign in wide if chr(sign) not in "！（），：；？～"}
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=settings["do_lower_case"])
tokenizer.enable_truncation(task["max_length"], stride=task["stride"], strategy="only_second")
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

found = (task["threshold"] if task["threshold"] is not None else -np.inf, "")
encoded = tokenizer.encode(question.translate(narrow), context.translate(narrow))
for window in (encoded, *encoded.overflowing):
    names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
    feeds = {name: np.array([getattr(window, field)]) for name, field in names.items()}
    starts, ends = session.run(None, feeds)[0][0].T  # (start and end, tokens)
    odds = starts[:, None] + ends - starts[0] - ends[0]  # against "not in this window", [CLS]
    places = np.arange(len(starts))
    tokens = np.maximum(places - places[:, None] + 1, 1)  # of an answer, by its first and last
    parts, ids = np.array(window.sequence_ids), np.array(window.ids)
    asked = np.isin(ids, ids[parts == 0])  # what the question says, too
    counts = np.cumsum(asked)
    repeated = (counts - counts[:, None] + asked[:, None]) / tokens
    odds -= task.get("length_penalty", 0) * np.log(tokens)
    odds -= task.get("repeat_penalty", 0) * repeated
    words = [context[start:end] not in "，。；：、,;:" for start, end in window.offsets]
    edges = (parts == 1) & words  # an answer ends with no comma
    allowed = np.triu(np.outer(edges, edges)) & ~np.triu(np.ones_like(odds, bool), task["stride"])
    first, last = np.unravel_index(np.where(allowed, odds, -np.inf).argmax(), odds.shape)
    answer = context[window.offsets[first][0] : window.offsets[last][1]]
    found = max(found, (odds[first, last], answer))
print(found[1])
