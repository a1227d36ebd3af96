"""Settings and fixtures that several kinds of tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# One thread a test process: xdist runs as many processes as there are cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

# Where a shell has started the tests in the background, they and their children ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "project", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")

ROOT = Path(__file__).parent.parent

# Run by a test in an environment that has TensorFlow.
collect_ignore = ["golden/tensorflow_process.py"]


@pytest.fixture(scope="session")
def data() -> Path:
    """The task datasets and the corpus; tests that need them are skipped where they are not."""
    folder = Path(os.environ.get("ZH_ALBERT_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "tasks").is_dir():
        pytest.skip("needs the datasets: set ZH_ALBERT_DATA to the folder that holds tasks/")
    return folder


@pytest.fixture(scope="session")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model folder of an untrained encoder, small enough to train in a second."""
    from tests.helpers.micro import save_micro_encoder

    return save_micro_encoder(tmp_path_factory.mktemp("micro") / "micro")
