"""Every learner on a deep network as an estimator. Written by tools/generate_estimators.py from the declarations in Rust; do not edit."""

from __future__ import annotations

from typing import Any, Literal

from ._base import LDLEstimator
from ._deep import DeepEstimator


class DeepLDLForest(DeepEstimator):
    """Deep label distribution learning forest: soft trees on a deep network, trained end to end (``dldlf``).

    Source: W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017.

    Parameters
    ----------
    backbone : one of small-cnn, resnet18, efficientnet-lite0, mobilenet-v1, alexnet, alexnet-caffe, vgg16, mlp, default="small-cnn"
        Network under the trees or the softmax.
    weights : text, or None, default=None
        File of pretrained weights (.safetensors, .pth); None starts from random ones.
    side : a whole number at least 8 and at most 4096, or "auto", default="auto"
        Side of the square input in pixels; "auto" is the default of the backbone.
    channels : a whole number at least 1 and at most 3, default=3
        Channels of the images: 3 for colour, 1 for grey.
    device : text, default="cpu"
        Device: cpu, or one enabled in this build (wgpu, vulkan, metal, cuda, rocm).
    epochs : a whole number at least 1 and at most 1000000, default=20
        Number of epochs. (scikit-learn: ``max_iter``)
    iterations : a whole number at least 1, or None, default=None
        Number of mini-batches, in place of `epochs`; None goes by epochs.
    batch_size : a whole number at least 1, default=64
        Rows per mini-batch.
    optimizer : one of sgd, adam, adamw, default="adamw"
        Optimizer.
    learning_rate : a number above 0, or "auto", default="auto"
        Learning rate of the head; "auto" is 0.005, but 0.0003 for adam and adamw on backbones without batch norm
        (alexnet, vgg16).
    backbone_factor : a number at least 0, or "auto", default="auto"
        Factor of the backbone's learning rate relative to the head's; "auto" is 0.15 with pretrained weights and 1
        without.
    convolution_factor : a number at least 0, default=1.0
        Further factor of the learning rate of the backbone's convolutions.
    layer_decay : a number above 0 and at most 1, default=1.0
        Factor of the learning rate from each layer of the backbone to the one before it; 1 lets all layers learn
        alike.
    unfreeze_epochs : a whole number at most 1000000, default=0
        Epochs over which the layers of the backbone join the training, the last one first; in epoch 1 the head learns
        alone. 0 trains all from the start.
    freeze : text, or None, default=None
        Prefixes of the names of frozen layers, joined by +, such as layer1+layer2; all freezes the backbone.
    start_epochs : a whole number at most 1000000, or "auto", default="auto"
        Epochs in which the last layer and the leaves learn alone, on features that are computed once, before the rest
        joins; "auto" is 30 with pretrained weights and 0 without.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        Learning rate schedule.
    warm_up : a number at least 0 and at most 1, default=0.1
        Fraction of the iterations over which the learning rate warms up.
    step_epochs : a number above 0, default=10.0
        With the step schedule: epochs between two changes.
    step_iterations : a whole number at least 1, or None, default=None
        With the step schedule: mini-batches between two changes, in place of `step_epochs`; None goes by epochs.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, default=0.05
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam; biases and batch norms do not
        decay.
    max_grad_norm : a number above 0, or None, default=5.0
        Maximum norm of the gradient of all parameters; None does not clip.
    average : a number above 0 and below 1, or None, default=None
        Share of the past in a running average of the network's weights, such as 0.99: validation and the model take
        the average; None takes the weights as they are.
    input_range : a number above 0, or "auto", default="auto"
        Largest value of a channel, such as 1 or 255; "auto" is what the weights or the backbone expect.
    input_mean : text, or "auto", default="auto"
        Value that is subtracted from every channel, or three for red, green and blue, joined by +; "auto" is what the
        weights or the backbone expect.
    input_deviation : text, or "auto", default="auto"
        Value that every channel is then divided by, or three, joined by +; "auto" is what the weights or the backbone
        expect.
    channel_order : one of rgb, bgr, or "auto", default="auto"
        Order of the channels; "auto" is what the weights or the backbone expect.
    input_crop : a number at least 0 and below 0.5, default=0.0
        Fraction cut off at each edge of an image before it is resized, such as 0.15 where faces should fill the
        square.
    flip : True or False, default=True
        Whether images are mirrored at random.
    crop : a number at least 0 and at most 0.5, default=0.1
        Maximum fraction by which the crop of an image is moved and resized at random.
    jitter : a number at least 0 and at most 1, default=0.2
        Maximum relative change of brightness, contrast and saturation.
    erasing : a number at least 0 and at most 0.9, default=0.0
        Maximum fraction of an image that is erased at random, in every second image.
    mixup : a number at least 0 and at most 1, default=0.0
        Parameter of the beta distribution of the shares in which the rows of a mini-batch are mixed in pairs, inputs
        and targets alike; 0 mixes none.
    early_stopping : True or False, default=True
        Whether to keep the epoch that is best on the validation rows, and to stop when it does not improve.
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping, unless the data marks validation rows itself.
    patience : a whole number at least 1, default=10
        Epochs without improvement before stopping. (scikit-learn: ``n_iter_no_change``)
    trees : a whole number at least 1 and at most 1000000, default=10
        Number of trees. (scikit-learn: ``n_estimators``)
    depth : a whole number at least 1 and at most 30, default=6
        Depth of every tree, which then has 2^(depth-1) leaves.
    units : a whole number at least 1, or "auto", default="auto"
        Output units of the layer under the trees, shared by the trees at random; "auto" gives every split its own.
    steepness : a number above 0, or None, default=2.0
        Standard deviation of the split activations over the first mini-batch: larger values separate the rows more
        clearly at the start; None keeps the random weights.
    loss : one of trees, forest, default="trees"
        Loss that the gradient steps minimise.
    leaf_every : a whole number at least 1, or "auto", default="auto"
        Mini-batches between two leaf updates; "auto" is one epoch, at most 100.
    early_leaf_updates : True or False, default=True
        Whether leaves are also updated after the first 4, 8, 16 ... mini-batches: equal leaves give the network no
        gradient.
    leaf_iterations : a whole number at least 1, default=20
        Iterations per leaf update.
    leaf_prior : a number at least 0, default=1.0
        Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
    leaf_smoothing : a number at least 0, default=0.0
        With ordered labels: standard deviation, in labels, by which leaves are smoothed along the labels after an
        update.
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
    Presets, for ``DeepLDLForest.from_preset``:

    - ``paper``: the paper's text: 5 trees of depth 7 on 64 units, leaves every 100 mini-batches, 25,000 iterations;
      sgd as the authors' solver, at a constant rate.
    - ``released``: the authors' solver for AlexNet: the rate halves every 10,000 of 30,000 iterations, convolutions
      learn at a tenth, batches of 64, 112 subtracted, no mirroring.
    - ``released-vgg``: the authors' solver for VGG-16: as released, with all layers at the full rate and batches of
      32.

    Examples
    --------
    >>> from ldlf import DeepLDLForest
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> DeepLDLForest(backbone="mlp", trees=5, depth=4, iterations=20, epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "dldlf"
    _declared = (
        "backbone",
        "weights",
        "side",
        "channels",
        "device",
        "epochs",
        "iterations",
        "batch_size",
        "optimizer",
        "learning_rate",
        "backbone_factor",
        "convolution_factor",
        "layer_decay",
        "unfreeze_epochs",
        "freeze",
        "start_epochs",
        "momentum",
        "schedule",
        "warm_up",
        "step_epochs",
        "step_iterations",
        "step_factor",
        "weight_decay",
        "max_grad_norm",
        "average",
        "input_range",
        "input_mean",
        "input_deviation",
        "channel_order",
        "input_crop",
        "flip",
        "crop",
        "jitter",
        "erasing",
        "mixup",
        "early_stopping",
        "validation_fraction",
        "patience",
        "trees",
        "depth",
        "units",
        "steepness",
        "loss",
        "leaf_every",
        "early_leaf_updates",
        "leaf_iterations",
        "leaf_prior",
        "leaf_smoothing",
    )
    _known_as = {
        "max_iter": "epochs",
        "n_iter_no_change": "patience",
        "n_estimators": "trees",
    }
    _presets = {
        "paper": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "leaf_every": 100,
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "leaf_smoothing": 0,
            "early_leaf_updates": False,
            "steepness": None,
            "loss": "trees",
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "flip": False,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
            "learning_rate": 0.5,
            "iterations": 25000,
            "schedule": "constant",
            "batch_size": 64,
            "crop": 0,
        },
        "released": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "leaf_every": 100,
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "leaf_smoothing": 0,
            "early_leaf_updates": False,
            "steepness": None,
            "loss": "trees",
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "flip": False,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
            "iterations": 30000,
            "schedule": "step",
            "step_iterations": 10000,
            "step_factor": 0.5,
            "backbone_factor": 1,
            "input_range": 255,
            "input_mean": 112,
            "input_deviation": 1,
            "learning_rate": 0.5,
            "batch_size": 64,
            "convolution_factor": 0.1,
            "crop": 0.06,
        },
        "released-vgg": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "leaf_every": 100,
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "leaf_smoothing": 0,
            "early_leaf_updates": False,
            "steepness": None,
            "loss": "trees",
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "flip": False,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
            "iterations": 30000,
            "schedule": "step",
            "step_iterations": 10000,
            "step_factor": 0.5,
            "backbone_factor": 1,
            "input_range": 255,
            "input_mean": 112,
            "input_deviation": 1,
            "learning_rate": 0.5,
            "batch_size": 32,
            "convolution_factor": 1,
            "crop": 0.07,
        },
    }

    def __init__(
        self,
        *,
        backbone: Literal[
            "small-cnn", "resnet18", "efficientnet-lite0", "mobilenet-v1", "alexnet", "alexnet-caffe", "vgg16", "mlp"
        ] = "small-cnn",
        weights: str | None = None,
        side: int | Literal["auto"] = "auto",
        channels: int = 3,
        device: str = "cpu",
        epochs: int = 20,
        iterations: int | None = None,
        batch_size: int = 64,
        optimizer: Literal["sgd", "adam", "adamw"] = "adamw",
        learning_rate: float | Literal["auto"] = "auto",
        backbone_factor: float | Literal["auto"] = "auto",
        convolution_factor: float = 1.0,
        layer_decay: float = 1.0,
        unfreeze_epochs: int = 0,
        freeze: str | None = None,
        start_epochs: int | Literal["auto"] = "auto",
        momentum: float = 0.9,
        schedule: Literal["constant", "step", "cosine"] = "cosine",
        warm_up: float = 0.1,
        step_epochs: float = 10.0,
        step_iterations: int | None = None,
        step_factor: float = 0.1,
        weight_decay: float = 0.05,
        max_grad_norm: float | None = 5.0,
        average: float | None = None,
        input_range: float | Literal["auto"] = "auto",
        input_mean: str = "auto",
        input_deviation: str = "auto",
        channel_order: Literal["rgb", "bgr", "auto"] = "auto",
        input_crop: float = 0.0,
        flip: bool = True,
        crop: float = 0.1,
        jitter: float = 0.2,
        erasing: float = 0.0,
        mixup: float = 0.0,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        patience: int = 10,
        trees: int = 10,
        depth: int = 6,
        units: int | Literal["auto"] = "auto",
        steepness: float | None = 2.0,
        loss: Literal["trees", "forest"] = "trees",
        leaf_every: int | Literal["auto"] = "auto",
        early_leaf_updates: bool = True,
        leaf_iterations: int = 20,
        leaf_prior: float = 1.0,
        leaf_smoothing: float = 0.0,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.backbone = backbone
        self.weights = weights
        self.side = side
        self.channels = channels
        self.device = device
        self.epochs = epochs
        self.iterations = iterations
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.backbone_factor = backbone_factor
        self.convolution_factor = convolution_factor
        self.layer_decay = layer_decay
        self.unfreeze_epochs = unfreeze_epochs
        self.freeze = freeze
        self.start_epochs = start_epochs
        self.momentum = momentum
        self.schedule = schedule
        self.warm_up = warm_up
        self.step_epochs = step_epochs
        self.step_iterations = step_iterations
        self.step_factor = step_factor
        self.weight_decay = weight_decay
        self.max_grad_norm = max_grad_norm
        self.average = average
        self.input_range = input_range
        self.input_mean = input_mean
        self.input_deviation = input_deviation
        self.channel_order = channel_order
        self.input_crop = input_crop
        self.flip = flip
        self.crop = crop
        self.jitter = jitter
        self.erasing = erasing
        self.mixup = mixup
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.trees = trees
        self.depth = depth
        self.units = units
        self.steepness = steepness
        self.loss = loss
        self.leaf_every = leaf_every
        self.early_leaf_updates = early_leaf_updates
        self.leaf_iterations = leaf_iterations
        self.leaf_prior = leaf_prior
        self.leaf_smoothing = leaf_smoothing
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start


class DeepNeuralDecisionForestLDL(DeepEstimator):
    """The same with the rule of neural decision forests: every mini-batch trains one tree drawn at random (``dndf-
    ldl``).

    Source: P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; as compared in Shen et al. 2017.

    Parameters
    ----------
    backbone : one of small-cnn, resnet18, efficientnet-lite0, mobilenet-v1, alexnet, alexnet-caffe, vgg16, mlp, default="small-cnn"
        Network under the trees or the softmax.
    weights : text, or None, default=None
        File of pretrained weights (.safetensors, .pth); None starts from random ones.
    side : a whole number at least 8 and at most 4096, or "auto", default="auto"
        Side of the square input in pixels; "auto" is the default of the backbone.
    channels : a whole number at least 1 and at most 3, default=3
        Channels of the images: 3 for colour, 1 for grey.
    device : text, default="cpu"
        Device: cpu, or one enabled in this build (wgpu, vulkan, metal, cuda, rocm).
    epochs : a whole number at least 1 and at most 1000000, default=20
        Number of epochs. (scikit-learn: ``max_iter``)
    iterations : a whole number at least 1, or None, default=None
        Number of mini-batches, in place of `epochs`; None goes by epochs.
    batch_size : a whole number at least 1, default=64
        Rows per mini-batch.
    optimizer : one of sgd, adam, adamw, default="adamw"
        Optimizer.
    learning_rate : a number above 0, or "auto", default="auto"
        Learning rate of the head; "auto" is 0.005, but 0.0003 for adam and adamw on backbones without batch norm
        (alexnet, vgg16).
    backbone_factor : a number at least 0, or "auto", default="auto"
        Factor of the backbone's learning rate relative to the head's; "auto" is 0.15 with pretrained weights and 1
        without.
    convolution_factor : a number at least 0, default=1.0
        Further factor of the learning rate of the backbone's convolutions.
    layer_decay : a number above 0 and at most 1, default=1.0
        Factor of the learning rate from each layer of the backbone to the one before it; 1 lets all layers learn
        alike.
    unfreeze_epochs : a whole number at most 1000000, default=0
        Epochs over which the layers of the backbone join the training, the last one first; in epoch 1 the head learns
        alone. 0 trains all from the start.
    freeze : text, or None, default=None
        Prefixes of the names of frozen layers, joined by +, such as layer1+layer2; all freezes the backbone.
    start_epochs : a whole number at most 1000000, or "auto", default="auto"
        Epochs in which the last layer and the leaves learn alone, on features that are computed once, before the rest
        joins; "auto" is 30 with pretrained weights and 0 without.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        Learning rate schedule.
    warm_up : a number at least 0 and at most 1, default=0.1
        Fraction of the iterations over which the learning rate warms up.
    step_epochs : a number above 0, default=10.0
        With the step schedule: epochs between two changes.
    step_iterations : a whole number at least 1, or None, default=None
        With the step schedule: mini-batches between two changes, in place of `step_epochs`; None goes by epochs.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, default=0.05
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam; biases and batch norms do not
        decay.
    max_grad_norm : a number above 0, or None, default=5.0
        Maximum norm of the gradient of all parameters; None does not clip.
    average : a number above 0 and below 1, or None, default=None
        Share of the past in a running average of the network's weights, such as 0.99: validation and the model take
        the average; None takes the weights as they are.
    input_range : a number above 0, or "auto", default="auto"
        Largest value of a channel, such as 1 or 255; "auto" is what the weights or the backbone expect.
    input_mean : text, or "auto", default="auto"
        Value that is subtracted from every channel, or three for red, green and blue, joined by +; "auto" is what the
        weights or the backbone expect.
    input_deviation : text, or "auto", default="auto"
        Value that every channel is then divided by, or three, joined by +; "auto" is what the weights or the backbone
        expect.
    channel_order : one of rgb, bgr, or "auto", default="auto"
        Order of the channels; "auto" is what the weights or the backbone expect.
    input_crop : a number at least 0 and below 0.5, default=0.0
        Fraction cut off at each edge of an image before it is resized, such as 0.15 where faces should fill the
        square.
    flip : True or False, default=True
        Whether images are mirrored at random.
    crop : a number at least 0 and at most 0.5, default=0.1
        Maximum fraction by which the crop of an image is moved and resized at random.
    jitter : a number at least 0 and at most 1, default=0.2
        Maximum relative change of brightness, contrast and saturation.
    erasing : a number at least 0 and at most 0.9, default=0.0
        Maximum fraction of an image that is erased at random, in every second image.
    mixup : a number at least 0 and at most 1, default=0.0
        Parameter of the beta distribution of the shares in which the rows of a mini-batch are mixed in pairs, inputs
        and targets alike; 0 mixes none.
    early_stopping : True or False, default=True
        Whether to keep the epoch that is best on the validation rows, and to stop when it does not improve.
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping, unless the data marks validation rows itself.
    patience : a whole number at least 1, default=10
        Epochs without improvement before stopping. (scikit-learn: ``n_iter_no_change``)
    trees : a whole number at least 1 and at most 1000000, default=10
        Number of trees. (scikit-learn: ``n_estimators``)
    depth : a whole number at least 1 and at most 30, default=6
        Depth of every tree, which then has 2^(depth-1) leaves.
    units : a whole number at least 1, or "auto", default="auto"
        Output units of the layer under the trees, shared by the trees at random; "auto" gives every split its own.
    steepness : a number above 0, or None, default=2.0
        Standard deviation of the split activations over the first mini-batch: larger values separate the rows more
        clearly at the start; None keeps the random weights.
    loss : one of trees, forest, default="trees"
        Loss that the gradient steps minimise.
    leaf_every : a whole number at least 1, or "auto", default="auto"
        Mini-batches between two leaf updates; "auto" is one epoch, at most 100.
    early_leaf_updates : True or False, default=True
        Whether leaves are also updated after the first 4, 8, 16 ... mini-batches: equal leaves give the network no
        gradient.
    leaf_iterations : a whole number at least 1, default=20
        Iterations per leaf update.
    leaf_prior : a number at least 0, default=1.0
        Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
    leaf_smoothing : a number at least 0, default=0.0
        With ordered labels: standard deviation, in labels, by which leaves are smoothed along the labels after an
        update.
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
    Presets, for ``DeepNeuralDecisionForestLDL.from_preset``:

    - ``paper``: the paper's text: 5 trees of depth 7 on 64 units, leaves every 100 mini-batches, 25,000 iterations;
      sgd as the authors' solver, at a constant rate.
    - ``released``: the authors' solver for AlexNet: the rate halves every 10,000 of 30,000 iterations, convolutions
      learn at a tenth, batches of 64, 112 subtracted, no mirroring.
    - ``released-vgg``: the authors' solver for VGG-16: as released, with all layers at the full rate and batches of
      32.

    Examples
    --------
    >>> from ldlf import DeepNeuralDecisionForestLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> DeepNeuralDecisionForestLDL(backbone="mlp", trees=5, depth=4, iterations=20, epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "dndf-ldl"
    _declared = (
        "backbone",
        "weights",
        "side",
        "channels",
        "device",
        "epochs",
        "iterations",
        "batch_size",
        "optimizer",
        "learning_rate",
        "backbone_factor",
        "convolution_factor",
        "layer_decay",
        "unfreeze_epochs",
        "freeze",
        "start_epochs",
        "momentum",
        "schedule",
        "warm_up",
        "step_epochs",
        "step_iterations",
        "step_factor",
        "weight_decay",
        "max_grad_norm",
        "average",
        "input_range",
        "input_mean",
        "input_deviation",
        "channel_order",
        "input_crop",
        "flip",
        "crop",
        "jitter",
        "erasing",
        "mixup",
        "early_stopping",
        "validation_fraction",
        "patience",
        "trees",
        "depth",
        "units",
        "steepness",
        "loss",
        "leaf_every",
        "early_leaf_updates",
        "leaf_iterations",
        "leaf_prior",
        "leaf_smoothing",
    )
    _known_as = {
        "max_iter": "epochs",
        "n_iter_no_change": "patience",
        "n_estimators": "trees",
    }
    _presets = {
        "paper": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "leaf_every": 100,
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "leaf_smoothing": 0,
            "early_leaf_updates": False,
            "steepness": None,
            "loss": "trees",
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "flip": False,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
            "learning_rate": 0.5,
            "iterations": 25000,
            "schedule": "constant",
            "batch_size": 64,
            "crop": 0,
        },
        "released": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "leaf_every": 100,
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "leaf_smoothing": 0,
            "early_leaf_updates": False,
            "steepness": None,
            "loss": "trees",
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "flip": False,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
            "iterations": 30000,
            "schedule": "step",
            "step_iterations": 10000,
            "step_factor": 0.5,
            "backbone_factor": 1,
            "input_range": 255,
            "input_mean": 112,
            "input_deviation": 1,
            "learning_rate": 0.5,
            "batch_size": 64,
            "convolution_factor": 0.1,
            "crop": 0.06,
        },
        "released-vgg": {
            "trees": 5,
            "depth": 7,
            "units": 64,
            "leaf_every": 100,
            "leaf_iterations": 20,
            "leaf_prior": 0,
            "leaf_smoothing": 0,
            "early_leaf_updates": False,
            "steepness": None,
            "loss": "trees",
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "flip": False,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
            "iterations": 30000,
            "schedule": "step",
            "step_iterations": 10000,
            "step_factor": 0.5,
            "backbone_factor": 1,
            "input_range": 255,
            "input_mean": 112,
            "input_deviation": 1,
            "learning_rate": 0.5,
            "batch_size": 32,
            "convolution_factor": 1,
            "crop": 0.07,
        },
    }

    def __init__(
        self,
        *,
        backbone: Literal[
            "small-cnn", "resnet18", "efficientnet-lite0", "mobilenet-v1", "alexnet", "alexnet-caffe", "vgg16", "mlp"
        ] = "small-cnn",
        weights: str | None = None,
        side: int | Literal["auto"] = "auto",
        channels: int = 3,
        device: str = "cpu",
        epochs: int = 20,
        iterations: int | None = None,
        batch_size: int = 64,
        optimizer: Literal["sgd", "adam", "adamw"] = "adamw",
        learning_rate: float | Literal["auto"] = "auto",
        backbone_factor: float | Literal["auto"] = "auto",
        convolution_factor: float = 1.0,
        layer_decay: float = 1.0,
        unfreeze_epochs: int = 0,
        freeze: str | None = None,
        start_epochs: int | Literal["auto"] = "auto",
        momentum: float = 0.9,
        schedule: Literal["constant", "step", "cosine"] = "cosine",
        warm_up: float = 0.1,
        step_epochs: float = 10.0,
        step_iterations: int | None = None,
        step_factor: float = 0.1,
        weight_decay: float = 0.05,
        max_grad_norm: float | None = 5.0,
        average: float | None = None,
        input_range: float | Literal["auto"] = "auto",
        input_mean: str = "auto",
        input_deviation: str = "auto",
        channel_order: Literal["rgb", "bgr", "auto"] = "auto",
        input_crop: float = 0.0,
        flip: bool = True,
        crop: float = 0.1,
        jitter: float = 0.2,
        erasing: float = 0.0,
        mixup: float = 0.0,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        patience: int = 10,
        trees: int = 10,
        depth: int = 6,
        units: int | Literal["auto"] = "auto",
        steepness: float | None = 2.0,
        loss: Literal["trees", "forest"] = "trees",
        leaf_every: int | Literal["auto"] = "auto",
        early_leaf_updates: bool = True,
        leaf_iterations: int = 20,
        leaf_prior: float = 1.0,
        leaf_smoothing: float = 0.0,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.backbone = backbone
        self.weights = weights
        self.side = side
        self.channels = channels
        self.device = device
        self.epochs = epochs
        self.iterations = iterations
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.backbone_factor = backbone_factor
        self.convolution_factor = convolution_factor
        self.layer_decay = layer_decay
        self.unfreeze_epochs = unfreeze_epochs
        self.freeze = freeze
        self.start_epochs = start_epochs
        self.momentum = momentum
        self.schedule = schedule
        self.warm_up = warm_up
        self.step_epochs = step_epochs
        self.step_iterations = step_iterations
        self.step_factor = step_factor
        self.weight_decay = weight_decay
        self.max_grad_norm = max_grad_norm
        self.average = average
        self.input_range = input_range
        self.input_mean = input_mean
        self.input_deviation = input_deviation
        self.channel_order = channel_order
        self.input_crop = input_crop
        self.flip = flip
        self.crop = crop
        self.jitter = jitter
        self.erasing = erasing
        self.mixup = mixup
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.trees = trees
        self.depth = depth
        self.units = units
        self.steepness = steepness
        self.loss = loss
        self.leaf_every = leaf_every
        self.early_leaf_updates = early_leaf_updates
        self.leaf_iterations = leaf_iterations
        self.leaf_prior = leaf_prior
        self.leaf_smoothing = leaf_smoothing
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start


class DeepLDL(DeepEstimator):
    """Deep label distribution learning: a softmax over the labels on a deep network, trained end to end (``dldl``).

    Source: B.-B. Gao et al.: Deep Label Distribution Learning with Label Ambiguity, IEEE TIP 2017.

    Parameters
    ----------
    backbone : one of small-cnn, resnet18, efficientnet-lite0, mobilenet-v1, alexnet, alexnet-caffe, vgg16, mlp, default="small-cnn"
        Network under the trees or the softmax.
    weights : text, or None, default=None
        File of pretrained weights (.safetensors, .pth); None starts from random ones.
    side : a whole number at least 8 and at most 4096, or "auto", default="auto"
        Side of the square input in pixels; "auto" is the default of the backbone.
    channels : a whole number at least 1 and at most 3, default=3
        Channels of the images: 3 for colour, 1 for grey.
    device : text, default="cpu"
        Device: cpu, or one enabled in this build (wgpu, vulkan, metal, cuda, rocm).
    epochs : a whole number at least 1 and at most 1000000, default=20
        Number of epochs. (scikit-learn: ``max_iter``)
    iterations : a whole number at least 1, or None, default=None
        Number of mini-batches, in place of `epochs`; None goes by epochs.
    batch_size : a whole number at least 1, default=64
        Rows per mini-batch.
    optimizer : one of sgd, adam, adamw, default="adamw"
        Optimizer.
    learning_rate : a number above 0, or "auto", default="auto"
        Learning rate of the head; "auto" is 0.005, but 0.0003 for adam and adamw on backbones without batch norm
        (alexnet, vgg16).
    backbone_factor : a number at least 0, or "auto", default="auto"
        Factor of the backbone's learning rate relative to the head's; "auto" is 0.15 with pretrained weights and 1
        without.
    convolution_factor : a number at least 0, default=1.0
        Further factor of the learning rate of the backbone's convolutions.
    layer_decay : a number above 0 and at most 1, default=1.0
        Factor of the learning rate from each layer of the backbone to the one before it; 1 lets all layers learn
        alike.
    unfreeze_epochs : a whole number at most 1000000, default=0
        Epochs over which the layers of the backbone join the training, the last one first; in epoch 1 the head learns
        alone. 0 trains all from the start.
    freeze : text, or None, default=None
        Prefixes of the names of frozen layers, joined by +, such as layer1+layer2; all freezes the backbone.
    start_epochs : a whole number at most 1000000, or "auto", default="auto"
        Epochs in which the last layer and the leaves learn alone, on features that are computed once, before the rest
        joins; "auto" is 30 with pretrained weights and 0 without.
    momentum : a number at least 0 and below 1, default=0.9
        Momentum of sgd.
    schedule : one of constant, step, cosine, default="cosine"
        Learning rate schedule.
    warm_up : a number at least 0 and at most 1, default=0.1
        Fraction of the iterations over which the learning rate warms up.
    step_epochs : a number above 0, default=10.0
        With the step schedule: epochs between two changes.
    step_iterations : a whole number at least 1, or None, default=None
        With the step schedule: mini-batches between two changes, in place of `step_epochs`; None goes by epochs.
    step_factor : a number above 0 and at most 1, default=0.1
        With the step schedule: factor of each change.
    weight_decay : a number at least 0, default=0.05
        Weight decay: decoupled with adamw, added to the gradient with sgd and adam; biases and batch norms do not
        decay.
    max_grad_norm : a number above 0, or None, default=5.0
        Maximum norm of the gradient of all parameters; None does not clip.
    average : a number above 0 and below 1, or None, default=None
        Share of the past in a running average of the network's weights, such as 0.99: validation and the model take
        the average; None takes the weights as they are.
    input_range : a number above 0, or "auto", default="auto"
        Largest value of a channel, such as 1 or 255; "auto" is what the weights or the backbone expect.
    input_mean : text, or "auto", default="auto"
        Value that is subtracted from every channel, or three for red, green and blue, joined by +; "auto" is what the
        weights or the backbone expect.
    input_deviation : text, or "auto", default="auto"
        Value that every channel is then divided by, or three, joined by +; "auto" is what the weights or the backbone
        expect.
    channel_order : one of rgb, bgr, or "auto", default="auto"
        Order of the channels; "auto" is what the weights or the backbone expect.
    input_crop : a number at least 0 and below 0.5, default=0.0
        Fraction cut off at each edge of an image before it is resized, such as 0.15 where faces should fill the
        square.
    flip : True or False, default=True
        Whether images are mirrored at random.
    crop : a number at least 0 and at most 0.5, default=0.1
        Maximum fraction by which the crop of an image is moved and resized at random.
    jitter : a number at least 0 and at most 1, default=0.2
        Maximum relative change of brightness, contrast and saturation.
    erasing : a number at least 0 and at most 0.9, default=0.0
        Maximum fraction of an image that is erased at random, in every second image.
    mixup : a number at least 0 and at most 1, default=0.0
        Parameter of the beta distribution of the shares in which the rows of a mini-batch are mixed in pairs, inputs
        and targets alike; 0 mixes none.
    early_stopping : True or False, default=True
        Whether to keep the epoch that is best on the validation rows, and to stop when it does not improve.
    validation_fraction : a number above 0 and below 1, default=0.1
        Fraction of the training rows held out for early stopping, unless the data marks validation rows itself.
    patience : a whole number at least 1, default=10
        Epochs without improvement before stopping. (scikit-learn: ``n_iter_no_change``)
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
    Presets, for ``DeepLDL.from_preset``:

    - ``paper``: as published: sgd with momentum on a network whose weights are given, no early stopping, no clipping
      of gradients; learning rate, schedule, batches and epochs are ours, the publication's are not known here.

    Examples
    --------
    >>> from ldlf import DeepLDL
    >>> from ldlf.datasets import make_mixture
    >>> X, y = make_mixture(60)
    >>> DeepLDL(backbone="mlp", iterations=20, epochs=5).fit(X, y).predict(X[:2]).shape
    (2, 5)
    """

    _learner = "dldl"
    _declared = (
        "backbone",
        "weights",
        "side",
        "channels",
        "device",
        "epochs",
        "iterations",
        "batch_size",
        "optimizer",
        "learning_rate",
        "backbone_factor",
        "convolution_factor",
        "layer_decay",
        "unfreeze_epochs",
        "freeze",
        "start_epochs",
        "momentum",
        "schedule",
        "warm_up",
        "step_epochs",
        "step_iterations",
        "step_factor",
        "weight_decay",
        "max_grad_norm",
        "average",
        "input_range",
        "input_mean",
        "input_deviation",
        "channel_order",
        "input_crop",
        "flip",
        "crop",
        "jitter",
        "erasing",
        "mixup",
        "early_stopping",
        "validation_fraction",
        "patience",
    )
    _known_as = {
        "max_iter": "epochs",
        "n_iter_no_change": "patience",
    }
    _presets = {
        "paper": {
            "optimizer": "sgd",
            "momentum": 0.9,
            "weight_decay": 0,
            "max_grad_norm": None,
            "warm_up": 0,
            "jitter": 0,
            "erasing": 0,
            "mixup": 0,
            "layer_decay": 1,
            "unfreeze_epochs": 0,
            "average": None,
            "early_stopping": False,
            "start_epochs": 0,
        },
    }

    def __init__(
        self,
        *,
        backbone: Literal[
            "small-cnn", "resnet18", "efficientnet-lite0", "mobilenet-v1", "alexnet", "alexnet-caffe", "vgg16", "mlp"
        ] = "small-cnn",
        weights: str | None = None,
        side: int | Literal["auto"] = "auto",
        channels: int = 3,
        device: str = "cpu",
        epochs: int = 20,
        iterations: int | None = None,
        batch_size: int = 64,
        optimizer: Literal["sgd", "adam", "adamw"] = "adamw",
        learning_rate: float | Literal["auto"] = "auto",
        backbone_factor: float | Literal["auto"] = "auto",
        convolution_factor: float = 1.0,
        layer_decay: float = 1.0,
        unfreeze_epochs: int = 0,
        freeze: str | None = None,
        start_epochs: int | Literal["auto"] = "auto",
        momentum: float = 0.9,
        schedule: Literal["constant", "step", "cosine"] = "cosine",
        warm_up: float = 0.1,
        step_epochs: float = 10.0,
        step_iterations: int | None = None,
        step_factor: float = 0.1,
        weight_decay: float = 0.05,
        max_grad_norm: float | None = 5.0,
        average: float | None = None,
        input_range: float | Literal["auto"] = "auto",
        input_mean: str = "auto",
        input_deviation: str = "auto",
        channel_order: Literal["rgb", "bgr", "auto"] = "auto",
        input_crop: float = 0.0,
        flip: bool = True,
        crop: float = 0.1,
        jitter: float = 0.2,
        erasing: float = 0.0,
        mixup: float = 0.0,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        patience: int = 10,
        label_values: Any = None,
        sigma: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.backbone = backbone
        self.weights = weights
        self.side = side
        self.channels = channels
        self.device = device
        self.epochs = epochs
        self.iterations = iterations
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.backbone_factor = backbone_factor
        self.convolution_factor = convolution_factor
        self.layer_decay = layer_decay
        self.unfreeze_epochs = unfreeze_epochs
        self.freeze = freeze
        self.start_epochs = start_epochs
        self.momentum = momentum
        self.schedule = schedule
        self.warm_up = warm_up
        self.step_epochs = step_epochs
        self.step_iterations = step_iterations
        self.step_factor = step_factor
        self.weight_decay = weight_decay
        self.max_grad_norm = max_grad_norm
        self.average = average
        self.input_range = input_range
        self.input_mean = input_mean
        self.input_deviation = input_deviation
        self.channel_order = channel_order
        self.input_crop = input_crop
        self.flip = flip
        self.crop = crop
        self.jitter = jitter
        self.erasing = erasing
        self.mixup = mixup
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.label_values = label_values
        self.sigma = sigma
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start


#: Every estimator on a deep network by its learner's name.
DEEP_LEARNERS: dict[str, type[LDLEstimator]] = {
    "dldlf": DeepLDLForest,
    "dndf-ldl": DeepNeuralDecisionForestLDL,
    "dldl": DeepLDL,
}

__all__ = [
    "DeepLDLForest",
    "DeepNeuralDecisionForestLDL",
    "DeepLDL",
]
