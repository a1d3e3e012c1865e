"""Every picture returns its axes and shows what it says."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ldlf import (
    KNeighborsLDL,
    LabelDistribution,
    LDLForest,
    LDLForestRegressor,
    LocallyAdjustedRegressor,
    MeanLDL,
    RandomForestLDL,
    plot,
)
from matplotlib.axes import Axes
from quick import quick
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_nominal_labels_are_bars_side_by_side():
    axes = plot.distributions([[1, 1, 2]], [[0.2, 0.3, 0.5]], labels=["a", "b", "c"])
    np.testing.assert_allclose([bar.get_height() for bar in axes.patches], [0.25, 0.25, 0.5, 0.2, 0.3, 0.5], atol=1e-7)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]
    assert not axes.get_lines(), "a line would suggest an order"


def test_ordered_labels_are_areas_with_mean_and_interval():
    axes = plot.distributions([[1, 1, 2]], [[0.2, 0.3, 0.5]], labels=[10, 20, 30])
    predicted, interval, mean = axes.get_lines()
    np.testing.assert_allclose(predicted.get_ydata(), [0.2, 0.3, 0.5], atol=1e-7)
    assert interval.get_xdata().tolist() == [10, 30]
    np.testing.assert_allclose(mean.get_xdata(), [23], rtol=1e-6)


def test_several_rows_are_small_multiples(distributions):
    y = distributions[1]
    axes = plot.distributions(y, y[::-1], rows=[3, 0, 7, 9])
    assert [one.get_title() for one in axes] == ["row 3", "row 0", "row 7", "row 9"]
    assert len({one.get_ylim() for one in axes}) == 1
    assert axes[0].get_ylim()[1] > max(y[[3, 0, 7, 9]].max(), y[::-1][[3, 0, 7, 9]].max()), "no bar is cut"
    with pytest.raises(ValueError, match="row 200 is not there; y_true has 200 rows"):
        plot.distributions(y, y, rows=[200])


def test_calibrated_predictions_lie_on_the_diagonal(distributions):
    y = distributions[1]
    points = plot.calibration(y, y).collections[0].get_offsets()
    np.testing.assert_allclose(points[:, 0], points[:, 1], atol=1e-6)
    wrong = plot.calibration(y, np.full_like(y, 0.25)).collections[0].get_offsets()
    np.testing.assert_allclose(wrong, [[0.25, 0.25]], atol=1e-3)


def test_the_transform_of_calibrated_predictions_is_flat_and_of_narrow_ones_has_horns():
    draws = np.random.default_rng(0)
    shares = draws.dirichlet(np.ones(8), size=4000)
    values = np.array([draws.choice(8, p=row) for row in shares])
    flat = [bar.get_height() for bar in plot.pit(values, shares, label_values=range(8)).patches]
    np.testing.assert_allclose(flat, 1, atol=0.15)
    narrow = [bar.get_height() for bar in plot.pit(values, shares**4, label_values=range(8)).patches]
    assert narrow[0] > 1.2 < narrow[-1] and min(narrow[3:7]) < 0.9


def test_importances_are_bars_the_largest_first(distributions):
    axes = plot.importance([0.1, 0.5, 0.2], names=["a", "b", "c"], most=2)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["b", "c"]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.2]


def test_learners_that_cannot_be_told_apart_are_joined():
    scores = pd.DataFrame(np.tile([0.9, 0.89, 0.1], (12, 1)), columns=["a", "b", "c"])
    scores.iloc[::2, [0, 1]] = [0.89, 0.9]
    axes = plot.critical_differences(scores)
    # q(0.05, 3, inf) / sqrt(2) = 2.343 (Demsar 2006, table 5), times sqrt(3 * 4 / (6 * 12)).
    assert axes.get_title() == "critical difference 0.96"
    assert any(text.get_text() == "c (3.00)" for text in axes.texts)
    joined = [line for line in axes.get_lines() if line.get_linewidth() == 3]
    assert len(joined) == 1 and joined[0].get_xdata()[1] < 2


def test_given_axes_are_drawn_on():
    _, given = plt.subplots()
    assert plot.label_errors([[1, 0]], [[0.5, 0.5]], ax=given) is given


def test_the_learning_curve_shows_loss_and_validation(distributions):
    forest = quick(LDLForest).fit(*distributions)
    axes = plot.learning_curve(forest)
    assert len(axes.get_lines()[0].get_ydata()) == 100
    assert len(axes.figure.axes) == 2
    with pytest.raises(ValueError, match="MeanLDL kept no learning curve"):
        plot.learning_curve(MeanLDL().fit(*distributions))


def test_a_sweep_shows_the_score_of_every_value(distributions):
    search = GridSearchCV(KNeighborsLDL(), {"neighbors": [1, 5, 20]}, cv=3).fit(*distributions)
    axes = plot.sweep(search, "neighbors")
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), search.cv_results_["mean_test_score"])


def test_a_tree_shows_features_shares_and_labels(distributions):
    X, y = distributions
    frame, votes = pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(y, columns=["bad", "fair", "good", "best"])
    forest = quick(LDLForest, choose=False, leave_out=0).fit(frame, votes)
    axes = plot.tree(forest, frame, 1)
    assert isinstance(axes, Axes) and axes.get_title() == "tree 1 of 5, 200 rows"
    told = [text.get_text() for text in axes.texts]
    assert sum("high" in text for text in told) == 3 and sum("100% of rows" in text for text in told) == 1
    ends = [text for text in told if "%" in text and "rows" not in text]
    assert len(ends) == 4 and all(text.split(",")[0] in votes.columns for text in ends)
    shares = sum(int(text.split(", ")[1].rstrip("%")) for text in ends)
    assert 97 <= shares <= 103
    assert len(axes.patches) == 4 * 4
    with pytest.raises(ValueError, match="tree must be between 0 and 4, got 9"):
        plot.tree(forest, frame, 9)
    with pytest.raises(ValueError, match="KNeighborsLDL has no soft trees to draw"):
        plot.tree(KNeighborsLDL(neighbors=3).fit(X, y), X)


def test_a_deep_tree_is_folded_where_few_rows_pass(distributions):
    forest = quick(LDLForest, choose=False, leave_out=0, depth=9).fit(*distributions)
    axes = plot.tree(forest, distributions[0], max_leaves=6)
    folded = [int(text.get_text().split("(")[1].split()[0]) for text in axes.texts if "leaves)" in text.get_text()]
    assert len(axes.patches) == 6 * 4 and sum(folded) >= 256 - 6


def test_a_report_is_the_page_of_the_command(distributions, tmp_path):
    X, y = distributions
    forest = quick(LDLForest).fit(X, y)
    forest.report(tmp_path / "model.html", X, y)
    page = (tmp_path / "model.html").read_text()
    assert page.startswith("<!") and "sldlf" in page and "</html>" in page
    with pytest.raises(FileExistsError, match="pass overwrite=True"):
        forest.report(tmp_path / "model.html", X, y)
    forest.report(tmp_path / "model.html", X, y, overwrite=True)


TABLES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
}


@pytest.mark.parametrize("table", TABLES)
def test_partial_dependence_follows_a_column_of_any_table(table):
    generator = np.random.default_rng(0)
    level, colour = generator.uniform(size=300), generator.choice(["red", "blue"], size=300, p=[0.7, 0.3])
    y = np.column_stack([0.1 + 0.8 * level, 0.9 - 0.8 * level])
    X = TABLES[table]({"level": level, "colour": colour})
    model = quick(RandomForestLDL, trees=20).fit(X, pd.DataFrame(y, columns=["high", "low"]))
    shares = plot.partial_dependence(model, X, "level")
    lowest = shares.collections[0].get_paths()[0].vertices
    top = {float(x): float(max(lowest[lowest[:, 0] == x, 1])) for x in np.unique(lowest[:, 0])}
    assert top[min(top)] < 0.3 and top[max(top)] > 0.7
    assert [text.get_text() for text in shares.get_legend().get_texts()] == ["low", "high"]
    bars = plot.partial_dependence(model, X, "colour")
    assert [tick.get_text() for tick in bars.get_xticklabels()] == ["red", "blue"]
    assert [round(float(bar.get_y() + bar.get_height()), 3) for bar in bars.patches[2:]] == [1.0, 1.0]
    with pytest.raises(ValueError, match="no column 'size'; the columns are level, colour"):
        plot.partial_dependence(model, X, "size")


def test_partial_dependence_of_ordered_labels_is_a_mean_with_its_interval(ages):
    X, age = ages
    model = make_pipeline(StandardScaler(), quick(LDLForestRegressor, sigma=2.0)).fit(X, age)
    ax = plot.partial_dependence(model, X, 0)
    where, mean = ax.get_lines()[0].get_data()
    assert mean[-1] - mean[0] > 10 and where[0] < where[-1]
    assert ax.get_xlabel() == "feature 0" and ax.get_ylabel() == "mean predicted value"
    with pytest.raises(ValueError, match="no column 7; X has 3 columns"):
        plot.partial_dependence(model, X, 7)
    with pytest.raises(TypeError, match="predicts no distributions"):
        plot.partial_dependence(quick(LocallyAdjustedRegressor).fit(X[:60], age[:60]), X, 0)


def test_a_fitted_estimator_shows_what_it_learnt(votes):
    model = quick(LDLForest)
    assert "ldlf-card" not in model._repr_mimebundle_()["text/html"]
    shown = model.fit(votes[0], pd.DataFrame(votes[1], columns=["<b>", "b", "c", "d"]))._repr_html_()
    assert "ldlf-card" in shown and "&lt;b&gt;, b, c, d" in shown and f"{model.oob_score_:.4g}" in shown
    assert model._repr_mimebundle_()["text/html"].count("ldlf-card") == 1


def test_distributions_show_themselves_in_notebooks():
    page = LabelDistribution([[0.25, 0.5, 0.25]] * 20, [20, 30, 40])._repr_html_()
    assert page.count("<svg") == 8 and "the first of 20 rows" in page and "20 to 40" in page
