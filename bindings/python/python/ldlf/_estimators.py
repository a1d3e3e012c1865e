"""Every learner as an estimator. Written by tools/generate_estimators.py from the declarations in Rust; do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from ._base import DistributionEstimator, LDLEstimator, ValueEstimator


class LDLForestParameters(TypedDict, total=False):
    """The parameters of :class:`LDLForest`."""

    trees: int | Literal["auto"]
    choose: bool
    leave_out: int
    given_back: float
    grown_trees: int | Literal["auto"]
    depth: int | Literal["auto"]
    units: int | Literal["auto"]
    bias: bool
    scaling: Literal["raw", "standard", "common", "ranks", "relevance", "auto"]
    feature_clip: float | None
    bins: int
    init: Literal["random", "greedy", "auto"]
    loss: Literal["trees", "forest", "auto"]
    optimizer: Literal["sgd", "adam", "adamw"]
    learning_rate: float
    momentum: float
    schedule: Literal["constant", "step", "cosine"]
    warm_up: float
    step_every: int
    step_factor: float
    weight_decay: float | Literal["auto"]
    dropout: float | Literal["auto"]
    batch_size: int
    iterations: int
    epochs: float | None
    min_iterations: int
    leaf_every: int
    leaf_rows: Literal["batches", "epoch", "all", "auto"]
    leaf_iterations: int
    leaf_prior: float | Literal["auto"]
    early_stopping: bool | Literal["auto"]
    validation_fraction: float
    patience: int
    tolerance: float | None
    label_values: Any
    sigma: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool
    warm_start: bool


class LDLForest(DistributionEstimator):
    """Shallow label distribution learning forest: soft trees on a linear map, learnt jointly (``sldlf``).

    Source: W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017.

    Parameters
    ----------
    trees : a whole number at least 1 and at most 1000000, or "auto", default="auto"
        Number of soft trees; "auto" is 20, or where the fit chooses 30 for a strong signal and 40 if they are
        shallow. (scikit-learn: ``n_estimators``)
    choose : True or False, default=True
        Whether the fit checks itself: it chooses what is `auto` (scaling, depth, loss, weight_decay, dropout,
        leaf_prior) by rows that trees leave out, and mixes in grown trees and a linear model where they help. If
        false, the parameters are taken as they are, and `auto` stands for fixed values.
    leave_out : a whole number at most 100, default=5
        Groups of rows of which every tree leaves out one, which gives out-of-fold predictions; 0 leaves out none, as
        in the paper.
    given_back : a number at least 0 and below 1, default=0.3
        Fraction of the iterations, at the end, in which every tree learns from all rows.
    grown_trees : a whole number at most 10000, or "auto", default="auto"
        Number of grown trees that may join when the fit checks itself, beside boosted ones; "auto" is 100, or up to
        400 where they pay; 0 keeps all of them out.
    depth : a whole number at least 1 and at most 30, or "auto", default="auto"
        Depth of every tree, which then has 2^(depth-1) leaves; "auto" is chosen in the fit, or 7.
    units : a whole number at least 1, or "auto", default="auto"
        Output units of the linear map, shared by the trees at random; "auto" gives every split its own.
    bias : True or False, default=True
        Whether the linear map has a bias. (scikit-learn: ``fit_intercept``)
    scaling : one of raw, standard, common, ranks, relevance, or "auto", default="auto"
        How features are scaled, by what the training rows say; "auto" is chosen in the fit, or standard.
    feature_clip : a number above 0, or None, default=5.0
        With standard scaling: standard deviations from the mean at which values are clipped; None never clips.
    bins : a whole number at most 1024, default=32
        With standard scaling: quantile bins into which a numeric column among sparse ones is encoded; 0 scales it
        like the others.
    init : one of random, greedy, or "auto", default="auto"
        How splits are initialised; "auto" is chosen in the fit, or random.
    loss : one of trees, forest, or "auto", default="auto"
        Loss that the gradient steps minimise; "auto" is chosen in the fit, or trees.
    optimizer : one of sgd, adam, adamw, default="adamw"
        Optimizer.
    learning_rate : a number above 0, default=0.01
        Learning rate.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        Learning rate schedule.
    warm_up : a number at least 0 and at most 1, default=0.1
        Fraction of the iterations over which the learning rate warms up.
    step_every : a whole number at least 1, default=10000
        With the step schedule: iterations between two changes.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, or "auto", default="auto"
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam; "auto" is chosen in the fit, or
        0.5.
    dropout : a number at least 0 and below 1, or "auto", default="auto"
        Fraction of the inputs dropped at random in each step; "auto" is chosen in the fit, or 0.1 with at least 100
        features and 0 with fewer.
    batch_size : a whole number at least 1, default=128
        Rows per mini-batch.
    iterations : a whole number at least 1, default=25000
        Maximum number of iterations (mini-batches). (scikit-learn: ``max_iter``)
    epochs : a number above 0, or None, default=20.0
        Epochs, clamped to [min_iterations, iterations]; None always runs iterations.
    min_iterations : a whole number, default=1200
        Minimum number of iterations, however small the data; half of it where the fit chooses and finds that the
        features say little.
    leaf_every : a whole number at least 1, default=50
        Mini-batches between two leaf updates.
    leaf_rows : one of batches, epoch, all, auto, default="auto"
        Rows that a leaf update sees.
    leaf_iterations : a whole number at least 1, default=5
        Iterations per leaf update.
    leaf_prior : a number at least 0, or "auto", default="auto"
        Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update; "auto" is
        chosen in the fit, or 1.
    early_stopping : True or False, or "auto", default="auto"
        Whether to keep the iteration that is best on held-out rows, or on the rows that trees leave out; "auto" does
        so with fewer than 100 features where no rows are left out.
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    patience : a whole number at least 1, default=20
        Leaf updates without improvement on the held-out rows before stopping. (scikit-learn: ``n_iter_no_change``)
    tolerance : a number above 0, or None, default=None
        Relative change of the mean loss between leaf updates below which training stops; None never stops for it.
        (scikit-learn: ``tol``)
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.
    warm_start : bool, default=False
        Whether ``fit`` goes on where the last one ended, by Ctrl-C, a callback or its iterations: on the same rows
        with the same parameters, but for iterations, which may be raised (with epochs=None). Keeps a checkpoint of
        the size of a few models.

    Notes
    -----
    Presets, for ``LDLForest.from_preset``:

    - ``best``: the defaults with 50 trees: the last per cent, for two and a half times the time; sldlf-auto searches
      for more.
    - ``paper``: the paper's text and nothing else: 5 trees of depth 7 on 64 shared units, 25,000 iterations, 20 leaf
      iterations over 100 mini-batches; what the text leaves open: standardised features, sgd with momentum 0.9, a
      learning rate of 1, batches of 64.
    - ``paper-aided``: paper with three aids of ours: bins of numeric columns among sparse ones, features clipped at 5
      deviations, and the iteration that is best on held-out rows.
    - ``released``: the authors' script, with its 3,000 iterations: 10 trees of depth 5 on 512 shared units, raw
      features. It differs in the learning rate (100 on the sum of the trees there, which is 1,000 on their mean; 30
      here, which settles), in mini-batches (drawn with replacement there, by epochs here) and in leaf updates (by
      routings as they were seen there, by the present splits here).
    - ``released-movie``: the same with the 2,000 iterations that the script has for the Movie set.
    - ``components``: for principal components and few rows (chosen on ages of faces): one factor for all features, no
      dropout, 40 trees of depth 5, no held-out rows.

    Examples
    --------
    >>> from ldlf import LDLForest
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LDLForest(trees=5, depth=4, iterations=20, epochs=5, min_iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "sldlf"
    _declared = (
        "trees",
        "choose",
        "leave_out",
        "given_back",
        "grown_trees",
        "depth",
        "units",
        "bias",
        "scaling",
        "feature_clip",
        "bins",
        "init",
        "loss",
        "optimizer",
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
        "min_iterations",
        "leaf_every",
        "leaf_rows",
        "leaf_iterations",
        "leaf_prior",
        "early_stopping",
        "validation_fraction",
        "patience",
        "tolerance",
    )
    _known_as = {
        "n_estimators": "trees",
        "fit_intercept": "bias",
        "max_iter": "iterations",
        "n_iter_no_change": "patience",
        "tol": "tolerance",
    }
    _presets = {
        "best": {
            "trees": 50,
        },
        "paper": {
            "choose": False,
            "leave_out": 0,
            "scaling": "standard",
            "init": "random",
            "loss": "trees",
            "trees": 5,
            "depth": 7,
            "units": 64,
            "bias": False,
            "optimizer": "sgd",
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
            "tolerance": None,
            "bins": 0,
            "feature_clip": None,
            "early_stopping": False,
        },
        "paper-aided": {
            "choose": False,
            "leave_out": 0,
            "scaling": "standard",
            "init": "random",
            "loss": "trees",
            "trees": 5,
            "depth": 7,
            "units": 64,
            "bias": False,
            "optimizer": "sgd",
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
            "tolerance": None,
            "bins": 32,
            "feature_clip": 5,
            "early_stopping": True,
        },
        "released": {
            "choose": False,
            "leave_out": 0,
            "init": "random",
            "loss": "trees",
            "trees": 10,
            "depth": 5,
            "units": 512,
            "bias": True,
            "scaling": "raw",
            "optimizer": "sgd",
            "momentum": 0.9,
            "learning_rate": 30,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 1000,
            "epochs": None,
            "leaf_every": 50,
            "leaf_rows": "epoch",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": False,
            "tolerance": None,
            "iterations": 3000,
        },
        "released-movie": {
            "choose": False,
            "leave_out": 0,
            "init": "random",
            "loss": "trees",
            "trees": 10,
            "depth": 5,
            "units": 512,
            "bias": True,
            "scaling": "raw",
            "optimizer": "sgd",
            "momentum": 0.9,
            "learning_rate": 30,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 1000,
            "epochs": None,
            "leaf_every": 50,
            "leaf_rows": "epoch",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": False,
            "tolerance": None,
            "iterations": 2000,
        },
        "components": {
            "choose": False,
            "leave_out": 0,
            "trees": 40,
            "depth": 5,
            "scaling": "common",
            "weight_decay": 0.3,
            "dropout": 0,
            "min_iterations": 600,
            "early_stopping": False,
        },
    }

    def __init__(
        self,
        *,
        trees: int | Literal["auto"] = "auto",
        choose: bool = True,
        leave_out: int = 5,
        given_back: float = 0.3,
        grown_trees: int | Literal["auto"] = "auto",
        depth: int | Literal["auto"] = "auto",
        units: int | Literal["auto"] = "auto",
        bias: bool = True,
        scaling: Literal["raw", "standard", "common", "ranks", "relevance", "auto"] = "auto",
        feature_clip: float | None = 5.0,
        bins: int = 32,
        init: Literal["random", "greedy", "auto"] = "auto",
        loss: Literal["trees", "forest", "auto"] = "auto",
        optimizer: Literal["sgd", "adam", "adamw"] = "adamw",
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        schedule: Literal["constant", "step", "cosine"] = "cosine",
        warm_up: float = 0.1,
        step_every: int = 10000,
        step_factor: float = 0.1,
        weight_decay: float | Literal["auto"] = "auto",
        dropout: float | Literal["auto"] = "auto",
        batch_size: int = 128,
        iterations: int = 25000,
        epochs: float | None = 20.0,
        min_iterations: int = 1200,
        leaf_every: int = 50,
        leaf_rows: Literal["batches", "epoch", "all", "auto"] = "auto",
        leaf_iterations: int = 5,
        leaf_prior: float | Literal["auto"] = "auto",
        early_stopping: bool | Literal["auto"] = "auto",
        validation_fraction: float = 0.1,
        patience: int = 20,
        tolerance: float | None = None,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.trees = trees
        self.choose = choose
        self.leave_out = leave_out
        self.given_back = given_back
        self.grown_trees = grown_trees
        self.depth = depth
        self.units = units
        self.bias = bias
        self.scaling = scaling
        self.feature_clip = feature_clip
        self.bins = bins
        self.init = init
        self.loss = loss
        self.optimizer = optimizer
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
        self.min_iterations = min_iterations
        self.leaf_every = leaf_every
        self.leaf_rows = leaf_rows
        self.leaf_iterations = leaf_iterations
        self.leaf_prior = leaf_prior
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tolerance = tolerance
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start


class LDLForestAuto(DistributionEstimator):
    """Tries forests and baselines on rows held out inside the training rows, and mixes those that help (``sldlf-
    auto``).

    Source: stacking: D. Wolpert, Stacked generalization, Neural Networks 1992; weights as the paper moves its leaves.

    Parameters
    ----------
    baselines : True or False, default=True
        Whether baselines may join the forests.
    folds : a whole number at least 2 and at most 100, default=5
        Folds of the training rows; one after the other is held out, until 350 rows were.
    budget : a number above 0, or None, default=None
        Seconds after which nothing further is tried; None tries everything, so that the model does not depend on the
        clock.
    iterations : a whole number at least 1, or "auto", default="auto"
        Maximum number of iterations of a forest; "auto" leaves it to the forest. (scikit-learn: ``max_iter``)
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte. Where budget ends the search, the
        model also depends on the time that was left, and a warning says so.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it, unless budget ends the search.
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
        "baselines",
        "folds",
        "budget",
        "iterations",
    )
    _known_as = {
        "max_iter": "iterations",
    }

    def __init__(
        self,
        *,
        baselines: bool = True,
        folds: int = 5,
        budget: float | None = None,
        iterations: int | Literal["auto"] = "auto",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.baselines = baselines
        self.folds = folds
        self.budget = budget
        self.iterations = iterations
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class NeuralDecisionForestLDL(DistributionEstimator):
    """The same trees with the rule of neural decision forests: every mini-batch trains one tree drawn at random
    (``sndf-ldl``).

    Source: P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; the rule compared in Shen et al. 2017,
    Fig. 3(a).

    Parameters
    ----------
    trees : a whole number at least 1 and at most 1000000, or "auto", default="auto"
        Number of soft trees; "auto" is 20, or where the fit chooses 30 for a strong signal and 40 if they are
        shallow. (scikit-learn: ``n_estimators``)
    choose : True or False, default=False
        Whether the fit checks itself: it chooses what is `auto` (scaling, depth, loss, weight_decay, dropout,
        leaf_prior) by rows that trees leave out, and mixes in grown trees and a linear model where they help. If
        false, the parameters are taken as they are, and `auto` stands for fixed values.
    leave_out : a whole number at most 100, default=0
        Groups of rows of which every tree leaves out one, which gives out-of-fold predictions; 0 leaves out none, as
        in the paper.
    given_back : a number at least 0 and below 1, default=0.3
        Fraction of the iterations, at the end, in which every tree learns from all rows.
    grown_trees : a whole number at most 10000, or "auto", default="auto"
        Number of grown trees that may join when the fit checks itself, beside boosted ones; "auto" is 100, or up to
        400 where they pay; 0 keeps all of them out.
    depth : a whole number at least 1 and at most 30, or "auto", default="auto"
        Depth of every tree, which then has 2^(depth-1) leaves; "auto" is chosen in the fit, or 7.
    units : a whole number at least 1, or "auto", default="auto"
        Output units of the linear map, shared by the trees at random; "auto" gives every split its own.
    bias : True or False, default=True
        Whether the linear map has a bias. (scikit-learn: ``fit_intercept``)
    scaling : one of raw, standard, common, ranks, relevance, or "auto", default="auto"
        How features are scaled, by what the training rows say; "auto" is chosen in the fit, or standard.
    feature_clip : a number above 0, or None, default=5.0
        With standard scaling: standard deviations from the mean at which values are clipped; None never clips.
    bins : a whole number at most 1024, default=32
        With standard scaling: quantile bins into which a numeric column among sparse ones is encoded; 0 scales it
        like the others.
    init : one of random, greedy, or "auto", default="auto"
        How splits are initialised; "auto" is chosen in the fit, or random.
    loss : one of trees, forest, or "auto", default="auto"
        Loss that the gradient steps minimise; "auto" is chosen in the fit, or trees.
    optimizer : one of sgd, adam, adamw, default="adamw"
        Optimizer.
    learning_rate : a number above 0, default=0.01
        Learning rate.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        Learning rate schedule.
    warm_up : a number at least 0 and at most 1, default=0.1
        Fraction of the iterations over which the learning rate warms up.
    step_every : a whole number at least 1, default=10000
        With the step schedule: iterations between two changes.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, or "auto", default="auto"
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam; "auto" is chosen in the fit, or
        0.5.
    dropout : a number at least 0 and below 1, or "auto", default="auto"
        Fraction of the inputs dropped at random in each step; "auto" is chosen in the fit, or 0.1 with at least 100
        features and 0 with fewer.
    batch_size : a whole number at least 1, default=128
        Rows per mini-batch.
    iterations : a whole number at least 1, default=25000
        Maximum number of iterations (mini-batches). (scikit-learn: ``max_iter``)
    epochs : a number above 0, or None, default=20.0
        Epochs, clamped to [min_iterations, iterations]; None always runs iterations.
    min_iterations : a whole number, default=1200
        Minimum number of iterations, however small the data; half of it where the fit chooses and finds that the
        features say little.
    leaf_every : a whole number at least 1, default=50
        Mini-batches between two leaf updates.
    leaf_rows : one of batches, epoch, all, auto, default="auto"
        Rows that a leaf update sees.
    leaf_iterations : a whole number at least 1, default=5
        Iterations per leaf update.
    leaf_prior : a number at least 0, or "auto", default="auto"
        Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update; "auto" is
        chosen in the fit, or 1.
    early_stopping : True or False, or "auto", default="auto"
        Whether to keep the iteration that is best on held-out rows, or on the rows that trees leave out; "auto" does
        so with fewer than 100 features where no rows are left out.
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    patience : a whole number at least 1, default=20
        Leaf updates without improvement on the held-out rows before stopping. (scikit-learn: ``n_iter_no_change``)
    tolerance : a number above 0, or None, default=None
        Relative change of the mean loss between leaf updates below which training stops; None never stops for it.
        (scikit-learn: ``tol``)
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.
    warm_start : bool, default=False
        Whether ``fit`` goes on where the last one ended, by Ctrl-C, a callback or its iterations: on the same rows
        with the same parameters, but for iterations, which may be raised (with epochs=None). Keeps a checkpoint of
        the size of a few models.

    Notes
    -----
    Presets, for ``NeuralDecisionForestLDL.from_preset``:

    - ``best``: the defaults with 50 trees: the last per cent, for two and a half times the time; sldlf-auto searches
      for more.
    - ``paper``: the paper's text and nothing else: 5 trees of depth 7 on 64 shared units, 25,000 iterations, 20 leaf
      iterations over 100 mini-batches; what the text leaves open: standardised features, sgd with momentum 0.9, a
      learning rate of 1, batches of 64.
    - ``paper-aided``: paper with three aids of ours: bins of numeric columns among sparse ones, features clipped at 5
      deviations, and the iteration that is best on held-out rows.
    - ``released``: the authors' script, with its 3,000 iterations: 10 trees of depth 5 on 512 shared units, raw
      features. It differs in the learning rate (100 on the sum of the trees there, which is 1,000 on their mean; 30
      here, which settles), in mini-batches (drawn with replacement there, by epochs here) and in leaf updates (by
      routings as they were seen there, by the present splits here).
    - ``released-movie``: the same with the 2,000 iterations that the script has for the Movie set.
    - ``components``: for principal components and few rows (chosen on ages of faces): one factor for all features, no
      dropout, 40 trees of depth 5, no held-out rows.

    Examples
    --------
    >>> from ldlf import NeuralDecisionForestLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> NeuralDecisionForestLDL(trees=5, depth=4, iterations=20, epochs=5, min_iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "sndf-ldl"
    _declared = (
        "trees",
        "choose",
        "leave_out",
        "given_back",
        "grown_trees",
        "depth",
        "units",
        "bias",
        "scaling",
        "feature_clip",
        "bins",
        "init",
        "loss",
        "optimizer",
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
        "min_iterations",
        "leaf_every",
        "leaf_rows",
        "leaf_iterations",
        "leaf_prior",
        "early_stopping",
        "validation_fraction",
        "patience",
        "tolerance",
    )
    _known_as = {
        "n_estimators": "trees",
        "fit_intercept": "bias",
        "max_iter": "iterations",
        "n_iter_no_change": "patience",
        "tol": "tolerance",
    }
    _presets = {
        "best": {
            "trees": 50,
        },
        "paper": {
            "choose": False,
            "leave_out": 0,
            "scaling": "standard",
            "init": "random",
            "loss": "trees",
            "trees": 5,
            "depth": 7,
            "units": 64,
            "bias": False,
            "optimizer": "sgd",
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
            "tolerance": None,
            "bins": 0,
            "feature_clip": None,
            "early_stopping": False,
        },
        "paper-aided": {
            "choose": False,
            "leave_out": 0,
            "scaling": "standard",
            "init": "random",
            "loss": "trees",
            "trees": 5,
            "depth": 7,
            "units": 64,
            "bias": False,
            "optimizer": "sgd",
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
            "tolerance": None,
            "bins": 32,
            "feature_clip": 5,
            "early_stopping": True,
        },
        "released": {
            "choose": False,
            "leave_out": 0,
            "init": "random",
            "loss": "trees",
            "trees": 10,
            "depth": 5,
            "units": 512,
            "bias": True,
            "scaling": "raw",
            "optimizer": "sgd",
            "momentum": 0.9,
            "learning_rate": 30,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 1000,
            "epochs": None,
            "leaf_every": 50,
            "leaf_rows": "epoch",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": False,
            "tolerance": None,
            "iterations": 3000,
        },
        "released-movie": {
            "choose": False,
            "leave_out": 0,
            "init": "random",
            "loss": "trees",
            "trees": 10,
            "depth": 5,
            "units": 512,
            "bias": True,
            "scaling": "raw",
            "optimizer": "sgd",
            "momentum": 0.9,
            "learning_rate": 30,
            "schedule": "constant",
            "warm_up": 0,
            "batch_size": 1000,
            "epochs": None,
            "leaf_every": 50,
            "leaf_rows": "epoch",
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "weight_decay": 0,
            "dropout": 0,
            "early_stopping": False,
            "tolerance": None,
            "iterations": 2000,
        },
        "components": {
            "choose": False,
            "leave_out": 0,
            "trees": 40,
            "depth": 5,
            "scaling": "common",
            "weight_decay": 0.3,
            "dropout": 0,
            "min_iterations": 600,
            "early_stopping": False,
        },
    }

    def __init__(
        self,
        *,
        trees: int | Literal["auto"] = "auto",
        choose: bool = False,
        leave_out: int = 0,
        given_back: float = 0.3,
        grown_trees: int | Literal["auto"] = "auto",
        depth: int | Literal["auto"] = "auto",
        units: int | Literal["auto"] = "auto",
        bias: bool = True,
        scaling: Literal["raw", "standard", "common", "ranks", "relevance", "auto"] = "auto",
        feature_clip: float | None = 5.0,
        bins: int = 32,
        init: Literal["random", "greedy", "auto"] = "auto",
        loss: Literal["trees", "forest", "auto"] = "auto",
        optimizer: Literal["sgd", "adam", "adamw"] = "adamw",
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        schedule: Literal["constant", "step", "cosine"] = "cosine",
        warm_up: float = 0.1,
        step_every: int = 10000,
        step_factor: float = 0.1,
        weight_decay: float | Literal["auto"] = "auto",
        dropout: float | Literal["auto"] = "auto",
        batch_size: int = 128,
        iterations: int = 25000,
        epochs: float | None = 20.0,
        min_iterations: int = 1200,
        leaf_every: int = 50,
        leaf_rows: Literal["batches", "epoch", "all", "auto"] = "auto",
        leaf_iterations: int = 5,
        leaf_prior: float | Literal["auto"] = "auto",
        early_stopping: bool | Literal["auto"] = "auto",
        validation_fraction: float = 0.1,
        patience: int = 20,
        tolerance: float | None = None,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.trees = trees
        self.choose = choose
        self.leave_out = leave_out
        self.given_back = given_back
        self.grown_trees = grown_trees
        self.depth = depth
        self.units = units
        self.bias = bias
        self.scaling = scaling
        self.feature_clip = feature_clip
        self.bins = bins
        self.init = init
        self.loss = loss
        self.optimizer = optimizer
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
        self.min_iterations = min_iterations
        self.leaf_every = leaf_every
        self.leaf_rows = leaf_rows
        self.leaf_iterations = leaf_iterations
        self.leaf_prior = leaf_prior
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tolerance = tolerance
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start


class NeuralNetworkLDL(DistributionEstimator):
    """Network with one hidden layer and a softmax, trained on mini-batches, stopped early (``aa-bp``).

    Source: Geng, Label distribution learning, IEEE TKDE 28(7), 2016.

    Parameters
    ----------
    hidden : a whole number at least 1 and at most 65536, default=64
        Number of hidden units.
    epochs : a whole number at least 1, default=200
        Maximum number of epochs. (scikit-learn: ``max_iter``)
    batch_size : a whole number at least 1, default=64
        Rows per mini-batch.
    optimizer : one of sgd, adam, adamw, default="adamw"
        Optimizer. (scikit-learn: ``solver``)
    learning_rate : a number above 0, default=0.0005
        Learning rate. (scikit-learn: ``learning_rate_init``)
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    weight_decay : a number at least 0, default=1.0
        Weight decay, not of biases: decoupled with adamw, added to the gradient with sgd and adam.
    patience : a whole number at least 1, or None, default=10
        Epochs without improvement on the held-out rows before stopping; None runs every epoch. (scikit-learn:
        ``n_iter_no_change``)
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``NeuralNetworkLDL.from_preset``:

    - ``paper``: as published: back-propagation by plain steps, nothing held out, no penalty; hidden units, epochs and
      the learning rate (0.1) are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import NeuralNetworkLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> NeuralNetworkLDL(epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "aa-bp"
    _declared = (
        "hidden",
        "epochs",
        "batch_size",
        "optimizer",
        "learning_rate",
        "momentum",
        "weight_decay",
        "patience",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "max_iter": "epochs",
        "solver": "optimizer",
        "learning_rate_init": "learning_rate",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "optimizer": "sgd",
            "momentum": 0,
            "learning_rate": 0.1,
            "weight_decay": 0,
            "patience": None,
        },
    }

    def __init__(
        self,
        *,
        hidden: int = 64,
        epochs: int = 200,
        batch_size: int = 64,
        optimizer: Literal["sgd", "adam", "adamw"] = "adamw",
        learning_rate: float = 0.0005,
        momentum: float = 0.9,
        weight_decay: float = 1.0,
        patience: int | None = 10,
        validation_fraction: float = 0.1,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KNeighborsLDL(DistributionEstimator):
    """The mean distribution of the nearest training rows (``aa-knn``).

    Source: Geng 2016, Label distribution learning.

    Parameters
    ----------
    neighbors : a whole number at least 1, or "auto", default="auto"
        Number of neighbors; "auto" chooses it by leave-one-out validation on the training rows, up to 5000. (scikit-
        learn: ``n_neighbors``)
    scaling : one of raw, standard, or "auto", default="auto"
        How features are scaled before distances are taken; "auto" chooses it together with `neighbors`.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``KNeighborsLDL.from_preset``:

    - ``paper``: as published: distances of raw features; neighbors are chosen as by default, the publication's number
      is not known here.

    Examples
    --------
    >>> from ldlf import KNeighborsLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> KNeighborsLDL().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "aa-knn"
    _declared = (
        "neighbors",
        "scaling",
    )
    _known_as = {
        "n_neighbors": "neighbors",
    }
    _presets = {
        "paper": {
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        neighbors: int | Literal["auto"] = "auto",
        scaling: Literal["raw", "standard", "auto"] = "auto",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.neighbors = neighbors
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AgeSpecificRegressor(ValueEstimator):
    """Quadratic functions of the features, one per cluster of rows and range of ages; predicts numbers only
    (``aas``).

    Source: Lanitis, Draganova and Christodoulou, Comparing different classifiers for automatic age estimation, IEEE
    TSMC-B 34(1), 2004.

    Parameters
    ----------
    clusters : a whole number at least 1, default=3
        Number of clusters of rows by appearance. (scikit-learn: ``n_clusters``)
    ranges : a whole number at least 1, default=3
        Number of ranges of the label's values, with equally many training rows each.
    overlap : a number at least 0, default=0.5
        How far a range reaches into its neighbours when its function is fitted, as a fraction of its width.
    l2 : a number at least 0, or "auto", default="auto"
        L2 penalty per row on the coefficients of the global function; "auto" chooses it on held-out rows. (scikit-
        learn: ``alpha``)
    functions : one of added, separate, default="added"
        What the function of a cell is.
    special_l2 : a number at least 0, or "auto", default="auto"
        L2 penalty per row on the function of a cell, or on what it adds to the global one; "auto" chooses it on held-
        out rows.
    validation_fraction : a number above 0 and below 1, default=0.2
        Fraction of the training rows held out to choose the penalties.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``AgeSpecificRegressor.from_preset``:

    - ``paper``: as published: a function of its own per cell, no penalties; clusters, ranges and their overlap are
      ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import AgeSpecificRegressor
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AgeSpecificRegressor(label_values=[1, 2, 3, 4, 5]).fit(X, y).predict(X[:2]).shape
    (2,)
    """

    _learner = "aas"
    _declared = (
        "clusters",
        "ranges",
        "overlap",
        "l2",
        "functions",
        "special_l2",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "n_clusters": "clusters",
        "alpha": "l2",
    }
    _presets = {
        "paper": {
            "functions": "separate",
            "l2": 0,
            "special_l2": 0,
        },
    }

    def __init__(
        self,
        *,
        clusters: int = 3,
        ranges: int = 3,
        overlap: float = 0.5,
        l2: float | Literal["auto"] = "auto",
        functions: Literal["added", "separate"] = "added",
        special_l2: float | Literal["auto"] = "auto",
        validation_fraction: float = 0.2,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.clusters = clusters
        self.ranges = ranges
        self.overlap = overlap
        self.l2 = l2
        self.functions = functions
        self.special_l2 = special_l2
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AdaptiveLDLogitBoost(DistributionEstimator):
    """Boosted trees whose leaves separate one adaptively chosen pair of labels (``aoso-ldlogitboost``).

    Source: Xing, Geng, Xue 2016.

    Parameters
    ----------
    rounds : a whole number at least 1, default=3000
        Maximum number of boosting rounds. (scikit-learn: ``n_estimators``)
    learning_rate : a number above 0 and at most 1, default=0.05
        Learning rate: the factor of every step.
    max_depth : a whole number at least 1, default=6
        Maximum depth of a tree.
    min_leaf_weight : a number above 0, default=10.0
        Minimum weight of the rows in a leaf (their number where all weigh 1). (scikit-learn: ``min_samples_leaf``)
    l2 : a number at least 0, default=1.0
        L2 penalty on leaf values, added to every sum of second derivatives. (scikit-learn: ``l2_regularization``)
    max_features : a number above 0 and at most 1, default=0.2
        Fraction of the features tried at each split.
    subsample : a number above 0 and at most 1, default=0.7
        Fraction of the rows drawn for each round.
    validation_fraction : a number at least 0 and below 1, default=0.1
        Fraction of the training rows held out to choose the number of rounds; 0 runs all rounds.
    patience : a whole number at least 1, default=100
        Rounds without improvement on the held-out rows before stopping. (scikit-learn: ``n_iter_no_change``)
    refit : True or False, default=True
        Whether to refit on all rows with the chosen number of rounds.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``AdaptiveLDLogitBoost.from_preset``:

    - ``paper``: as published: every tree sees all rows and features, no penalty; rounds are chosen on held-out rows,
      depth and learning rate are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import AdaptiveLDLogitBoost
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AdaptiveLDLogitBoost(rounds=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "aoso-ldlogitboost"
    _declared = (
        "rounds",
        "learning_rate",
        "max_depth",
        "min_leaf_weight",
        "l2",
        "max_features",
        "subsample",
        "validation_fraction",
        "patience",
        "refit",
    )
    _known_as = {
        "n_estimators": "rounds",
        "min_samples_leaf": "min_leaf_weight",
        "l2_regularization": "l2",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "l2": 0,
            "max_features": 1,
            "subsample": 1,
        },
    }

    def __init__(
        self,
        *,
        rounds: int = 3000,
        learning_rate: float = 0.05,
        max_depth: int = 6,
        min_leaf_weight: float = 10.0,
        l2: float = 1.0,
        max_features: float = 0.2,
        subsample: float = 0.7,
        validation_fraction: float = 0.1,
        patience: int = 100,
        refit: bool = True,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_leaf_weight = min_leaf_weight
        self.l2 = l2
        self.max_features = max_features
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.refit = refit
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MaximumEntropyLDL(DistributionEstimator):
    """Maximum entropy model, fitted by L-BFGS; its penalty is chosen inside the training rows (``bfgs-ldl``).

    Source: Geng, Label distribution learning, IEEE TKDE 28(7), 2016.

    Parameters
    ----------
    l2 : a number at least 0, or "auto", default="auto"
        L2 penalty `l2/2 |theta|^2` on the loss summed over rows; "auto" chooses it on held-out rows.
    iterations : a whole number at least 1, default=500
        Maximum number of iterations of a minimisation. (scikit-learn: ``max_iter``)
    tolerance : a number at least 0, default=1e-07
        Stops when an iteration lowers the mean loss by less than this. (scikit-learn: ``tol``)
    memory : a whole number at least 1, default=10
        Pairs of steps and gradient differences that approximate the Hessian.
    patience : a whole number at least 1, or None, default=None
        Iterations without improvement on the held-out rows before stopping; None runs to the minimum. (scikit-learn:
        ``n_iter_no_change``)
    validation_fraction : a number above 0 and below 1, default=0.2
        Fraction of the training rows held out to choose the penalty or for early stopping.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``MaximumEntropyLDL.from_preset``:

    - ``paper``: as published: raw features, no penalty, to convergence.

    Examples
    --------
    >>> from ldlf import MaximumEntropyLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> MaximumEntropyLDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "bfgs-ldl"
    _declared = (
        "l2",
        "iterations",
        "tolerance",
        "memory",
        "patience",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "max_iter": "iterations",
        "tol": "tolerance",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "l2": 0,
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        l2: float | Literal["auto"] = "auto",
        iterations: int = 500,
        tolerance: float = 1e-07,
        memory: int = 10,
        patience: int | None = None,
        validation_fraction: float = 0.2,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.l2 = l2
        self.iterations = iterations
        self.tolerance = tolerance
        self.memory = memory
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ConditionalNetworkLDL(DistributionEstimator):
    """Conditional probability neural network: reads a row with a label's value; for ordered labels (``cpnn``).

    Source: Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013.

    Parameters
    ----------
    hidden : a whole number at least 1 and at most 65536, default=64
        Number of hidden units.
    epochs : a whole number at least 1, default=500
        Maximum number of epochs. (scikit-learn: ``max_iter``)
    learning_rate : a number above 0, default=0.0001
        Initial step size of every weight (resilient propagation adapts it).
    l2 : a number at least 0, default=0.3
        L2 penalty `l2/2 |weights|^2` on the loss summed over rows; biases are not penalised.
    patience : a whole number at least 1, or None, default=50
        Epochs without improvement on the held-out rows before stopping; None runs every epoch. (scikit-learn:
        ``n_iter_no_change``)
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``ConditionalNetworkLDL.from_preset``:

    - ``paper``: as published: resilient propagation on all rows, nothing held out, no penalty; hidden units and
      epochs are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import ConditionalNetworkLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> ConditionalNetworkLDL(epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "cpnn"
    _declared = (
        "hidden",
        "epochs",
        "learning_rate",
        "l2",
        "patience",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "max_iter": "epochs",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "l2": 0,
            "patience": None,
        },
    }

    def __init__(
        self,
        *,
        hidden: int = 64,
        epochs: int = 500,
        learning_rate: float = 0.0001,
        l2: float = 0.3,
        patience: int | None = 50,
        validation_fraction: float = 0.1,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.l2 = l2
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class RebuiltTargetsLDL(DistributionEstimator):
    """The maximum entropy model and targets rebuilt from neighbors and predictions, in alternation (``d2ldl``).

    Source: He et al., Data-dependent label distribution learning for age estimation, IEEE TIP 26(8), 2017.

    Parameters
    ----------
    mix : a number at least 0 and at most 1, or "auto", default="auto"
        Fraction of a row's target that is rebuilt from its neighbors and the predictions; "auto" chooses 0, 0.1, 0.2,
        0.3 or 0.5 on held-out rows.
    rounds : a whole number at least 1, default=3
        Maximum number of rounds: new targets, then a fit to them.
    neighbors : a whole number at least 1, default=20
        Number of neighbors that may take part in reconstructing a row. (scikit-learn: ``n_neighbors``)
    l1 : a number at least 0 and below 1, default=0.1
        L1 penalty on the reconstruction weights of a row, as a fraction of the one at which all of them vanish.
    l2 : a number at least 0, or "auto", default="auto"
        L2 penalty `l2/2 |theta|^2` of the regression; "auto" takes the one that `bfgs-ldl` chooses for the unmixed
        targets.
    iterations : a whole number at least 1, default=500
        Maximum number of iterations of a minimisation. (scikit-learn: ``max_iter``)
    tolerance : a number at least 0, default=1e-07
        Stops when an iteration lowers the mean loss by less than this. (scikit-learn: ``tol``)
    validation_fraction : a number above 0 and below 1, default=0.2
        Fraction of the training rows held out to choose what is auto.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``RebuiltTargetsLDL.from_preset``:

    - ``paper``: as published: targets always rebuilt from the neighbors, in alternation with the fit, raw features;
      the fraction and the number of neighbors are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import RebuiltTargetsLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> RebuiltTargetsLDL(iterations=20, rounds=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "d2ldl"
    _declared = (
        "mix",
        "rounds",
        "neighbors",
        "l1",
        "l2",
        "iterations",
        "tolerance",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "n_neighbors": "neighbors",
        "max_iter": "iterations",
        "tol": "tolerance",
    }
    _presets = {
        "paper": {
            "mix": 0.3,
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        mix: float | Literal["auto"] = "auto",
        rounds: int = 3,
        neighbors: int = 20,
        l1: float = 0.1,
        l2: float | Literal["auto"] = "auto",
        iterations: int = 500,
        tolerance: float = 1e-07,
        validation_fraction: float = 0.2,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.mix = mix
        self.rounds = rounds
        self.neighbors = neighbors
        self.l1 = l1
        self.l2 = l2
        self.iterations = iterations
        self.tolerance = tolerance
        self.validation_fraction = validation_fraction
        self.scaling = scaling
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
        Number of trees. (scikit-learn: ``n_estimators``)
    max_depth : a whole number at least 1, or None, default=None
        Maximum depth of a tree; None is no limit.
    min_leaf_weight : a number above 0, default=3.0
        Minimum weight of the rows in a leaf (their number where all weigh 1). (scikit-learn: ``min_samples_leaf``)
    max_features : a number above 0 and at most 1, default=0.5
        Fraction of the features tried at each split.
    bootstrap : True or False, default=False
        Whether each tree sees rows drawn with replacement (else all rows).
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``ExtraTreesLDL.from_preset``:

    - ``paper``: as published for regression: 100 trees on all rows, all features per split; leaves of two rows stand
      for its least size of a split, five rows.

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
        "min_leaf_weight",
        "max_features",
        "bootstrap",
    )
    _known_as = {
        "n_estimators": "trees",
        "min_samples_leaf": "min_leaf_weight",
    }
    _presets = {
        "paper": {
            "trees": 100,
            "max_depth": None,
            "min_leaf_weight": 2,
            "max_features": 1,
            "bootstrap": False,
        },
    }

    def __init__(
        self,
        *,
        trees: int = 200,
        max_depth: int | None = None,
        min_leaf_weight: float = 3.0,
        max_features: float = 0.5,
        bootstrap: bool = False,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.max_depth = max_depth
        self.min_leaf_weight = min_leaf_weight
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class AdaptiveIterativeScalingLDL(DistributionEstimator):
    """Iis-ldl on Gaussians whose width at every label adapts to the predictions there (``iis-aldl``).

    Source: Geng, Wang and Xia, Facial age estimation by adaptive label distribution learning, ICPR 2014.

    Parameters
    ----------
    iterations : a whole number at least 1, default=300
        Maximum number of iterations. (scikit-learn: ``max_iter``)
    tolerance : a number at least 0, default=1e-06
        Stops when an iteration lowers the mean loss by less than this. (scikit-learn: ``tol``)
    patience : a whole number at least 1, or None, default=10
        Iterations without improvement on the held-out rows before stopping; None runs to the tolerance. (scikit-
        learn: ``n_iter_no_change``)
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    init_sigma : a number above 0, or "auto", default="auto"
        Initial standard deviation of the Gaussian at every label; "auto" takes it from the targets.
    rounds : a whole number at least 1, default=5
        Maximum number of rounds: a fit of `iis-ldl`, then new deviations.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``AdaptiveIterativeScalingLDL.from_preset``:

    - ``paper``: as published: raw features, nothing held out, every fit to convergence.

    Examples
    --------
    >>> from ldlf import AdaptiveIterativeScalingLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> AdaptiveIterativeScalingLDL(iterations=20, rounds=20, label_values=[1, 2, 3, 4, 5]).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "iis-aldl"
    _declared = (
        "iterations",
        "tolerance",
        "patience",
        "validation_fraction",
        "scaling",
        "init_sigma",
        "rounds",
    )
    _known_as = {
        "max_iter": "iterations",
        "tol": "tolerance",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "patience": None,
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        iterations: int = 300,
        tolerance: float = 1e-06,
        patience: int | None = 10,
        validation_fraction: float = 0.1,
        scaling: Literal["raw", "standard"] = "standard",
        init_sigma: float | Literal["auto"] = "auto",
        rounds: int = 5,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.iterations = iterations
        self.tolerance = tolerance
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.init_sigma = init_sigma
        self.rounds = rounds
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class IterativeScalingLDL(DistributionEstimator):
    """Maximum entropy model, fitted by improved iterative scaling, stopped early (``iis-ldl``).

    Source: Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013.

    Parameters
    ----------
    iterations : a whole number at least 1, default=300
        Maximum number of iterations. (scikit-learn: ``max_iter``)
    tolerance : a number at least 0, default=1e-06
        Stops when an iteration lowers the mean loss by less than this. (scikit-learn: ``tol``)
    patience : a whole number at least 1, or None, default=10
        Iterations without improvement on the held-out rows before stopping; None runs to the tolerance. (scikit-
        learn: ``n_iter_no_change``)
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``IterativeScalingLDL.from_preset``:

    - ``paper``: as published: raw features, nothing held out, to convergence.

    Examples
    --------
    >>> from ldlf import IterativeScalingLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> IterativeScalingLDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "iis-ldl"
    _declared = (
        "iterations",
        "tolerance",
        "patience",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "max_iter": "iterations",
        "tol": "tolerance",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "patience": None,
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        iterations: int = 300,
        tolerance: float = 1e-06,
        patience: int | None = 10,
        validation_fraction: float = 0.1,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.iterations = iterations
        self.tolerance = tolerance
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KernelRidgeLDL(DistributionEstimator):
    """Ridge regression of log-ratios with a Laplace kernel (``kernel-ridge``).

    Source: log-ratios: Aitchison 1982, The statistical analysis of compositional data; kernel ridge regression:
    Saunders, Gammerman and Vovk 1998.

    Parameters
    ----------
    penalty : a number above 0, or "auto", default="auto"
        Ridge penalty; "auto" chooses it on held-out rows, from 1e-5 to 1000. (scikit-learn: ``alpha``)
    width : a number above 0, or "auto", default="auto"
        Distance at which the kernel falls to 1/e, as a multiple of the mean distance between training rows; "auto"
        chooses it on held-out rows, from 0.0625 to 64.
    target_clip : a number above 0 and below 0.5, or "auto", default="auto"
        Least share of a label before its logarithm is taken; "auto" chooses it on held-out rows, from 1e-6 to 0.3.
    scaling : one of raw, standard, or "auto", default="auto"
        How features are scaled; "auto" chooses it on held-out rows.
    search_rows : a whole number at least 2, default=1500
        Maximum number of training rows used to choose what is auto.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Examples
    --------
    >>> from ldlf import KernelRidgeLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> KernelRidgeLDL().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "kernel-ridge"
    _declared = (
        "penalty",
        "width",
        "target_clip",
        "scaling",
        "search_rows",
    )
    _known_as = {
        "alpha": "penalty",
    }

    def __init__(
        self,
        *,
        penalty: float | Literal["auto"] = "auto",
        width: float | Literal["auto"] = "auto",
        target_clip: float | Literal["auto"] = "auto",
        scaling: Literal["raw", "standard", "auto"] = "auto",
        search_rows: int = 1500,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.penalty = penalty
        self.width = width
        self.target_clip = target_clip
        self.scaling = scaling
        self.search_rows = search_rows
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LocallyAdjustedRegressor(ValueEstimator):
    """Support vector regression, adjusted by classifiers of the labels around its prediction; predicts numbers only
    (``larr``).

    Source: Guo, Fu, Dyer and Huang, Image-based human age estimation by manifold learning and locally adjusted robust
    regression, IEEE TIP 17(7), 2008.

    Parameters
    ----------
    window : a number at least 0, or "auto", default="auto"
        How far from the regressed value labels compete, in units of their values; "auto" chooses 1, 2, 4 or 8 on
        held-out rows.
    c : a number above 0, or "auto", default="auto"
        Cost C of the regression per standard deviation of the label; "auto" chooses 1, 3, 10 or 30 on held-out rows.
        (scikit-learn: ``C``)
    epsilon : a number at least 0, default=0.1
        Half-width of the tube without loss, in standard deviations of the label.
    pair_c : a number above 0, default=1.0
        Cost C of the classifiers of pairs of labels.
    decision : one of wins, tournament, default="wins"
        How the classifiers of pairs decide.
    width : a number above 0, default=1.0
        Width of the kernel, as a multiple of the mean distance between training rows.
    tolerance : a number above 0, default=0.001
        Largest violation of the optimality conditions at which the solver stops. (scikit-learn: ``tol``)
    validation_fraction : a number above 0 and below 1, default=0.2
        Fraction of the training rows held out to choose what is auto.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``LocallyAdjustedRegressor.from_preset``:

    - ``paper``: as published: a tournament of pairs decides; the window is chosen on held-out rows, costs and kernel
      are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import LocallyAdjustedRegressor
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> LocallyAdjustedRegressor(label_values=[1, 2, 3, 4, 5]).fit(X, y).predict(X[:2]).shape
    (2,)
    """

    _learner = "larr"
    _declared = (
        "window",
        "c",
        "epsilon",
        "pair_c",
        "decision",
        "width",
        "tolerance",
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "C": "c",
        "tol": "tolerance",
    }
    _presets = {
        "paper": {
            "decision": "tournament",
        },
    }

    def __init__(
        self,
        *,
        window: float | Literal["auto"] = "auto",
        c: float | Literal["auto"] = "auto",
        epsilon: float = 0.1,
        pair_c: float = 1.0,
        decision: Literal["wins", "tournament"] = "wins",
        width: float = 1.0,
        tolerance: float = 0.001,
        validation_fraction: float = 0.2,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.window = window
        self.c = c
        self.epsilon = epsilon
        self.pair_c = pair_c
        self.decision = decision
        self.width = width
        self.tolerance = tolerance
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LDLogitBoost(DistributionEstimator):
    """Boosted regression trees, one per label and round, on the K-L divergence (``ldlogitboost``).

    Source: Xing, Geng, Xue 2016.

    Parameters
    ----------
    rounds : a whole number at least 1, default=1000
        Maximum number of boosting rounds. (scikit-learn: ``n_estimators``)
    learning_rate : a number above 0 and at most 1, default=0.05
        Learning rate: the factor of every step.
    max_depth : a whole number at least 1, default=6
        Maximum depth of a tree.
    min_leaf_weight : a number above 0, default=10.0
        Minimum weight of the rows in a leaf (their number where all weigh 1). (scikit-learn: ``min_samples_leaf``)
    l2 : a number at least 0, default=1.0
        L2 penalty on leaf values, added to every sum of second derivatives. (scikit-learn: ``l2_regularization``)
    max_features : a number above 0 and at most 1, default=0.2
        Fraction of the features tried at each split.
    subsample : a number above 0 and at most 1, default=0.7
        Fraction of the rows drawn for each round.
    validation_fraction : a number at least 0 and below 1, default=0.1
        Fraction of the training rows held out to choose the number of rounds; 0 runs all rounds.
    patience : a whole number at least 1, default=40
        Rounds without improvement on the held-out rows before stopping. (scikit-learn: ``n_iter_no_change``)
    refit : True or False, default=True
        Whether to refit on all rows with the chosen number of rounds.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``LDLogitBoost.from_preset``:

    - ``paper``: as published: every tree sees all rows and features, no penalty; rounds are chosen on held-out rows,
      depth and learning rate are ours, the publication's are not known here.

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
        "min_leaf_weight",
        "l2",
        "max_features",
        "subsample",
        "validation_fraction",
        "patience",
        "refit",
    )
    _known_as = {
        "n_estimators": "rounds",
        "min_samples_leaf": "min_leaf_weight",
        "l2_regularization": "l2",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "l2": 0,
            "max_features": 1,
            "subsample": 1,
        },
    }

    def __init__(
        self,
        *,
        rounds: int = 1000,
        learning_rate: float = 0.05,
        max_depth: int = 6,
        min_leaf_weight: float = 10.0,
        l2: float = 1.0,
        max_features: float = 0.2,
        subsample: float = 0.7,
        validation_fraction: float = 0.1,
        patience: int = 40,
        refit: bool = True,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_leaf_weight = min_leaf_weight
        self.l2 = l2
        self.max_features = max_features
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.refit = refit
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SupportVectorLDL(DistributionEstimator):
    """Support vector regression of all labels at once, through a sigmoid (``ldsvr``).

    Source: Geng and Hou 2015, Pre-release prediction of crowd opinion on movies by label distribution learning.

    Parameters
    ----------
    c : a number above 0, or "auto", default="auto"
        Cost C of leaving the tube; "auto" chooses it on held-out rows, from 0.01 to 1e6. (scikit-learn: ``C``)
    epsilon : a number at least 0 and below 1, default=0.1
        Half-width of the tube without loss, in units of probability.
    width : a number above 0, or "auto", default="auto"
        Width of the kernel, as a multiple of the mean distance between training rows; "auto" chooses it on held-out
        rows, from 0.0625 to 16.
    target_clip : a number above 0 and below 0.5, or "auto", default="auto"
        Distance that targets keep from 0 and 1 before their logit is taken; "auto" chooses it on held-out rows, from
        1e-6 to 0.3.
    scaling : one of raw, standard, or "auto", default="auto"
        How features are scaled; "auto" chooses it on held-out rows.
    iterations : a whole number at least 1, default=15
        Maximum number of re-weighted least squares iterations. (scikit-learn: ``max_iter``)
    tolerance : a number at least 0, default=0.001
        Stops when an iteration lowers the objective by less than this fraction. (scikit-learn: ``tol``)
    search_rows : a whole number at least 2, default=1500
        Maximum number of training rows used to choose what is auto.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``SupportVectorLDL.from_preset``:

    - ``paper``: as published: raw features, a kernel as wide as the mean distance between rows; cost and tube are
      those of the authors' toolbox (its copies differ), the distance of targets from 0 and 1 is chosen as by default.

    Examples
    --------
    >>> from ldlf import SupportVectorLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> SupportVectorLDL(iterations=20).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "ldsvr"
    _declared = (
        "c",
        "epsilon",
        "width",
        "target_clip",
        "scaling",
        "iterations",
        "tolerance",
        "search_rows",
    )
    _known_as = {
        "C": "c",
        "max_iter": "iterations",
        "tol": "tolerance",
    }
    _presets = {
        "paper": {
            "c": 1,
            "epsilon": 0.1,
            "width": 1,
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        c: float | Literal["auto"] = "auto",
        epsilon: float = 0.1,
        width: float | Literal["auto"] = "auto",
        target_clip: float | Literal["auto"] = "auto",
        scaling: Literal["raw", "standard", "auto"] = "auto",
        iterations: int = 15,
        tolerance: float = 0.001,
        search_rows: int = 1500,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.c = c
        self.epsilon = epsilon
        self.width = width
        self.target_clip = target_clip
        self.scaling = scaling
        self.iterations = iterations
        self.tolerance = tolerance
        self.search_rows = search_rows
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class NaiveBayesLDL(DistributionEstimator):
    """Gaussian naive Bayes on rows of single labels, weighted by the distributions (``pt-bayes``).

    Source: Geng 2016, Label distribution learning.

    Parameters
    ----------
    resample : True or False, default=False
        Whether to draw as many single-label rows as there are rows, as published, instead of weighting them.
    smoothing : a number at least 0, default=1e-09
        Fraction of the largest feature variance that is added to every variance. (scikit-learn: ``var_smoothing``)
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``NaiveBayesLDL.from_preset``:

    - ``paper``: as published: as many single-label rows as there are rows, drawn by the distributions.

    Examples
    --------
    >>> from ldlf import NaiveBayesLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> NaiveBayesLDL().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "pt-bayes"
    _declared = (
        "resample",
        "smoothing",
    )
    _known_as = {
        "var_smoothing": "smoothing",
    }
    _presets = {
        "paper": {
            "resample": True,
            "smoothing": 0,
        },
    }

    def __init__(
        self,
        *,
        resample: bool = False,
        smoothing: float = 1e-09,
        label_values: Any = None,
        sigma: Any = None,
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


class PairwiseSVMLDL(DistributionEstimator):
    """Support vector classifiers of pairs of labels on rows of single labels, probabilities coupled (``pt-svm``).

    Source: Geng 2016, Label distribution learning.

    Parameters
    ----------
    c : a number above 0, default=1.0
        Cost C of a row on the wrong side. (scikit-learn: ``C``)
    kernel : one of rbf, linear, default="rbf"
        Kernel of the classifiers.
    width : a number above 0, default=1.0
        Width of the rbf kernel, as a multiple of the mean distance between training rows.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    folds : a whole number at least 2, default=5
        Cross-validation folds for the sigmoid of a pair (Platt scaling).
    tolerance : a number above 0, default=0.001
        Largest violation of the optimality conditions at which the solver stops. (scikit-learn: ``tol``)
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``PairwiseSVMLDL.from_preset``:

    - ``paper``: as published: raw features, pairwise coupled probabilities; kernel and cost are ours, the
      publication's are not known here.

    Examples
    --------
    >>> from ldlf import PairwiseSVMLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> PairwiseSVMLDL().fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "pt-svm"
    _declared = (
        "c",
        "kernel",
        "width",
        "scaling",
        "folds",
        "tolerance",
    )
    _known_as = {
        "C": "c",
        "tol": "tolerance",
    }
    _presets = {
        "paper": {
            "scaling": "raw",
        },
    }

    def __init__(
        self,
        *,
        c: float = 1.0,
        kernel: Literal["rbf", "linear"] = "rbf",
        width: float = 1.0,
        scaling: Literal["raw", "standard"] = "standard",
        folds: int = 5,
        tolerance: float = 0.001,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.c = c
        self.kernel = kernel
        self.width = width
        self.scaling = scaling
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
        Number of trees. (scikit-learn: ``n_estimators``)
    max_depth : a whole number at least 1, or None, default=None
        Maximum depth of a tree; None is no limit.
    min_leaf_weight : a number above 0, default=3.0
        Minimum weight of the rows in a leaf (their number where all weigh 1). (scikit-learn: ``min_samples_leaf``)
    max_features : a number above 0 and at most 1, default=0.2
        Fraction of the features tried at each split.
    bootstrap : True or False, default=True
        Whether each tree sees rows drawn with replacement (else all rows).
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``RandomForestLDL.from_preset``:

    - ``paper``: as published: 100 trees on bootstrap samples, grown to the end; a third of the features per split, as
      the author's package has for regression.

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
        "min_leaf_weight",
        "max_features",
        "bootstrap",
    )
    _known_as = {
        "n_estimators": "trees",
        "min_samples_leaf": "min_leaf_weight",
    }
    _presets = {
        "paper": {
            "trees": 100,
            "max_depth": None,
            "min_leaf_weight": 1,
            "max_features": 0.333,
            "bootstrap": True,
        },
    }

    def __init__(
        self,
        *,
        trees: int = 200,
        max_depth: int | None = None,
        min_leaf_weight: float = 3.0,
        max_features: float = 0.2,
        bootstrap: bool = True,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.trees = trees
        self.max_depth = max_depth
        self.min_leaf_weight = min_leaf_weight
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SparseEncodingLDL(DistributionEstimator):
    """Maximum entropy model on a sparse hidden layer, stopped early (``sce-ldl``).

    Source: Yang et al., Sparsity conditional energy label distribution learning for age estimation, IJCAI 2016.

    Parameters
    ----------
    hidden : a whole number at least 1 and at most 65536, default=64
        Number of hidden units.
    activity : a number above 0 and below 1, default=0.1
        Target mean activation of a hidden unit.
    sparsity : a number at least 0, default=0.01
        Strength of the sparsity penalty, relative to the mean loss.
    l2 : a number at least 0, default=3.0
        L2 penalty `l2/2 |weights|^2` on the loss summed over rows; biases are not penalised.
    iterations : a whole number at least 1, default=300
        Maximum number of iterations. (scikit-learn: ``max_iter``)
    tolerance : a number at least 0, default=1e-07
        Stops when an iteration lowers the mean loss by less than this. (scikit-learn: ``tol``)
    patience : a whole number at least 1, or None, default=20
        Iterations without improvement on the held-out rows before stopping; None runs to the minimum. (scikit-learn:
        ``n_iter_no_change``)
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping.
    scaling : one of raw, standard, default="standard"
        How features are scaled.
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
        Seed of everything random. The same seed gives the same model, to the byte.
    n_jobs : int, optional
        Threads; None is one, -1 one for every core. The model does not depend on it.
    verbose : bool, default=False
        Whether to show a bar on standard error while fitting.

    Notes
    -----
    Presets, for ``SparseEncodingLDL.from_preset``:

    - ``paper``: as published: nothing held out, no penalty beside the sparsity; hidden units, activity and sparsity
      are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import SparseEncodingLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> SparseEncodingLDL(iterations=20).fit(X, y).predict(X[:2]).shape
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
        "validation_fraction",
        "scaling",
    )
    _known_as = {
        "max_iter": "iterations",
        "tol": "tolerance",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "l2": 0,
            "patience": None,
        },
    }

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
        validation_fraction: float = 0.1,
        scaling: Literal["raw", "standard"] = "standard",
        label_values: Any = None,
        sigma: Any = None,
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
        self.validation_fraction = validation_fraction
        self.scaling = scaling
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MeanLDL(DistributionEstimator):
    """Always the mean training distribution: the simplest baseline (``mean``).

    Parameters
    ----------
    label_values : array of numbers, optional
        The number that each label stands for (an age, a rating), rising; needed for means, quantiles and intervals
        when y has several columns.
    sigma : float or one for each label, optional
        With one ordered label per row: the standard deviation of the Gaussian around it. Without it, all of a row is
        on its label.
    random_state : int, RandomState, Generator or None, default=0
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
        sigma: Any = None,
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
    "sndf-ldl": NeuralDecisionForestLDL,
    "aa-bp": NeuralNetworkLDL,
    "aa-knn": KNeighborsLDL,
    "aas": AgeSpecificRegressor,
    "aoso-ldlogitboost": AdaptiveLDLogitBoost,
    "bfgs-ldl": MaximumEntropyLDL,
    "cpnn": ConditionalNetworkLDL,
    "d2ldl": RebuiltTargetsLDL,
    "extra-trees": ExtraTreesLDL,
    "iis-aldl": AdaptiveIterativeScalingLDL,
    "iis-ldl": IterativeScalingLDL,
    "kernel-ridge": KernelRidgeLDL,
    "larr": LocallyAdjustedRegressor,
    "ldlogitboost": LDLogitBoost,
    "ldsvr": SupportVectorLDL,
    "pt-bayes": NaiveBayesLDL,
    "pt-svm": PairwiseSVMLDL,
    "random-forest": RandomForestLDL,
    "sce-ldl": SparseEncodingLDL,
    "mean": MeanLDL,
}

__all__ = [
    "LDLForest",
    "LDLForestAuto",
    "NeuralDecisionForestLDL",
    "NeuralNetworkLDL",
    "KNeighborsLDL",
    "AgeSpecificRegressor",
    "AdaptiveLDLogitBoost",
    "MaximumEntropyLDL",
    "ConditionalNetworkLDL",
    "RebuiltTargetsLDL",
    "ExtraTreesLDL",
    "AdaptiveIterativeScalingLDL",
    "IterativeScalingLDL",
    "KernelRidgeLDL",
    "LocallyAdjustedRegressor",
    "LDLogitBoost",
    "SupportVectorLDL",
    "NaiveBayesLDL",
    "PairwiseSVMLDL",
    "RandomForestLDL",
    "SparseEncodingLDL",
    "MeanLDL",
]
