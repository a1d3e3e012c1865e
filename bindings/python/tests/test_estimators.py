"""What an estimator learns from, and what it answers."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from ldlf import KNeighborsLDL, LDLForest, LDLForestAuto, LDLForestClassifier, MaximumEntropyLDL, MeanLDL
from ldlf.measures import kl
from quick import distribution_learners, quick
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, cross_val_score


@pytest.mark.parametrize("learner", distribution_learners(), ids=lambda cls: cls.__name__)
def test_every_learner_predicts_distributions_and_beats_or_meets_the_floor(learner, distributions):
    X, y = distributions
    model = quick(learner, label_values=[1, 2, 3, 4]).fit(X, y)
    found = model.predict(X)
    assert found.shape == y.shape and found.dtype == np.float32
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(found, model.predict_proba(X))
    assert model.score(X, y) == pytest.approx(-kl(y, found), abs=1e-6)
    # Naive Bayes is over-confident on these rows; AdaptiveIterativeScalingLDL learns a Gaussian around each row's mean instead of its distribution.
    if learner.__name__ not in ("NaiveBayesLDL", "AdaptiveIterativeScalingLDL"):
        assert model.score(X, y) >= MeanLDL().fit(X, y).score(X, y) - 1e-6


def test_the_searching_forest_says_what_it_tried_and_what_it_kept(distributions):
    X, y = distributions
    model = LDLForestAuto(iterations=20).fit(X, y)
    tried = [name for name, _ in model.inspection_ if name.startswith("tried ")]
    assert "tried sldlf" in tried and "tried random-forest" in tried
    weights = [float(told.split()[1]) for name, told in model.inspection_ if name.startswith("member ")]
    assert sum(weights) == pytest.approx(1, abs=0.05)


def test_vote_counts_and_their_shares_give_the_same_model(votes):
    X, counts = votes
    shares = counts / counts.sum(axis=1, keepdims=True)
    model = quick(LDLForest)
    assert model.fit(X, counts).to_bytes() == model.fit(X, shares).to_bytes()


def test_a_label_array_is_one_hot():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = KNeighborsLDL(neighbors=1).fit(X, ["cat", "dog", "cat", "eel"])
    assert model.classes_.tolist() == ["cat", "dog", "eel"]
    np.testing.assert_allclose(model.predict(X), [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-6)
    assert model.predict_label(X).tolist() == ["cat", "dog", "cat", "eel"]


@pytest.mark.parametrize(
    "declared",
    [
        lambda labels, order: pd.Series(pd.Categorical(labels, order, ordered=True)),
        lambda labels, order: pd.Categorical(labels, order, ordered=True),
        lambda labels, order: pl.Series(labels, dtype=pl.Enum(order)),
    ],
    ids=["pandas", "Categorical", "polars"],
)
def test_declared_labels_keep_their_order_and_need_no_row(declared):
    X, order = np.arange(12.0)[:, None], ["low", "middle", "high", "extreme"]
    y = declared(["high", "low", "middle"] * 4, order)
    model = MeanLDL().fit(X, y)
    assert model.classes_.tolist() == order
    np.testing.assert_allclose(model.predict(X[:1]), [[1 / 3, 1 / 3, 1 / 3, 0]], atol=1e-6)
    assert model.score(X, y) == pytest.approx(-np.log(3), abs=1e-6)


def test_labels_of_rare_classes_need_no_row_in_a_fold():
    X, y = np.arange(9.0)[:, None], pd.Series(pd.Categorical([1, 2, 1, 2, 1, 2, 3, 1, 2], [1, 2, 3], ordered=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(cross_val_score(MeanLDL(), X, y, cv=KFold(3))).all()
    assert MeanLDL().fit(X, y).label_values_.tolist() == [1, 2, 3]


def test_a_column_of_labels_is_a_label_array():
    X = np.arange(6.0).reshape(3, 2)
    labels = np.array([1, 0, 1])
    assert (
        KNeighborsLDL(neighbors=1).fit(X, labels).to_bytes()
        == KNeighborsLDL(neighbors=1).fit(X, labels[:, None]).to_bytes()
    )


def test_the_names_of_label_columns_are_the_classes(distributions):
    X, y = distributions
    table = pd.DataFrame(y, columns=["bad", "fair", "good", "best"])
    assert MeanLDL().fit(X, table).classes_.tolist() == ["bad", "fair", "good", "best"]


def test_sample_weights_count_like_copies():
    X, y = np.zeros((2, 1)), np.array([[1.0, 0.0], [0.0, 1.0]])
    model = MeanLDL().fit(X, y, sample_weight=[3.0, 1.0])
    np.testing.assert_allclose(model.predict(X[:1]), [[0.75, 0.25]])


def test_ordered_labels_have_means_quantiles_intervals_and_samples():
    X, y = np.zeros((1, 1)), np.array([[0.1, 0.4, 0.3, 0.2]])
    model = MeanLDL(label_values=[10, 20, 30, 50]).fit(X, y)
    assert model.predict_label(X).tolist() == [20]
    np.testing.assert_allclose(model.predict_mean(X), [28.0], rtol=1e-6)
    assert model.predict_quantile(X).tolist() == [20.0]
    assert model.predict_quantile(X, [0.05, 0.6, 1.0]).tolist() == [[10.0, 30.0, 50.0]]
    assert model.predict_interval(X, 0.6).tolist() == [[20.0, 30.0]]
    drawn = model.sample(X, 4000, random_state=0)
    assert drawn.shape == (1, 4000)
    shares = [(drawn == value).mean() for value in (10, 20, 30, 50)]
    np.testing.assert_allclose(shares, y[0], atol=0.03)
    assert model.predict_entropy(X)[0] == pytest.approx(-(y * np.log(y)).sum(), rel=1e-6)


def test_a_single_ordered_label_spreads_by_sigma(ages):
    X, age = ages
    model = MaximumEntropyLDL(sigma=2.0, l2=0.1).fit(X, age)
    assert model.classes_.tolist() == list(range(int(age.min()), int(age.max()) + 1))
    error = np.abs(model.predict_mean(X) - age).mean()
    assert error < np.abs(age - age.mean()).mean() / 2
    inside = model.predict_interval(X, 0.9)
    assert ((inside[:, 0] <= age) & (age <= inside[:, 1])).mean() > 0.8
    with pytest.warns(UserWarning, match="1 rows of y lie outside the labels of the training rows"):
        assert model.score(X[:1], [99]) == model.score(X[:1], [age.max()])
    model.set_params(label_values=model.label_values_)
    with pytest.raises(ValueError, match="the label 99 lies outside the label values .*; widen label_values"):
        model.score(X[:1], [99])


def test_unordered_labels_have_no_mean(distributions):
    model = MeanLDL().fit(*distributions)
    with pytest.raises(ValueError, match="predict_mean needs labels that stand for numbers; pass label_values"):
        model.predict_mean(distributions[0])


def test_what_the_training_was_like_is_kept(distributions):
    plain = {"choose": False, "leave_out": 0, "trees": 3, "depth": 3}
    model = LDLForest(**plain, min_iterations=100, epochs=1, leaf_every=25).fit(*distributions)
    assert model.n_iter_ == 100 == len(model.loss_curve_)
    assert [iteration for iteration, _ in model.validation_curve_] == [25, 50, 75, 100]
    assert model.stopped_ == "finished" and model.n_features_in_ == 6
    assert np.mean(model.loss_curve_[-10:]) < np.mean(model.loss_curve_[:10])


def test_early_stopping_is_a_parameter(distributions):
    plain = {"choose": False, "leave_out": 0, "trees": 3, "depth": 3}
    patient = {**plain, "min_iterations": 400, "epochs": 1, "leaf_every": 5, "learning_rate": 0.5}
    assert LDLForest(**patient, early_stopping=True, patience=1).fit(*distributions).n_iter_ < 400
    assert LDLForest(**patient, early_stopping=False).fit(*distributions).n_iter_ == 400


def test_the_model_does_not_depend_on_threads_but_on_the_seed(distributions):
    one = quick(LDLForest).fit(*distributions).to_bytes()
    assert quick(LDLForest, n_jobs=2).fit(*distributions).to_bytes() == one
    assert quick(LDLForest, random_state=1).fit(*distributions).to_bytes() != one


def test_presets_set_parameters():
    paper = LDLForest.from_preset("paper", trees=7)
    assert (paper.trees, paper.depth, paper.units, paper.optimizer) == (7, 7, 64, "sgd")
    with pytest.raises(ValueError, match="LDLForest has no preset 'papers'; it has best, paper, paper-aided, released"):
        LDLForest.from_preset("papers")


def test_the_classifier_has_classifier_manners():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    model = quick(LDLForestClassifier, learning_rate=0.1).fit(X, y)
    assert set(model.predict(X)) <= {"up", "down"} and model.score(X, y) > 0.9
    assert model.predict_proba(X).shape == (200, 2)


def test_predicting_before_fitting_is_refused():
    with pytest.raises(NotFittedError):
        LDLForest().predict(np.zeros((1, 2)))
