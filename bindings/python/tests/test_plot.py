"""Every picture returns its axes and shows what it says."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from ldlf import AAKNN, LDLForest, MeanLDL, plot
from matplotlib.axes import Axes
from quick import quick
from sklearn.model_selection import GridSearchCV


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_distributions_show_a_bar_a_label_and_the_prediction_as_a_line():
    axes = plot.distributions([[1, 1, 2]], [[0.2, 0.3, 0.5]], labels=["a", "b", "c"])
    assert [bar.get_height() for bar in axes.patches] == [0.25, 0.25, 0.5]
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), [0.2, 0.3, 0.5], atol=1e-7)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]


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
    search = GridSearchCV(AAKNN(), {"neighbors": [1, 5, 20]}, cv=3).fit(*distributions)
    axes = plot.sweep(search, "neighbors")
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), search.cv_results_["mean_test_score"])


def test_a_tree_shows_its_splits_and_leaves(distributions):
    forest = quick(LDLForest, choose=False, leave_out=0).fit(*distributions)
    axes = plot.tree(forest, 1)
    assert isinstance(axes, Axes)
    assert len(axes.texts) == 3 and len(axes.patches) == 4 * 4
    with pytest.raises(ValueError, match="tree must be between 0 and 4, got 9"):
        plot.tree(forest, 9)
    with pytest.raises(ValueError, match="AAKNN has no soft trees to draw"):
        plot.tree(AAKNN(neighbors=3).fit(*distributions))
