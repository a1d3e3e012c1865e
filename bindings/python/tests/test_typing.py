"""What an editor and a type checker see."""

import textwrap

from mypy import api


def said(tmp_path, code):
    """What mypy says of some lines."""
    path = tmp_path / "lines.py"
    path.write_text(textwrap.dedent(code))
    return api.run([str(path), "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")])[0]


def test_fit_gives_the_estimator_and_a_word_that_is_no_option_is_caught(tmp_path):
    found = said(
        tmp_path,
        """
        from ldlf import LDLForest, LDLForestClassifier
        reveal_type(LDLForest().fit([[0.0]], [[1, 0]]))
        reveal_type(LDLForestClassifier.from_preset("best"))
        reveal_type(LDLForest.load("model.ldlf"))
        LDLForest(units="auto", optimizer="sgd")
        LDLForest(optimizer="sdg")
        """,
    )
    assert found.count('Revealed type is "ldlf._estimators.LDLForest"') == 2, found
    assert 'Revealed type is "ldlf._classifier.LDLForestClassifier"' in found
    assert found.count("error:") == 1 and "incompatible type \"Literal['sdg']\"" in found


def test_the_faces_of_the_forest_know_its_parameters(tmp_path):
    found = said(
        tmp_path,
        """
        from ldlf import LDLForestClassifier, LDLForestRegressor
        from ldlf.dask import LDLForest
        LDLForestClassifier(class_weight="balanced", trees=5, optimizer="sgd")
        LDLForestRegressor(estimate="median", depth="auto", warm_start=True)
        reveal_type(LDLForest(virtual_shards=4, batch_size=1024).fit([[0.0]], [[1, 0]]))
        LDLForestClassifier(optimizer="sdg")
        LDLForestRegressor(tree=5)
        LDLForest(trees="five")
        """,
    )
    assert 'Revealed type is "ldlf.dask.LDLForest"' in found, found
    errors = [line for line in found.splitlines() if "error:" in line]
    assert len(errors) == 3, found
    for error, (line, word) in zip(errors, [(7, "sdg"), (8, '"tree"'), (9, "trees")]):
        assert f"lines.py:{line}:" in error and word in error, found
