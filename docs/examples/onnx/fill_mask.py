"""Fill masks with an exported encoder's ``model.onnx``, without zh-albert and without PyTorch.

pip install onnxruntime tokenizers
zh-albert export encoder fast --format onnx
python fill_mask.py fast 今天天气很[MASK]。
"""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
from tokenizers import BertWordPieceTokenizer

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it reports its use to Microsoft otherwise
import onnxruntime

folder, *texts = sys.argv[1:]
settings = json.loads(Path(folder, "tokenizer_config.json").read_text(encoding="utf-8"))
wide = range(0xFF01, 0xFF5F) if settings["fold_width"] else ()  # signs to read as ASCII
narrow = {sign: sign - 0xFEE0 for sign in wide if chr(sign) not in "！（），：；？～"}
tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=settings["do_lower_case"])
session = onnxruntime.InferenceSession(f"{folder}/model.onnx", providers=["CPUExecutionProvider"])
rows = Path(folder, "vocab.txt").read_text(encoding="utf-8").splitlines()
hidden = [re.fullmatch(r"\[\w+\]|##[㐀-鿿]", row) is not None for row in rows]  # not text's own

for text in texts:  # several masks are filled each by itself; this library fills them together
    encoded = tokenizer.encode(text.translate(narrow))
    names = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
    feeds = {name: np.array([getattr(encoded, field)]) for name, field in names.items()}
    (logits,) = session.run(["logits"], feeds)  # (texts, tokens, vocabulary)
    for row in logits[0, np.array(encoded.ids) == rows.index("[MASK]")]:
        odds = np.exp(row - row.max())
        shares = np.where(hidden, 0, odds / odds.sum())
        for best in shares.argsort()[:-6:-1]:
            print(rows[best].removeprefix("##"), shares[best])
