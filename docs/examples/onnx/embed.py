"""Compare texts by sentence vectors of an exported ``model.onnx``, without zh-albert and PyTorch.

pip install onnxruntime tokenizers
zh-albert export embedder fast --format onnx  # or your own
python embed.py fast 今天天气很好 阳光明媚 股票大跌
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
tokenizer.enable_padding()
tokenizer.enable_truncation(task["max_length"])  # this library reads longer texts in windows
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])

encoded = tokenizer.encode_batch([text.translate(narrow) for text in texts])
names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
feeds = {name: np.array([getattr(one, field) for one in encoded]) for name, field in names.items()}
vectors = session.run(None, feeds)[0]  # (texts, hidden)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
for row in vectors @ vectors.T:  # cosines
    print(*row.round(4))
