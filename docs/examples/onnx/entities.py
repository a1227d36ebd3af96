"""Find entities with an exported ``model.onnx`` (heads softmax and crf), without zh-albert.

pip install onnxruntime tokenizers safetensors
zh-albert export ner fast --format onnx  # or ner-msra, or your own
python entities.py fast 李华在北京大学读书
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from ngrams import opened, tag_scores  # the file beside this one
from safetensors import safe_open
from tokenizers import BertWordPieceTokenizer

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it reports its use to Microsoft otherwise
import onnxruntime

folder, *texts = sys.argv[1:]
task = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))["zh_albert"]["task"]
tags = np.array(task["tags"])
with safe_open(f"{folder}/model.safetensors", "np") as file:  # others may be of no type of NumPy
    learned = {k: file.get_tensor(k).astype(float) for k in [*file.keys()] if "trans" in k}
settings = json.loads(Path(folder, "tokenizer_config.json").read_text(encoding="utf-8"))
wide = range(0xFF01, 0xFF5F) if settings["fold_width"] else ()  # signs to read as ASCII
narrow = {sign: sign - 0xFEE0 for sign in wide if chr(sign) not in "！（），：；？～"}
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=settings["do_lower_case"])
tokenizer.enable_truncation(task["max_length"])  # this library reads longer texts in windows
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

# I and E continue B or I of their type; what has begun (B, I) may end only without end tags (BIO).
begun, goes_on = (np.array([tag[0] in parts for tag in tags]) for parts in ("BI", "IE"))
kinds, ends = np.array([tag[2:] for tag in tags]), ~begun | ~(np.char.find(tags, "E-") == 0).any()
legal = np.where(goes_on, begun[:, None] & (kinds[:, None] == kinds), ends[:, None])
grams, share = opened(folder), task.get("ngrams", {}).get("share", 0)
start, between, end = (  # the network's and the n-grams'
    (1 - share) * learned.get(name, 0.0) + share * grams.get(name, 0.0)
    for name in ("transitions.start", "transitions.between", "transitions.end")
)
moves = np.where(legal, between, -1e4)
before, after = np.where(goes_on, -1e4, start), np.where(ends, end, -1e4)
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
for text in texts:
    encoded = tokenizer.encode(text.translate(narrow))
    feeds = {name: np.array([getattr(encoded, field)]) for name, field in names.items()}
    scores = session.run(None, feeds)[0][0, 1:-1]  # (tokens, tags)
    if grams:
        scores = (1 - share) * scores + share * tag_scores(grams, encoded.ids[1:-1])
    best, origins, begin = before + scores[:1].sum(0), [], 0  # a blank text has no token
    for row in scores[1:]:
        paths = best[:, None] + moves
        origins, best = [*origins, paths.argmax(0)], paths.max(0) + row
    path = [(best + after).argmax()]
    for origin in reversed(origins):
        path = [origin[path[0]], *path]
    found = [*tags[path], "O"]
    for (start, end), tag, after_it in zip(encoded.offsets[1:-1], found, found[1:], strict=False):
        begin = start if tag[0] in "BS" else begin
        if tag != "O" and after_it[0] not in "IE":
            print(text[begin:end], tag[2:], begin, end)
