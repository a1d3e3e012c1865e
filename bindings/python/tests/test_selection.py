"""Cloning, pickling, searching, stacking: what scikit-learn does with an estimator."""

import copy
import multiprocessing
import pickle

import joblib
import numpy as np
import pytest
from ldlf import KNeighborsLDL, LDLForest, LDLForestClassifier, MeanLDL
from ldlf.scorers import SCORERS, MeasureScorer, neg_kl
from quick import every_estimator, quick
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.mark.parametrize("estimator", every_estimator(), ids=lambda e: type(e).__name__)
def test_a_pickle_holds_the_model_files_bytes(estimator):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.repeat([1, 2, 3], 20)
    estimator.fit(X, y)
    restored = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(restored.predict(X), estimator.predict(X))
    assert restored.to_bytes() == estimator.to_bytes()
    assert estimator.to_bytes() in pickle.dumps(estimator)


def test_joblib_and_deepcopy_keep_the_model(distributions, tmp_path):
    model = quick(LDLForest).fit(*distributions)
    joblib.dump(model, tmp_path / "model.joblib")
    for restored in (joblib.load(tmp_path / "model.joblib"), copy.deepcopy(model)):
        np.testing.assert_array_equal(restored.predict(distributions[0]), model.predict(distributions[0]))


def test_clone_copies_parameters_only(distributions):
    model = LDLForest(trees=3, n_jobs=2).fit(*distributions)
    copied = clone(model)
    assert copied.get_params() == model.get_params() and not hasattr(copied, "model_")


def test_a_grid_search_over_a_pipeline(distributions):
    X, y = distributions
    pipeline = make_pipeline(StandardScaler(), KNeighborsLDL())
    search = GridSearchCV(pipeline, {"kneighborsldl__neighbors": [1, 10, 100]}, cv=3, scoring=neg_kl).fit(X, y)
    assert search.best_params_ == {"kneighborsldl__neighbors": 10}
    assert search.predict(X).shape == y.shape
    assert search.score(X, y) == pytest.approx(search.best_estimator_.score(X, y), abs=1e-6)


def test_cross_validation_in_several_processes_gives_the_same_scores(distributions):
    X, y = distributions
    scoring = {name: SCORERS[name] for name in ("neg_kl", "intersection", "neg_chebyshev")}
    runs = [cross_validate(quick(LDLForest), X, y, cv=3, scoring=scoring, n_jobs=jobs) for jobs in (1, 2)]
    for name in scoring:
        np.testing.assert_array_equal(runs[0][f"test_{name}"], runs[1][f"test_{name}"])
    assert runs[0]["test_neg_kl"].max() < 0 < runs[0]["test_intersection"].min()


def fitted_bytes(data):
    return quick(LDLForest, n_jobs=2).fit(*data).to_bytes()


def test_a_forked_process_fits_after_its_parent_did(distributions):
    here = fitted_bytes(distributions)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(fitted_bytes, [distributions] * 2) == [here, here]


def test_ordered_scorers_are_errors(ages):
    X, age = ages
    model = KNeighborsLDL(neighbors=5).fit(X, age)
    assert SCORERS["neg_mae_mean"](model, X, age) == pytest.approx(-np.abs(model.predict_mean(X) - age).mean())
    assert SCORERS["neg_mae_mode"](model, X, age) == pytest.approx(-np.abs(model.predict_label(X) - age).mean())
    assert SCORERS["neg_mae_median"](model, X, age) == pytest.approx(-np.abs(model.predict_quantile(X) - age).mean())
    assert SCORERS["cs_5"](model, X, age) == pytest.approx((np.abs(model.predict_label(X) - age) <= 5).mean())


def test_ordered_scorers_read_distributions_as_they_read_predictions(ages):
    X, age = ages
    model = KNeighborsLDL(neighbors=5).fit(X, age)
    truth = np.eye(len(model.classes_))[np.searchsorted(model.classes_, age)]
    for name in ("neg_mae_mode", "neg_mae_mean", "neg_mae_median", "cs_5"):
        assert SCORERS[name](model, X, truth) == pytest.approx(SCORERS[name](model, X, age)), name


def test_a_scorer_of_an_unknown_measure_is_refused():
    with pytest.raises(ValueError, match="measure must be one of kl, .*, got 'mae_label'"):
        MeasureScorer("mae_label")


def test_set_output_of_the_steps_before_gives_the_names(distributions):
    pipeline = make_pipeline(StandardScaler(), quick(LDLForest)).set_output(transform="pandas")
    import pandas as pd

    X = pd.DataFrame(distributions[0], columns=list("abcdef"))
    pipeline.fit(X, distributions[1])
    assert pipeline[-1].feature_names_in_.tolist() == list("abcdef")


def test_the_classifier_stacks_votes_and_is_calibrated():
    X, y = load_iris(return_X_y=True)
    forest = LDLForestClassifier(trees=5, depth=4, min_iterations=200, epochs=1)
    others = [("forest", forest), ("linear", LogisticRegression(max_iter=1000))]
    for model in (
        StackingClassifier(others, cv=3),
        VotingClassifier(others, voting="soft"),
        CalibratedClassifierCV(forest, cv=3),
    ):
        assert model.fit(X, y).score(X, y) > 0.9, model


def test_the_floor_scores_below_a_learner(distributions):
    X, y = distributions
    assert neg_kl(MeanLDL().fit(X, y), X, y) < neg_kl(KNeighborsLDL(neighbors=3).fit(X, y), X, y) < 0
