"""Find entities with an exported ``model.onnx`` (head span), without zh-albert and PyTorch.

pip install onnxruntime tokenizers
zh-albert finetune --task ner --set model.head=span --train train.jsonl --dev dev.jsonl --out mine
zh-albert export mine fast --format onnx
python entities_by_borders.py fast 李华在北京大学读书
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
settings = json.loads(Path(folder, "tokenizer_config.json").read_text(encoding="utf-8"))
wide = range(0xFF01, 0xFF5F) if settings["fold_width"] else ()  # signs to read as ASCII
narrow = {sign: sign - 0xFEE0 for sign in wide if chr(sign) not in "！（），：；？～"}
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=settings["do_lower_case"])
tokenizer.enable_truncation(task["max_length"])  # this library reads longer texts in windows
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

for text in texts:
    encoded = tokenizer.encode(text.translate(narrow))
    names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
    feeds = {name: np.array([getattr(encoded, field)]) for name, field in names.items()}
    borders = session.run(None, feeds)[0][0, 1:-1] > 0  # (tokens, types, start and end)
    for kind, label in enumerate(task["labels"]):
        starts, ends = (borders[:, kind, border].nonzero()[0].tolist() for border in (0, 1))
        for start, following in zip(starts, [*starts[1:], len(borders)], strict=False):
            if here := [end for end in ends if start <= end < following]:
                left, right = encoded.offsets[1 + start][0], encoded.offsets[1 + here[0]][1]
                print(text[left:right], label, left, right)
