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
