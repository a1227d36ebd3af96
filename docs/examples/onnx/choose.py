"""Choose an answer with an exported ``model.onnx``, without zh-albert and without PyTorch.

pip install onnxruntime tokenizers
zh-albert finetune --task choice --train train.jsonl --dev dev.jsonl --out mine
zh-albert export mine fast --format onnx
python choose.py fast 昨天李华坐火车去了杭州。 李华怎么去的？ 开车 坐火车 坐飞机
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from tokenizers import BertWordPieceTokenizer

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it reports its use to Microsoft otherwise
import onnxruntime

folder, context, question, *choices = sys.argv[1:]
task = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))["zh_albert"]["task"]
settings = json.loads(Path(folder, "tokenizer_config.json").read_text(encoding="utf-8"))
wide = range(0xFF01, 0xFF5F) if settings["fold_width"] else ()  # signs to read as ASCII
narrow = {sign: sign - 0xFEE0 for sign in wide if chr(sign) not in "！（），：；？～"}
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=settings["do_lower_case"])
tokenizer.enable_padding()
tokenizer.enable_truncation(task["max_length"])  # this library reads the nearest sentences
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

pairs = [(context, f"{question}[SEP]{choice}") for choice in choices]
encoded = tokenizer.encode_batch([tuple(text.translate(narrow) for text in pair) for pair in pairs])
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
feeds = {name: np.array([getattr(one, field) for one in encoded]) for name, field in names.items()}
odds = np.exp(session.run(None, feeds)[0][:, 0])  # (choices,)
for choice, share in zip(choices, odds / odds.sum(), strict=True):
    print(choice, share)
