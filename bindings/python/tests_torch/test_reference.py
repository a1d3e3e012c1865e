"""Where PyTorch is, the API reference is whole."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import reference


def test_the_reference_has_every_module(tmp_path):
    modules = reference.build(tmp_path)
    assert modules == ["ldlf", *(f"ldlf.{name}" for name in reference.MODULES)]
    page = (tmp_path / "ldlf" / "torch.html").read_text()
    for name in sys.modules["ldlf.torch"].__all__:
        assert f'id="{name}"' in page, name
