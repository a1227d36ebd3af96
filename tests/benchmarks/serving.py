"""Load test of a server: many clients, valid and invalid requests, every answer checked.

Run: python tests/benchmarks/serving.py [MODELS] --json [--clients 50] [--seconds 60] [--quick]
     python tests/benchmarks/serving.py [MODELS] --json --clients 10 --slow 300 [--open-files 256]

Serves classifiers (the bundled ``sentiment`` and ``news``) to clients in this process, which share
the cores with the server. ``wrong`` counts answers that differ from those for the text alone,
``lost`` counts requests without an answer; both should be 0. ``requests_per_cpu_second`` refers to
the server's CPU time, so it is meaningful on a busy machine, too. ``--slow`` adds clients that send
nothing, or half of a request and then a byte a second; ``slow_closed_after_s`` says after how many
seconds the first and the last of them were closed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.served import run_load, serving, slow_clients

PIECES = [
    "房间很干净",
    "服务也好",
    "味道太差了",
    "再也不来",
    "股市今天大涨",
    "球队赢了",
    "早餐不错",
]


def texts(count: int) -> list[str]:
    """Return random texts; lengths are lognormal, median 25 characters, 95th percentile 120."""
    rng = random.Random(0)
    made = []
    for _ in range(count):
        length = max(1, min(512, round(rng.lognormvariate(3.22, 0.95))))
        made.append("，".join(rng.choice(PIECES) for _ in range(length // 5 + 1))[:length])
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["sentiment", "news"], help="classifiers")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--slow", type=int, default=0, help="slow clients beside them")
    parser.add_argument("--open-files", type=int, default=0, help="limit of the server's system")
    parser.add_argument("--quick", action="store_true", help="20 seconds")
    options = parser.parse_args()
    seconds = 20.0 if options.quick else options.seconds
    models = {Path(model).name: model for model in options.models}
    with serving(*options.models, open_files=options.open_files) as server:
        before = server.metric("process_cpu_seconds_total")
        with slow_clients(server, next(iter(models)), options.slow, wait_s=90) as slow:
            load = run_load(
                server,
                models,
                {name: texts(200) for name in models},
                clients=options.clients,
                seconds=seconds,
            )
        cpu_s = server.metric("process_cpu_seconds_total") - before
        batches, asked = (
            sum(server.metric(f"zh_albert_batch_texts_{what}", model=name) for name in models)
            for what in ("count", "sum")
        )
    result = {
        "clients": options.clients,
        **load.report(),
        "requests_per_cpu_second": round(sum(load.statuses.values()) / cpu_s, 1),
        "texts_per_batch": round(asked / batches, 1),
        "first_wrong": load.wrong[:3],
        **(slow.report() if options.slow else {}),
    }
    print(json.dumps(result) if options.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
