"""The examples with training loops of other libraries learn."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("name", ["torch_lightning", "torch_trainer"])
def test_the_example_learns(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    found = re.search(r"K-L on new rows: (\S+)", run.stdout)
    assert found, run.stderr
    # The mean distribution has 0.44.
    assert float(found[1]) < 0.3
