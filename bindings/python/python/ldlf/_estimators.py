"""Every learner as an estimator. Written by tools/generate_estimators.py from the declarations in Rust; do not edit."""

from __future__ import annotations

from typing import Any

from ._base import DistributionEstimator, LDLEstimator, ValueEstimator


class LDLForest(DistributionEstimator):
    """Shallow label distribution learning forest: soft trees on a linear map, learnt jointly (``sldlf``).

    Source: W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017.

    Parameters
    ----------
    trees : a whole number at least 1 and at most 1000000, default=20
        Number of trees.
    depth : a whole number at least 1 and at most 30, default=7
        Depth of the trees: 2^(depth-1) leaves each.
    units : a whole number at least 1, or None, default=None
        Output units of the linear map, shared by the trees at random; none gives every split its own.
    bias : True or False, default=True
        Whether the linear map has a bias.
    scaling : one of raw, standard, common, default="standard"
        How features are scaled, on training rows only.
    clip : a number above 0, default=5.0
        With standard scaling: deviations from the mean beyond which a value is cut off.
    bins : a whole number at most 1024, default=32
        With standard scaling: quantile bins over which a numeric column among sparse ones is spread; 0 scales it like
        the others.
    start : one of random, greedy, default="random"
        What the first splits are.
    loss : one of trees, forest, default="trees"
        What the gradient steps lower.
    optimiser : one of sgd, adam, adamw, default="adamw"
        Rule that turns gradients into steps.
    learning_rate : a number above 0, default=0.01
        Step length.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        How the step length changes.
    warm_up : a number at least 0 and at most 1, default=0.1
        Share of the iterations over which the step length first rises.
    step_every : a whole number at least 1, default=10000
        With the step schedule: iterations between two changes.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, default=0.5
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam.
    dropout : a number at least 0 and below 1, or None, default=None
        Share of the inputs that are left out at random in each step; none is 0.1 with a hundred features or more and
        0 with fewer.
    batch_size : a whole number at least 1, default=256
        Rows of a mini-batch.
    iterations : a whole number at least 1, default=25000
        Largest number of iterations (mini-batches).
    epochs : a number above 0, or None, default=20.0
        Passes over the training rows, but for least_iterations and iterations; none goes on to iterations.
    least_iterations : a whole number, default=1500
        Iterations that few rows get however soon their epochs are over.
    leaf_every : a whole number at least 1, default=50
        Mini-batches between two leaf updates.
    leaf_rows : one of batches, epoch, all, auto, default="auto"
        Rows a leaf update looks at.
    leaf_iterations : a whole number at least 1, default=10
        Iterations of a leaf update.
    leaf_prior : a number at least 0, default=1.0
        Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
    early_stopping : True or False, or None, default=None
        Whether to hold rows back and keep the iteration that is best on them; none does so with fewer than a hundred
        features.
    validation_share : a number above 0 and below 1, default=0.1
        Share of the training rows held back.
    patience : a whole number at least 1, default=20
        Leaf updates without improvement before training stops.
    tolerance : a number above 0, or None, default=None
        Relative change of the mean loss between leaf updates below which training has converged; none never stops for
        it.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import LDLForest
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LDLForest(trees=5, depth=4, iterations=20, epochs=5, least_iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "sldlf"
    _declared = (
        "trees",
        "depth",
        "units",
        "bias",
        "scaling",
        "clip",
        "bins",
        "start",
        "loss",
        "optimiser",
        "learning_rate",
        "momentum",
        "schedule",
        "warm_up",
        "step_every",
        "step_factor",
        "weight_decay",
        "dropout",
        "batch_size",
        "iterations",
        "epochs",
        "least_iterations",
        "leaf_every",
        "leaf_rows",
        "leaf_iterations",
        "leaf_prior",
        "early_stopping",
        "validation_share",
        "patience",
        "tolerance",
    )
    _presets = {
        "best": {
            "trees": 50,
        },
        "paper": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "bias": False,
            "optimiser": "sgd",
            "momentum": 0.9,
            "learning_rate": 1,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 64,
            "iterations": 25000,
            "epochs": None,
            "leaf_every": 100,
            "leaf_rows": "batches",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": True,
        },
        "released": {
            "trees": 10,
            "depth": 5,
            "units": 512,
            "bias": True,
            "scaling": "raw",
            "optimiser": "sgd",
            "momentum": 0.9,
            "learning_rate": 30,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 1000,
            "iterations": 3000,
            "epochs": None,
            "leaf_every": 50,
            "leaf_rows": "epoch",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": False,
        },
        "components": {
            "trees": 40,
            "depth": 5,
            "scaling": "common",
            "weight_decay": 0.3,
            "dropout": 0,
            "least_iterations": 600,
            "early_stopping": False,
        },
    }

    def __init__(
        self,
        *,
        trees: int = 20,
        depth: int = 7,
        units: int | None = None,
        bias: bool = True,
        scaling: str = "standard",
        clip: float = 5.0,
        bins: int = 32,
        start: str = "random",
        loss: str = "trees",
        optimiser: str = "adamw",
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        schedule: str = "cosine",
        warm_up: float = 0.1,
        step_every: int = 10000,
        step_factor: float = 0.1,
        weight_decay: float = 0.5,
        dropout: float | None = None,
        batch_size: int = 256,
        iterations: int = 25000,
        epochs: float | None = 20.0,
        least_iterations: int = 1500,
        leaf_every: int = 50,
        leaf_rows: str = "auto",
        leaf_iterations: int = 10,
        leaf_prior: float = 1.0,
        early_stopping: bool | None = None,
        validation_share: float = 0.1,
        patience: int = 20,
        tolerance: float | None = None,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.depth = depth
        self.units = units
        self.bias = bias
        self.scaling = scaling
        self.clip = clip
        self.bins = bins
        self.start = start
        self.loss = loss
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.schedule = schedule
        self.warm_up = warm_up
        self.step_every = step_every
        self.step_factor = step_factor
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_size = batch_size
        self.iterations = iterations
        self.epochs = epochs
        self.least_iterations = least_iterations
        self.leaf_every = leaf_every
        self.leaf_rows = leaf_rows
        self.leaf_iterations = leaf_iterations
        self.leaf_prior = leaf_prior
        self.early_stopping = early_stopping
        self.validation_share = validation_share
        self.patience = patience
        self.tolerance = tolerance
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LDLForestAuto(DistributionEstimator):
    """Tries forests and rivals on rows held back inside the training rows, and mixes those that help (``sldlf-
    auto``).

    Source: stacking: D. Wolpert, Stacked generalization, Neural Networks 1992; weights as the paper moves its leaves.

    Parameters
    ----------
    rivals : True or False, default=True
        Whether rivals may join the forests.
    forests : a whole number at least 1, default=1
        Forests that go on from the race.
    folds : a whole number at least 2 and at most 100, default=5
        Parts of the training rows; one after the other is held back, until 350 rows were.
    budget : a number above 0, default=240.0
        Seconds after which nothing further is tried.
    iterations : a whole number at least 1, or None, default=None
        Iterations that a forest may take at most; none leaves that to the forest.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import LDLForestAuto
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LDLForestAuto(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "sldlf-auto"
    _declared = (
        "rivals",
        "forests",
        "folds",
        "budget",
        "iterations",
    )

    def __init__(
        self,
        *,
        rivals: bool = True,
        forests: int = 1,
        folds: int = 5,
        budget: float = 240.0,
        iterations: int | None = None,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rivals = rivals
        self.forests = forests
        self.folds = folds
        self.budget = budget
        self.iterations = iterations
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SNDFLDL(DistributionEstimator):
    """The same trees with the rule of neural decision forests: every mini-batch trains one tree drawn at random
    (``sndf-ldl``).

    Source: P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; the rule compared in Shen et al. 2017,
    Fig. 3(a).

    Parameters
    ----------
    trees : a whole number at least 1 and at most 1000000, default=20
        Number of trees.
    depth : a whole number at least 1 and at most 30, default=7
        Depth of the trees: 2^(depth-1) leaves each.
    units : a whole number at least 1, or None, default=None
        Output units of the linear map, shared by the trees at random; none gives every split its own.
    bias : True or False, default=True
        Whether the linear map has a bias.
    scaling : one of raw, standard, common, default="standard"
        How features are scaled, on training rows only.
    clip : a number above 0, default=5.0
        With standard scaling: deviations from the mean beyond which a value is cut off.
    bins : a whole number at most 1024, default=32
        With standard scaling: quantile bins over which a numeric column among sparse ones is spread; 0 scales it like
        the others.
    start : one of random, greedy, default="random"
        What the first splits are.
    loss : one of trees, forest, default="trees"
        What the gradient steps lower.
    optimiser : one of sgd, adam, adamw, default="adamw"
        Rule that turns gradients into steps.
    learning_rate : a number above 0, default=0.01
        Step length.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        How the step length changes.
    warm_up : a number at least 0 and at most 1, default=0.1
        Share of the iterations over which the step length first rises.
    step_every : a whole number at least 1, default=10000
        With the step schedule: iterations between two changes.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, default=0.5
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam.
    dropout : a number at least 0 and below 1, or None, default=None
        Share of the inputs that are left out at random in each step; none is 0.1 with a hundred features or more and
        0 with fewer.
    batch_size : a whole number at least 1, default=256
        Rows of a mini-batch.
    iterations : a whole number at least 1, default=25000
        Largest number of iterations (mini-batches).
    epochs : a number above 0, or None, default=20.0
        Passes over the training rows, but for least_iterations and iterations; none goes on to iterations.
    least_iterations : a whole number, default=1500
        Iterations that few rows get however soon their epochs are over.
    leaf_every : a whole number at least 1, default=50
        Mini-batches between two leaf updates.
    leaf_rows : one of batches, epoch, all, auto, default="auto"
        Rows a leaf update looks at.
    leaf_iterations : a whole number at least 1, default=10
        Iterations of a leaf update.
    leaf_prior : a number at least 0, default=1.0
        Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
    early_stopping : True or False, or None, default=None
        Whether to hold rows back and keep the iteration that is best on them; none does so with fewer than a hundred
        features.
    validation_share : a number above 0 and below 1, default=0.1
        Share of the training rows held back.
    patience : a whole number at least 1, default=20
        Leaf updates without improvement before training stops.
    tolerance : a number above 0, or None, default=None
        Relative change of the mean loss between leaf updates below which training has converged; none never stops for
        it.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import SNDFLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> SNDFLDL(trees=5, depth=4, iterations=20, epochs=5, least_iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "sndf-ldl"
    _declared = (
        "trees",
        "depth",
        "units",
        "bias",
        "scaling",
        "clip",
        "bins",
        "start",
        "loss",
        "optimiser",
        "learning_rate",
        "momentum",
        "schedule",
        "warm_up",
        "step_every",
        "step_factor",
        "weight_decay",
        "dropout",
        "batch_size",
        "iterations",
        "epochs",
        "least_iterations",
        "leaf_every",
        "leaf_rows",
        "leaf_iterations",
        "leaf_prior",
        "early_stopping",
        "validation_share",
        "patience",
        "tolerance",
    )
    _presets = {
        "best": {
            "trees": 50,
        },
        "paper": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "bias": False,
            "optimiser": "sgd",
            "momentum": 0.9,
            "learning_rate": 1,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 64,
            "iterations": 25000,
            "epochs": None,
            "leaf_every": 100,
            "leaf_rows": "batches",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": True,
        },
        "released": {
            "trees": 10,
            "depth": 5,
            "units": 512,
            "bias": True,
            "scaling": "raw",
            "optimiser": "sgd",
            "momentum": 0.9,
            "learning_rate": 30,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 1000,
            "iterations": 3000,
            "epochs": None,
            "leaf_every": 50,
            "leaf_rows": "epoch",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": False,
        },
        "components": {
            "trees": 40,
            "depth": 5,
            "scaling": "common",
            "weight_decay": 0.3,
            "dropout": 0,
            "least_iterations": 600,
            "early_stopping": False,
        },
    }

    def __init__(
        self,
        *,
        trees: int = 20,
        depth: int = 7,
        units: int | None = None,
        bias: bool = True,
        scaling: str = "standard",
        clip: float = 5.0,
        bins: int = 32,
        start: str = "random",
        loss: str = "trees",
        optimiser: str = "adamw",
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        schedule: str = "cosine",
        warm_up: float = 0.1,
        step_every: int = 10000,
        step_factor: float = 0.1,
        weight_decay: float = 0.5,
        dropout: float | None = None,
        batch_size: int = 256,
        iterations: int = 25000,
        epochs: float | None = 20.0,
        least_iterations: int = 1500,
        leaf_every: int = 50,
        leaf_rows: str = "auto",
        leaf_iterations: int = 10,
        leaf_prior: float = 1.0,
        early_stopping: bool | None = None,
        validation_share: float = 0.1,
        patience: int = 20,
        tolerance: float | None = None,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.depth = depth
        self.units = units
        self.bias = bias
        self.scaling = scaling
        self.clip = clip
        self.bins = bins
        self.start = start
        self.loss = loss
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.schedule = schedule
        self.warm_up = warm_up
        self.step_every = step_every
        self.step_factor = step_factor
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_size = batch_size
        self.iterations = iterations
        self.epochs = epochs
        self.least_iterations = least_iterations
        self.leaf_every = leaf_every
        self.leaf_rows = leaf_rows
        self.leaf_iterations = leaf_iterations
        self.leaf_prior = leaf_prior
        self.early_stopping = early_stopping
        self.validation_share = validation_share
        self.patience = patience
        self.tolerance = tolerance
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AABP(DistributionEstimator):
    """Network with one hidden layer and a softmax, trained on mini-batches, stopped early (``aa-bp``).

    Source: Geng, Label distribution learning, IEEE TKDE 28(7), 2016.

    Parameters
    ----------
    hidden : a whole number at least 1 and at most 65536, default=64
        Hidden units.
    epochs : a whole number at least 1, default=200
        Largest number of passes over the rows.
    batch : a whole number at least 1, default=64
        Rows of one step.
    optimiser : one of sgd, adam, adamw, default="adamw"
        Which rule turns gradients into steps.
    rate : a number above 0, default=0.0005
        Step length.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of SGD.
    decay : a number at least 0, default=1.0
        Weight decay (not of biases); AdamW shrinks weights by rate times this at every step.
    patience : a whole number at least 1, or None, default=10
        Epochs without improvement on rows held back before stopping; none does every epoch.
    validation : a number above 0 and below 1, default=0.1
        Share of the rows held back to stop early.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import AABP
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AABP(epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "aa-bp"
    _declared = (
        "hidden",
        "epochs",
        "batch",
        "optimiser",
        "rate",
        "momentum",
        "decay",
        "patience",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        hidden: int = 64,
        epochs: int = 200,
        batch: int = 64,
        optimiser: str = "adamw",
        rate: float = 0.0005,
        momentum: float = 0.9,
        decay: float = 1.0,
        patience: int | None = 10,
        validation: float = 0.1,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch = batch
        self.optimiser = optimiser
        self.rate = rate
        self.momentum = momentum
        self.decay = decay
        self.patience = patience
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AAKNN(DistributionEstimator):
    """The mean distribution of the nearest training rows (``aa-knn``).

    Source: Geng 2016, Label distribution learning.

    Parameters
    ----------
    k : a whole number at least 1, or None, default=None
        Number of neighbours; none chooses it by leaving out training rows one at a time.
    standardise : True or False, or None, default=None
        Whether features are scaled to deviation 1 before distances are taken; none chooses it as it chooses k.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import AAKNN
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AAKNN().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "aa-knn"
    _declared = (
        "k",
        "standardise",
    )

    def __init__(
        self,
        *,
        k: int | None = None,
        standardise: bool | None = None,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AAS(ValueEstimator):
    """Quadratic functions of the features, special to a cluster of rows and a range of ages; gives numbers only
    (``aas``).

    Source: Lanitis, Draganova and Christodoulou, Comparing different classifiers for automatic age estimation, IEEE
    TSMC-B 34(1), 2004.

    Parameters
    ----------
    clusters : a whole number at least 1, default=3
        Clusters of rows by appearance.
    ranges : a whole number at least 1, default=3
        Ranges of the label's values, each with as many training rows.
    overlap : a number at least 0, default=0.5
        How far a range reaches into its neighbours when a function is fitted, as a share of its width.
    penalty : a number at least 0, or None, default=None
        Penalty on the squared coefficients of the global function, a row; none chooses it on rows held back.
    special_penalty : a number at least 0, or None, default=None
        The same for what the special functions add to it.
    validation : a number above 0 and below 1, default=0.2
        Share of the rows held back to choose the penalties.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import AAS
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AAS(label_values=[1, 2, 3, 4, 5]).fit(X, y).predict(X[:2]).shape
    (2,)
    """

    _learner = "aas"
    _declared = (
        "clusters",
        "ranges",
        "overlap",
        "penalty",
        "special_penalty",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        clusters: int = 3,
        ranges: int = 3,
        overlap: float = 0.5,
        penalty: float | None = None,
        special_penalty: float | None = None,
        validation: float = 0.2,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.clusters = clusters
        self.ranges = ranges
        self.overlap = overlap
        self.penalty = penalty
        self.special_penalty = special_penalty
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AOSOLDLogitBoost(DistributionEstimator):
    """Boosted trees whose leaves set one adaptively chosen pair of labels apart (``aoso-ldlogitboost``).

    Source: Xing, Geng, Xue 2016.

    Parameters
    ----------
    rounds : a whole number at least 1, default=3000
        Rounds at most.
    learning_rate : a number above 0 and at most 1, default=0.05
        What every step is multiplied by.
    max_depth : a whole number at least 1, default=6
        Splits between the root and a leaf at most.
    min_leaf : a number above 0, default=10.0
        Least weight of the rows in a leaf (the number of rows when all weigh 1).
    penalty : a number at least 0, default=1.0
        Added to every sum of second derivatives: draws steps towards zero.
    feature_share : a number above 0 and at most 1, default=0.2
        Share of the features that a split looks at.
    row_share : a number above 0 and at most 1, default=0.7
        Share of the rows that a round sees.
    validation_share : a number at least 0 and below 1, default=0.1
        Share of the training rows held back to choose the number of rounds; 0 runs all rounds.
    patience : a whole number at least 1, default=100
        Rounds without improvement on the rows held back before stopping.
    refit : True or False, default=True
        Whether the model is built anew from all rows with the chosen number of rounds.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import AOSOLDLogitBoost
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AOSOLDLogitBoost(rounds=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "aoso-ldlogitboost"
    _declared = (
        "rounds",
        "learning_rate",
        "max_depth",
        "min_leaf",
        "penalty",
        "feature_share",
        "row_share",
        "validation_share",
        "patience",
        "refit",
    )

    def __init__(
        self,
        *,
        rounds: int = 3000,
        learning_rate: float = 0.05,
        max_depth: int = 6,
        min_leaf: float = 10.0,
        penalty: float = 1.0,
        feature_share: float = 0.2,
        row_share: float = 0.7,
        validation_share: float = 0.1,
        patience: int = 100,
        refit: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.penalty = penalty
        self.feature_share = feature_share
        self.row_share = row_share
        self.validation_share = validation_share
        self.patience = patience
        self.refit = refit
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class BFGSLDL(DistributionEstimator):
    """Maximum entropy model, fitted by L-BFGS; its penalty is chosen inside the training rows (``bfgs-ldl``).

    Source: Geng, Label distribution learning, IEEE TKDE 28(7), 2016.

    Parameters
    ----------
    l2 : a number at least 0, or None, default=None
        Penalty l2/2 |theta|^2 on the loss summed over rows; none chooses it on rows held back.
    iterations : a whole number at least 1, default=500
        Largest number of iterations of one minimisation.
    tolerance : a number at least 0, default=1e-07
        Ends a minimisation when an iteration lowers the mean loss by less than this.
    memory : a whole number at least 1, default=10
        Pairs of steps and gradient changes that stand for the Hessian.
    patience : a whole number at least 1, or None, default=None
        Iterations without improvement on rows held back before stopping; none goes on to the minimum.
    validation : a number above 0 and below 1, default=0.2
        Share of the rows held back to choose the penalty or to stop early.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import BFGSLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> BFGSLDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "bfgs-ldl"
    _declared = (
        "l2",
        "iterations",
        "tolerance",
        "memory",
        "patience",
        "validation",
        "standardise",
    )
    _presets = {
        "paper": {
            "l2": 0.0,
            "standardise": False,
        },
    }

    def __init__(
        self,
        *,
        l2: float | None = None,
        iterations: int = 500,
        tolerance: float = 1e-07,
        memory: int = 10,
        patience: int | None = None,
        validation: float = 0.2,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.l2 = l2
        self.iterations = iterations
        self.tolerance = tolerance
        self.memory = memory
        self.patience = patience
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class CPNN(DistributionEstimator):
    """Conditional probability neural network: reads a row with a label's value; for ordered labels (``cpnn``).

    Source: Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013.

    Parameters
    ----------
    hidden : a whole number at least 1 and at most 65536, default=64
        Hidden units.
    epochs : a whole number at least 1, default=500
        Largest number of passes over the rows.
    first_step : a number above 0, default=0.0001
        First step length of every weight.
    l2 : a number at least 0, default=0.3
        Penalty l2/2 |weights|^2 on the loss summed over rows (not on biases).
    patience : a whole number at least 1, or None, default=50
        Epochs without improvement on rows held back before stopping; none does every epoch.
    validation : a number above 0 and below 1, default=0.1
        Share of the rows held back to stop early.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import CPNN
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> CPNN(epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "cpnn"
    _declared = (
        "hidden",
        "epochs",
        "first_step",
        "l2",
        "patience",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        hidden: int = 64,
        epochs: int = 500,
        first_step: float = 0.0001,
        l2: float = 0.3,
        patience: int | None = 50,
        validation: float = 0.1,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.first_step = first_step
        self.l2 = l2
        self.patience = patience
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class D2LDL(DistributionEstimator):
    """Targets mixed with those of the rows that rebuild a row, then the maximum entropy model (``d2ldl``).

    Source: He et al., Data-dependent label distribution learning for age estimation, IEEE TIP 26(8), 2017.

    Parameters
    ----------
    mix : a number at least 0 and at most 1, default=0.3
        Share of a row's target that comes from its neighbours.
    neighbours : a whole number at least 1, default=20
        Neighbours that may take part in rebuilding a row.
    sparsity : a number at least 0 and below 1, default=0.1
        Penalty on the sum of a row's weights, as a share of the one at which all of them vanish.
    l2 : a number at least 0, or None, default=None
        Penalty l2/2 |theta|^2 of the regression; none takes the one that bfgs-ldl chooses for the targets as they
        are.
    iterations : a whole number at least 1, default=500
        Largest number of iterations of one minimisation.
    tolerance : a number at least 0, default=1e-07
        Ends a minimisation when an iteration lowers the mean loss by less than this.
    validation : a number above 0 and below 1, default=0.2
        Share of the rows held back to choose the penalty.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import D2LDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> D2LDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "d2ldl"
    _declared = (
        "mix",
        "neighbours",
        "sparsity",
        "l2",
        "iterations",
        "tolerance",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        mix: float = 0.3,
        neighbours: int = 20,
        sparsity: float = 0.1,
        l2: float | None = None,
        iterations: int = 500,
        tolerance: float = 1e-07,
        validation: float = 0.2,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.mix = mix
        self.neighbours = neighbours
        self.sparsity = sparsity
        self.l2 = l2
        self.iterations = iterations
        self.tolerance = tolerance
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ExtraTreesLDL(DistributionEstimator):
    """Trees with random thresholds that split on the whole distribution; leaves hold mean distributions (``extra-
    trees``).

    Source: Geurts, Ernst, Wehenkel 2006; several outputs as in scikit-learn.

    Parameters
    ----------
    trees : a whole number at least 1, default=200
        Number of trees.
    max_depth : a whole number at least 1, or None, default=None
        Splits between the root and a leaf at most, or None for no limit.
    min_leaf : a number above 0, default=3.0
        Least weight of the rows in a leaf (the number of rows when all weigh 1).
    feature_share : a number above 0 and at most 1, default=0.5
        Share of the features that a split looks at.
    bootstrap : True or False, default=False
        Whether each tree sees rows drawn with replacement (else all rows).
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import ExtraTreesLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> ExtraTreesLDL(trees=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "extra-trees"
    _declared = (
        "trees",
        "max_depth",
        "min_leaf",
        "feature_share",
        "bootstrap",
    )

    def __init__(
        self,
        *,
        trees: int = 200,
        max_depth: int | None = None,
        min_leaf: float = 3.0,
        feature_share: float = 0.5,
        bootstrap: bool = False,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.feature_share = feature_share
        self.bootstrap = bootstrap
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class IISALDL(DistributionEstimator):
    """Iis-ldl on Gaussians whose width at every label adapts to what is predicted there (``iis-aldl``).

    Source: Geng, Wang and Xia, Facial age estimation by adaptive label distribution learning, ICPR 2014.

    Parameters
    ----------
    sigma : a number above 0, or None, default=None
        Deviation of every label's Gaussian at the start; none takes it from the targets.
    rounds : a whole number at least 1, default=5
        Largest number of rounds: a fit, then new widths.
    iterations : a whole number at least 1, default=300
        Largest number of iterations of one fit.
    tolerance : a number at least 0, default=1e-06
        Ends a fit when an iteration lowers the mean loss by less than this.
    patience : a whole number at least 1, or None, default=10
        Iterations without improvement on rows held back before a fit stops; none goes on to the tolerance.
    validation : a number above 0 and below 1, default=0.1
        Share of the rows held back to stop early.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import IISALDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> IISALDL(iterations=20, rounds=20, label_values=[1, 2, 3, 4, 5]).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "iis-aldl"
    _declared = (
        "sigma",
        "rounds",
        "iterations",
        "tolerance",
        "patience",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        sigma: float | None = None,
        rounds: int = 5,
        iterations: int = 300,
        tolerance: float = 1e-06,
        patience: int | None = 10,
        validation: float = 0.1,
        standardise: bool = True,
        label_values: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.sigma = sigma
        self.rounds = rounds
        self.iterations = iterations
        self.tolerance = tolerance
        self.patience = patience
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class IISLDL(DistributionEstimator):
    """Maximum entropy model, fitted by improved iterative scaling, stopped early (``iis-ldl``).

    Source: Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013.

    Parameters
    ----------
    iterations : a whole number at least 1, default=300
        Largest number of iterations.
    tolerance : a number at least 0, default=1e-06
        Ends when an iteration lowers the mean loss by less than this.
    patience : a whole number at least 1, or None, default=10
        Iterations without improvement on rows held back before stopping; none goes on to the tolerance.
    validation : a number above 0 and below 1, default=0.1
        Share of the rows held back to stop early.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import IISLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> IISLDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "iis-ldl"
    _declared = (
        "iterations",
        "tolerance",
        "patience",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        iterations: int = 300,
        tolerance: float = 1e-06,
        patience: int | None = 10,
        validation: float = 0.1,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.iterations = iterations
        self.tolerance = tolerance
        self.patience = patience
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LARR(ValueEstimator):
    """Support vector regression, adjusted by classifiers of the labels around its answer; gives numbers only
    (``larr``).

    Source: Guo, Fu, Dyer and Huang, Image-based human age estimation by manifold learning and locally adjusted robust
    regression, IEEE TIP 17(7), 2008.

    Parameters
    ----------
    window : a number at least 0, or None, default=None
        How far from the regressed value labels compete, in units of their values; none chooses 1, 2, 4 or 8 on rows
        held back.
    penalty : a number above 0, or None, default=None
        Cost C of an error of the regression by one deviation of the label; none chooses 1, 3, 10 or 30 on rows held
        back.
    epsilon : a number at least 0, default=0.1
        Error of the regression that is free of charge, in deviations of the label.
    pair_penalty : a number above 0, default=1.0
        Cost C of a row on the wrong side of a classifier.
    width : a number above 0, default=1.0
        Deviation of the kernel as a multiple of the mean distance between training rows.
    tolerance : a number above 0, default=0.001
        Largest violation of the optimality conditions that is left.
    validation : a number above 0 and below 1, default=0.2
        Share of the rows held back to choose.
    standardise : True or False, default=True
        Whether features are scaled to deviation 1.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import LARR
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LARR(label_values=[1, 2, 3, 4, 5]).fit(X, y).predict(X[:2]).shape
    (2,)
    """

    _learner = "larr"
    _declared = (
        "window",
        "penalty",
        "epsilon",
        "pair_penalty",
        "width",
        "tolerance",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        window: float | None = None,
        penalty: float | None = None,
        epsilon: float = 0.1,
        pair_penalty: float = 1.0,
        width: float = 1.0,
        tolerance: float = 0.001,
        validation: float = 0.2,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.window = window
        self.penalty = penalty
        self.epsilon = epsilon
        self.pair_penalty = pair_penalty
        self.width = width
        self.tolerance = tolerance
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LDLogitBoost(DistributionEstimator):
    """Boosted regression trees, one a label and round, on the K-L divergence (``ldlogitboost``).

    Source: Xing, Geng, Xue 2016.

    Parameters
    ----------
    rounds : a whole number at least 1, default=1000
        Rounds at most.
    learning_rate : a number above 0 and at most 1, default=0.05
        What every step is multiplied by.
    max_depth : a whole number at least 1, default=6
        Splits between the root and a leaf at most.
    min_leaf : a number above 0, default=10.0
        Least weight of the rows in a leaf (the number of rows when all weigh 1).
    penalty : a number at least 0, default=1.0
        Added to every sum of second derivatives: draws steps towards zero.
    feature_share : a number above 0 and at most 1, default=0.2
        Share of the features that a split looks at.
    row_share : a number above 0 and at most 1, default=0.7
        Share of the rows that a round sees.
    validation_share : a number at least 0 and below 1, default=0.1
        Share of the training rows held back to choose the number of rounds; 0 runs all rounds.
    patience : a whole number at least 1, default=40
        Rounds without improvement on the rows held back before stopping.
    refit : True or False, default=True
        Whether the model is built anew from all rows with the chosen number of rounds.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import LDLogitBoost
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LDLogitBoost(rounds=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "ldlogitboost"
    _declared = (
        "rounds",
        "learning_rate",
        "max_depth",
        "min_leaf",
        "penalty",
        "feature_share",
        "row_share",
        "validation_share",
        "patience",
        "refit",
    )

    def __init__(
        self,
        *,
        rounds: int = 1000,
        learning_rate: float = 0.05,
        max_depth: int = 6,
        min_leaf: float = 10.0,
        penalty: float = 1.0,
        feature_share: float = 0.2,
        row_share: float = 0.7,
        validation_share: float = 0.1,
        patience: int = 40,
        refit: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.penalty = penalty
        self.feature_share = feature_share
        self.row_share = row_share
        self.validation_share = validation_share
        self.patience = patience
        self.refit = refit
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LDSVR(DistributionEstimator):
    """Support vector regression of all labels at once, through a sigmoid (``ldsvr``).

    Source: Geng and Hou 2015, Pre-release prediction of crowd opinion on movies by label distribution learning.

    Parameters
    ----------
    penalty : a number above 0, or None, default=None
        Cost C of leaving the tube; none chooses among 1, 10 and 100.
    epsilon : a number at least 0 and below 1, default=0.1
        Half-width of the tube in which nothing is lost, in units of probability.
    width : a number above 0, or None, default=None
        Deviation of the Gaussian kernel as a multiple of the mean distance between training rows; none chooses.
    clip : a number above 0 and below 0.5, or None, default=None
        Targets are kept this far from 0 and 1 before their logit is taken; none chooses.
    standardise : True or False, or None, default=None
        Whether features are scaled to deviation 1; none chooses.
    iterations : a whole number at least 1, default=15
        Most steps of re-weighted least squares.
    tolerance : a number at least 0, default=0.001
        A step that takes less than this share off the objective is the last.
    search_rows : a whole number at least 2, default=1500
        Most training rows used to choose what is not given.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import LDSVR
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LDSVR(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "ldsvr"
    _declared = (
        "penalty",
        "epsilon",
        "width",
        "clip",
        "standardise",
        "iterations",
        "tolerance",
        "search_rows",
    )

    def __init__(
        self,
        *,
        penalty: float | None = None,
        epsilon: float = 0.1,
        width: float | None = None,
        clip: float | None = None,
        standardise: bool | None = None,
        iterations: int = 15,
        tolerance: float = 0.001,
        search_rows: int = 1500,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.penalty = penalty
        self.epsilon = epsilon
        self.width = width
        self.clip = clip
        self.standardise = standardise
        self.iterations = iterations
        self.tolerance = tolerance
        self.search_rows = search_rows
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PTBayes(DistributionEstimator):
    """Gaussian naive Bayes on rows of single labels, weighted by the distributions (``pt-bayes``).

    Source: Geng 2016, Label distribution learning.

    Parameters
    ----------
    resample : True or False, default=False
        Draw as many single-label rows as there are rows, as published; false counts every one by its weight.
    smoothing : a number at least 0, default=1e-09
        Share of the largest variance of a feature that is added to every variance.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import PTBayes
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> PTBayes().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "pt-bayes"
    _declared = (
        "resample",
        "smoothing",
    )

    def __init__(
        self,
        *,
        resample: bool = False,
        smoothing: float = 1e-09,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.resample = resample
        self.smoothing = smoothing
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PTSVM(DistributionEstimator):
    """Support vector classifiers of pairs of labels on rows of single labels, probabilities coupled (``pt-svm``).

    Source: Geng 2016, Label distribution learning.

    Parameters
    ----------
    penalty : a number above 0, default=1.0
        Cost C of a row on the wrong side.
    kernel : one of rbf, linear, default="rbf"
        Kernel of the classifiers.
    width : a number above 0, default=1.0
        Deviation of the rbf kernel as a multiple of the mean distance between training rows.
    standardise : True or False, default=True
        Whether features are scaled to deviation 1.
    folds : a whole number at least 2, default=5
        Folds whose held-out decision values a pair's sigmoid is fitted to.
    tolerance : a number above 0, default=0.001
        Largest violation of the optimality conditions that is left.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import PTSVM
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> PTSVM().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "pt-svm"
    _declared = (
        "penalty",
        "kernel",
        "width",
        "standardise",
        "folds",
        "tolerance",
    )

    def __init__(
        self,
        *,
        penalty: float = 1.0,
        kernel: str = "rbf",
        width: float = 1.0,
        standardise: bool = True,
        folds: int = 5,
        tolerance: float = 0.001,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.penalty = penalty
        self.kernel = kernel
        self.width = width
        self.standardise = standardise
        self.folds = folds
        self.tolerance = tolerance
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class RandomForestLDL(DistributionEstimator):
    """Bagged trees that split on the whole distribution; leaves hold mean distributions (``random-forest``).

    Source: Breiman 2001; several outputs as in scikit-learn.

    Parameters
    ----------
    trees : a whole number at least 1, default=200
        Number of trees.
    max_depth : a whole number at least 1, or None, default=None
        Splits between the root and a leaf at most, or None for no limit.
    min_leaf : a number above 0, default=3.0
        Least weight of the rows in a leaf (the number of rows when all weigh 1).
    feature_share : a number above 0 and at most 1, default=0.2
        Share of the features that a split looks at.
    bootstrap : True or False, default=True
        Whether each tree sees rows drawn with replacement (else all rows).
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import RandomForestLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> RandomForestLDL(trees=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "random-forest"
    _declared = (
        "trees",
        "max_depth",
        "min_leaf",
        "feature_share",
        "bootstrap",
    )

    def __init__(
        self,
        *,
        trees: int = 200,
        max_depth: int | None = None,
        min_leaf: float = 3.0,
        feature_share: float = 0.2,
        bootstrap: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.feature_share = feature_share
        self.bootstrap = bootstrap
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SCELDL(DistributionEstimator):
    """Maximum entropy model on a sparse hidden layer, stopped early (``sce-ldl``).

    Source: Yang et al., Sparsity conditional energy label distribution learning for age estimation, IJCAI 2016.

    Parameters
    ----------
    hidden : a whole number at least 1 and at most 65536, default=64
        Hidden units.
    activity : a number above 0 and below 1, default=0.1
        Wished mean activation of a hidden unit.
    sparsity : a number at least 0, default=0.01
        Strength of that wish against the mean loss.
    l2 : a number at least 0, default=3.0
        Penalty l2/2 |weights|^2 on the loss summed over rows (not on biases).
    iterations : a whole number at least 1, default=300
        Largest number of iterations.
    tolerance : a number at least 0, default=1e-07
        Ends when an iteration lowers the mean loss by less than this.
    patience : a whole number at least 1, or None, default=20
        Iterations without improvement on rows held back before stopping; none goes on to the minimum.
    validation : a number above 0 and below 1, default=0.1
        Share of the rows held back to stop early.
    standardise : True or False, default=True
        Bring the features to a common scale first.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import SCELDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> SCELDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "sce-ldl"
    _declared = (
        "hidden",
        "activity",
        "sparsity",
        "l2",
        "iterations",
        "tolerance",
        "patience",
        "validation",
        "standardise",
    )

    def __init__(
        self,
        *,
        hidden: int = 64,
        activity: float = 0.1,
        sparsity: float = 0.01,
        l2: float = 3.0,
        iterations: int = 300,
        tolerance: float = 1e-07,
        patience: int | None = 20,
        validation: float = 0.1,
        standardise: bool = True,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.activity = activity
        self.sparsity = sparsity
        self.l2 = l2
        self.iterations = iterations
        self.tolerance = tolerance
        self.patience = patience
        self.validation = validation
        self.standardise = standardise
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MeanLDL(DistributionEstimator):
    """Always the mean training distribution: the floor in every table (``mean``).

    Parameters
    ----------
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float, optional
        With one ordered label a row: the standard deviation of the Gaussian around it. Without it, all of a row is on
        its label.
    random_state : int, RandomState or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import MeanLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> MeanLDL().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "mean"
    _declared = ()

    def __init__(
        self,
        *,
        label_values: Any = None,
        sigma: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


#: Every estimator by its learner's name.
LEARNERS: dict[str, type[LDLEstimator]] = {
    "sldlf": LDLForest,
    "sldlf-auto": LDLForestAuto,
    "sndf-ldl": SNDFLDL,
    "aa-bp": AABP,
    "aa-knn": AAKNN,
    "aas": AAS,
    "aoso-ldlogitboost": AOSOLDLogitBoost,
    "bfgs-ldl": BFGSLDL,
    "cpnn": CPNN,
    "d2ldl": D2LDL,
    "extra-trees": ExtraTreesLDL,
    "iis-aldl": IISALDL,
    "iis-ldl": IISLDL,
    "larr": LARR,
    "ldlogitboost": LDLogitBoost,
    "ldsvr": LDSVR,
    "pt-bayes": PTBayes,
    "pt-svm": PTSVM,
    "random-forest": RandomForestLDL,
    "sce-ldl": SCELDL,
    "mean": MeanLDL,
}

__all__ = [
    "LDLForest",
    "LDLForestAuto",
    "SNDFLDL",
    "AABP",
    "AAKNN",
    "AAS",
    "AOSOLDLogitBoost",
    "BFGSLDL",
    "CPNN",
    "D2LDL",
    "ExtraTreesLDL",
    "IISALDL",
    "IISLDL",
    "LARR",
    "LDLogitBoost",
    "LDSVR",
    "PTBayes",
    "PTSVM",
    "RandomForestLDL",
    "SCELDL",
    "MeanLDL",
]
