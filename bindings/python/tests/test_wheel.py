"""What the package brings beside the estimators: the command, licences, one version."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import ldlf
import numpy as np
import pytest
from ldlf.datasets import load_mat, public_sets
from scipy import io

PACKAGE = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[1]
SCRIPT = str(Path(sys.executable).parent / "ldlf")


def run(*call, **options):
    return subprocess.run(call, capture_output=True, text=True, timeout=60, **options)


@pytest.mark.parametrize("program", [[SCRIPT], [sys.executable, "-m", "ldlf"]])
def test_the_wheel_has_the_command(program, tmp_path):
    table, model = tmp_path / "votes.csv", tmp_path / "mean.ldlf"
    made = run(*program, "-q", "generate", "mixture", "--rows", "60", "--votes", "9", "--out", str(table))
    assert (made.returncode, made.stderr) == (0, "")
    run(*program, "train", str(table), "--labels", "votes_*", "--learner", "mean", "--out", str(model), check=True)
    assert ldlf.load(model).classes_.tolist() == [f"votes_{label}" for label in range(1, 6)]
    refused = run(*program, "predict", str(model), str(tmp_path / "none.csv"), "--out", "-")
    assert refused.returncode == 2 or refused.returncode == 3
    assert refused.stderr.startswith("error: ") and "none.csv" in refused.stderr
    assert run(*program, "--version").stdout.splitlines()[0] == f"ldlf {ldlf.__version__}"
    assert run(*program, "trian").returncode == 2


def test_the_command_starts_without_scikit_learn():
    code = "import sys, ldlf._command; print([m for m in ('numpy', 'sklearn', 'scipy') if m in sys.modules])"
    assert run(sys.executable, "-c", code).stdout == "[]\n"


def test_every_public_name_is_found_and_others_are_not():
    scope = {}
    exec("from ldlf import *", scope)
    assert {"LDLForest", "load", "LEARNERS", "LDLForestRegressor"} <= set(scope)
    assert set(ldlf.__all__) <= set(dir(ldlf))
    for name in ("LDLForrest", "_nothing", "__nothing__"):
        assert not hasattr(ldlf, name)


def test_acronyms_lead_to_the_names_of_today():
    for former, learner in ldlf._FORMER.items():
        with pytest.warns(DeprecationWarning, match=f"ldlf.{former} is now called ldlf."):
            assert getattr(ldlf, former) is ldlf.LEARNERS[learner]
        assert former not in ldlf.__all__


def test_licences_are_those_of_the_repository_and_third_parties_are_named():
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (PACKAGE / name).read_bytes() == (REPOSITORY / name).read_bytes()
    sys.path.insert(0, str(PACKAGE / "tools"))
    import third_party

    try:
        linked = third_party.crates()
    except FileNotFoundError:
        pytest.skip("cargo is not installed")
    named = {line.split()[0] for line in third_party.TARGET.read_text().split("=====")[0].splitlines() if ": " in line}
    missing = {name for name, _, _ in linked} - named
    assert not missing, f"run tools/third_party.py: {missing}"
    assert all(licence for _, _, licence in linked)
    # The program of a release is built with all that the command can do.
    assert {"burn", "parquet"} <= {name for name, _, _ in third_party.crates("ldlf-cli")} - {
        name for name, _, _ in linked
    }


def test_the_version_stands_in_one_place():
    told = (REPOSITORY / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', told, re.M)[1]
    assert set(re.findall(r'path = "crates/[a-z-]+", version = "(.*?)"', told)) == {version}
    assert importlib.metadata.version("ldlf") == ldlf.__version__ == version
    assert f'version: "{version}"' in (PACKAGE / "conda" / "recipe.yaml").read_text()


def test_the_recipe_for_conda_is_one_and_needs_what_the_wheel_needs():
    from rattler_build import Stage0Recipe, VariantConfig

    recipe = Stage0Recipe.from_file(PACKAGE / "conda" / "recipe.yaml")
    tools = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "rust_compiler": ["rust"]}
    (rendered,) = recipe.render(VariantConfig({"python_min": ["3.10"], **tools}))
    assert rendered.recipe.about.license == importlib.metadata.metadata("ldlf")["License-Expression"]
    needed = [one for one in importlib.metadata.requires("ldlf") if "extra ==" not in one]
    assert {one.replace(" ", "") for one in rendered.recipe.requirements.run} == {*needed, "python"}
    assert rendered.recipe.requirements.host[0] == "python 3.10.*"


def test_metadata_are_complete():
    found = importlib.metadata.metadata("ldlf")
    links = dict(link.split(", ") for link in found.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(links)
    assert found["License-Expression"] == "MIT OR Apache-2.0"
    assert set(found.get_all("License-File")) == {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"}
    assert "all" in found.get_all("Provides-Extra")


def test_links_of_the_readme_lead_somewhere_from_the_package_index():
    for link in re.findall(r"\]\(([^)]*)\)", (PACKAGE / "README.md").read_text()):
        assert link.startswith("https://"), link
        path = link.removeprefix("https://github.com/ldlf/ldlf/blob/main/")
        assert path == link or (REPOSITORY / path).is_file(), link


def test_a_matlab_file_is_read(tmp_path):
    path = tmp_path / "set.mat"
    X, y = np.arange(12.0).reshape(4, 3) + 1, np.array([[0.25, 0.75]] * 4)
    io.savemat(path, {"features": X, "labels": y})
    found, labels = load_mat(path)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_allclose(labels, y)
    with pytest.raises(FileNotFoundError, match=r"public_sets\(\) says where to get each set"):
        load_mat(tmp_path / "none.mat")
    path.write_bytes(b"no matlab")
    with pytest.raises(ValueError, match="set.mat|not a"):
        load_mat(path)


def test_every_public_set_says_where_it_comes_from():
    assert len(public_sets()) == 18
    assert all(found.get and found.cite and found.licence for found in public_sets().values())


def test_what_releases_try_works_here():
    path = f"{Path(SCRIPT).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    tried = run(sys.executable, PACKAGE / "tools" / "smoke.py", env={**os.environ, "PATH": path})
    assert (tried.returncode, tried.stdout) == (0, f"ldlf {ldlf.__version__} works\n"), tried.stderr
