#!/usr/bin/env python3
"""Times training steps of networks with a forest head side by side with PyTorch, in one run, and says what memory they need.

Only the standard library is needed to start: the script makes `.venv-versus` in the repository, installs the pinned requirements
there, builds our side and starts itself again inside that environment.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from environment import build, is_inside, start_again

HEAD = {"labels": 70, "trees": 5, "depth": 7, "units": 64}
SMALL = {"backbone": "small-cnn", "rows": 64, "width": 64, **HEAD}
ALEXNET = {"backbone": "alexnet", "rows": 16, "width": 224, **HEAD}
VGG16 = {"backbone": "vgg16", "rows": 8, "width": 224, **HEAD}
ALONE = {"backbone": None, "rows": 256, "width": 4096, **HEAD}

# No further round of a comparison is started after so many seconds.
PATIENCE = 90

NOTES = """\
Ours and theirs in turn, up to {rounds} rounds; a time is the median of a round's steps, a ratio the median over the rounds (least..most) [rounds].
Both sides have {threads} threads, the same network, rows and optimiser (SGD with momentum); making the rows is not timed. A step is forward,
backward and optimiser. The head has 64 units, 5 trees of depth 7 and 70 labels. PyTorch's head is written in tensor operations, as a
careful user would; `ldlf.torch` is ours inside PyTorch."""


def main():
    options = arguments()
    if not is_inside() and not options.here:
        program = options.ours or build("deep", "ldlf-benches")
        start_again(__file__, "--ours", program, ["requirements-deep.txt"], options.threads)
    import torch

    torch.set_num_threads(options.threads)
    if options.memory:
        theirs(VGG16, TensorHead)()
        print(peak_of_this_process())
        return
    print(f"{describe(options)}\n\n{NOTES.format(rounds=options.rounds, threads=options.threads)}\n")
    ours = Ours(options)
    print("| step | against | ours | theirs | ratio, ours / theirs | asked |")
    print("|---|---|---:|---:|---:|---:|")
    small = compare("small CNN, 64 x 64, batch 64", "PyTorch", ours, SMALL, TensorHead, options, 1.3)
    alexnet = compare("AlexNet, 224 x 224, batch 16", "PyTorch", ours, ALEXNET, TensorHead, options, 1.3)
    compare("head alone, batch 256 of 4096 features", "PyTorch", ours, ALONE, TensorHead, options, 1.0)
    compare("the same by our tensor operations", "PyTorch", ours, {**ALONE, "by_tensors": True}, TensorHead, options)
    try:
        compare("head alone, batch 256 of 4096 features", "`ldlf.torch`", ours, ALONE, ldlf_head(), options)
    except ImportError as missing:
        print(f"| head alone | skipped: {missing} | | | | |")
    print()
    for name, request, width, whole in (("small CNN", SMALL, 256, small), ("AlexNet", ALEXNET, 4096, alexnet)):
        alone = ours.seconds({**request, "backbone": None, "width": width}, 20)
        print(f"The head is {100 * alone / whole:.2f} % of our step of the {name} ({1e3 * alone:.2f} of {1e3 * whole:.0f} ms).")
    print(f"\nMost memory during steps of VGG-16 at 224 with batch 8: ours {gigabytes(peak_of_ours(options))}, "
          f"computing anew what is cheap {gigabytes(peak_of_ours(options, recompute=True))}, "
          f"PyTorch {gigabytes(peak_of_theirs())}.")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", type=Path, help="our side, already built (default: cargo builds it)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--here", action="store_true", help="stay in this environment, which has torch and torchvision")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def describe(options):
    from importlib.metadata import version

    theirs = ", ".join(f"{name} {version(name)}" for name in ("torch", "torchvision"))
    return (f"{theirs}, Python {platform.python_version()}; {platform.machine()}, {os.cpu_count()} cores, "
            f"{options.threads} threads each side.")


class Ours:
    """The program that does our side, waiting for requests."""

    def __init__(self, options):
        self.threads = options.threads
        # The command asks the C library itself to keep freed memory.
        kept = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=2147483647"
        more = {"RAYON_NUM_THREADS": str(options.threads), "GLIBC_TUNABLES": kept}
        self.process = subprocess.Popen([options.ours], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **more})

    def answer(self, request, calls):
        self.process.stdin.write(json.dumps({**request, "calls": calls, "threads": self.threads}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def seconds(self, request, calls):
        return statistics.median(self.answer(request, calls)["seconds"])


def compare(step, against, ours, request, head, options, asked=None):
    """Prints one row: the medians of both sides, and the ratio with its spread. Gives our median."""
    their_step = theirs(request, head)
    calls = 3 if request["backbone"] else 20
    started, pairs = time.perf_counter(), []
    while len(pairs) < options.rounds and (not pairs or time.perf_counter() - started < PATIENCE):
        # The other side's OpenMP threads go on spinning for a while after their work; they must not be in the way.
        time.sleep(0.4)
        own = ours.seconds(request, calls)
        time.sleep(0.4)
        pairs.append((own, timed(their_step, calls)))
    ratios = sorted(own / other for own, other in pairs)
    own, other = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(ratios)
    verdict = "" if asked is None else f"at most {asked}: {'met' if ratio <= asked else 'missed'}"
    print(f"| {step} | {against} | {1e3 * own:.3g} ms | {1e3 * other:.3g} ms "
          f"| {ratio:.2f} ({ratios[0]:.2f}..{ratios[-1]:.2f}) [{len(ratios)}] | {verdict} |", flush=True)
    return own


def timed(call, calls):
    call()
    seconds = []
    for _ in range(calls):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def theirs(request, head):
    """A step of PyTorch on the same work."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    rows, width = request["rows"], request["width"]
    backbone, features = network(request["backbone"])
    model = nn.Sequential(backbone, head(features or width, **{name: request[name] for name in HEAD}))
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    inputs = torch.rand(rows, 3, width, width) - 0.5 if request["backbone"] else torch.rand(rows, width) - 0.5
    targets = torch.rand(rows, request["labels"]) + 0.01
    targets /= targets.sum(dim=1, keepdim=True)

    def step():
        loss = model[1](model[0](inputs), targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def network(name):
    """The backbone without its last layer, and its width."""
    import torchvision
    from torch import nn

    if name is None:
        return nn.Identity(), None
    if name == "small-cnn":
        layers, inputs = [], 3
        for number, outputs in enumerate((32, 64, 128, 256)):
            layers += [nn.MaxPool2d(2)] * bool(number)
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
            inputs = outputs
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), inputs
    model = getattr(torchvision.models, name)()
    model.classifier = model.classifier[:-1]
    return model, 4096


