"""Find entities with an exported ``model.onnx`` (head global_pointer), without zh-albert.

pip install onnxruntime tokenizers
zh-albert finetune --task ner --set model.head=global_pointer --train train.jsonl --dev dev.jsonl \
  --out mine
zh-albert export mine fast --format onnx
python entities_by_pairs.py fast 李华在北京大学读书
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
    scores = session.run(None, feeds)[0][0, :, 1:-1, 1:-1]  # (types, first token, last token)
    for kind, first, last in np.argwhere(np.triu(scores) > 0).tolist():
        left, right = encoded.offsets[1 + first][0], encoded.offsets[1 + last][1]
        print(text[left:right], task["labels"][kind], left, right)
