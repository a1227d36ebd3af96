"""``zh-corpora`` on a cluster: Slurm with stand-ins for its commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Small files share a task or a part; here each gets its own. Tasks run in other processes, so it
# cannot be patched there.
PROGRAM = (
    "from corpora_tools import build, folders; from corpora_tools.cli import app as cli; "
    "folders._TASK_BYTES = build._PART_BYTES = 1; cli.main()"
)

# What a cluster's commands do, as far as datatrove asks: run a script once for each task.
SBATCH = f"""#!{sys.executable}
import os, pathlib, re, subprocess, sys
*options, script = sys.argv[1:]
text = pathlib.Path(script).read_text()
log = pathlib.Path(os.environ["FAKE_SLURM"])
log.joinpath("scripts").open("a").write(text)
print("Submitted batch job 7")
codes = []
for task in range(int(re.search(r"--array=0-(\\d+)", text)[1]) + 1):
    environment = dict(os.environ, SLURM_ARRAY_TASK_ID=str(task), SLURM_NODELIST="here")
    done = subprocess.run(["bash", script], env=environment, capture_output=True)
    codes.append(done.returncode)
sys.exit(max(codes))
"""
COMMANDS = {
    "sbatch": SBATCH,
    "srun": '#!/bin/bash\nshift 3\nexec "$@"\n',  # -l -n 1
    "scontrol": "#!/bin/bash\necho here\n",
}


def zh_corpora(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
