"""The API reference is built without a warning and names all that is public."""

import subprocess
import sys
from pathlib import Path

import ldlf

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import reference


def test_the_reference_names_everything_public(tmp_path):
    modules = reference.build(tmp_path)
    assert {"ldlf", "ldlf.dask", "ldlf.plot", "ldlf.scorers"} <= set(modules)
    for module in modules:
        page = (tmp_path / module.replace(".", "/")).with_suffix(".html").read_text()
        for name in getattr(sys.modules[module], "__all__", []):
            assert f'id="{name}"' in page, f"{module}.{name}"
    dead_links = Path(__file__).resolve().parents[3] / "docs" / "theme" / "dead_links.py"
    found = subprocess.run([sys.executable, dead_links, tmp_path], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
    assert "LDLForestAuto" in ldlf.__all__