def TensorHead(features, labels, trees, depth, units):
    """The forest in tensor operations."""
    import torch
    from torch import nn

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            splits = 2 ** (depth - 1) - 1
            self.linear = nn.Linear(features, units)
            self.units = torch.stack([torch.randperm(units)[:splits] for _ in range(trees)])
            self.leaves = torch.full((trees, splits + 1, labels), 1 / labels)

        def forward(self, x, targets):
            split = torch.sigmoid(self.linear(x))[:, self.units]
            shares = x.new_ones(len(x), trees, 1)
            for level in range(depth - 1):
                here = split[:, :, 2**level - 1:2 ** (level + 1) - 1]
                left = shares * here
                shares = torch.stack([left, shares - left], dim=-1).flatten(2)
            outputs = torch.bmm(shares.transpose(0, 1), self.leaves).clamp_min(1e-30)
            return -(targets * outputs.log()).sum() / (len(x) * trees)

    return Head()


def ldlf_head():
    from ldlf.torch import ForestHead, ForestLoss
    from torch import nn

    class Head(nn.Module):
        def __init__(self, features, labels, trees, depth, units):
            super().__init__()
            # Not in training mode, so that no rows are noted for a leaf update, which is not part of a step.
            self.head = ForestHead(features, labels, trees, depth, units).eval()
            self.criterion = ForestLoss(self.head)

        def forward(self, x, targets):
            return self.criterion(self.head(x), targets)

    return Head


def peak_of_ours(options, **more):
    """Of a process that does nothing else."""
    ours = Ours(options)
    peak = ours.answer({**VGG16, **more}, 1)["peak_bytes"]
    ours.process.stdin.close()
    ours.process.wait()
    return peak


def peak_of_theirs():
    out = subprocess.run([sys.executable, *sys.argv, "--memory"], check=True, capture_output=True, text=True)
    return int(out.stdout)


def peak_of_this_process():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def gigabytes(count):
    return "unknown" if count is None else f"{count / 1e9:.2f} GB"


if __name__ == "__main__":
    main()
