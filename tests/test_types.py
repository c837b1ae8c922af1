"mypy over the annotations of public names; functions without annotations are not checked."

import subprocess
import sys
from pathlib import Path


def test_types_are_consistent():
    command = [sys.executable, "-m", "mypy"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
