"""scikit-learn's own checks of estimators, on all of ours."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from quick import every_estimator

# Why a check cannot hold, by estimator. Everything else must pass.
BATCHES = "rows are drawn into mini-batches, folds or held-back rows: a row of weight 2 is not drawn twice as often"
EXCEPTIONS = {}


def expected_failures(estimator):
    return EXCEPTIONS.get(type(estimator).__name__, {})


@parametrize_with_checks(every_estimator(), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
