"""What must work in an environment with nothing but the wheel and what it requires: a fit, files, the command."""

import subprocess
import sys
import tempfile
from pathlib import Path

import ldlf
from ldlf.datasets import make_mixture

X, votes = make_mixture(300, votes=20)
model = ldlf.LDLForest(trees=3, depth=4, iterations=100, min_iterations=100, label_values=[1, 2, 3, 4, 5]).fit(X, votes)
assert model.predict(X).shape == (300, 5) and model.predict_mean(X).shape == (300,)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.ldlf"
    model.save(path)
    assert ldlf.load(path).score(X, votes) == model.score(X, votes)
    told = subprocess.run(
        [sys.executable, "-m", "ldlf", "inspect", str(path)], check=True, capture_output=True, text=True
    ).stdout
assert "sldlf" in told, told
version = subprocess.run(["ldlf", "--version"], check=True, capture_output=True, text=True).stdout.split()
assert version[:2] == ["ldlf", ldlf.__version__], version
print(f"ldlf {ldlf.__version__} works")
