#!/usr/bin/env python3
"""Writes networks.json: the outputs of every backbone by torchvision, or by a few lines of torch where it lacks the network.

Weights and inputs come from a hash of the parameter's name and the place of the number in it, which the Rust tests compute as well, so
that no weights are stored; of wide outputs the first 32 numbers of each row are. Widths are divided (`THINNER`) to keep the tests quick; names and shapes are those of the full networks.
Needs torch and torchvision.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torchvision
from torch import nn

THINNER = {"small-cnn": 4, "mlp": 4}


def hashed(name, shape):
    """Numbers from -1 to 1: the finaliser of MurmurHash3 over the place, moved by FNV-1a of the name."""
    seed = 0x811C9DC5
    for byte in name.encode():
        seed = (seed ^ byte) * 0x01000193 & 0xFFFFFFFF
    x = np.arange(int(np.prod(shape)), dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32(seed)
    x ^= x >> 16
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> 13
    x *= np.uint32(0xC2B2AE35)
    x ^= x >> 16
    return (x.astype(np.float64) / 2**32 * 2 - 1).reshape(shape)


def weights(name, shape):
    u = hashed(name, shape)
    if name.endswith("running_var"):
        u = 1 + 0.5 * u
    elif name.endswith("running_mean") or name.endswith("bias"):
        u = 0.1 * u
    elif len(shape) == 1:
        u = 1 + 0.2 * u
    else:
        u = u * np.sqrt(6 / np.prod(shape[1:]))
    return torch.from_numpy(u.astype(np.float32))


def fill(model):
    state = model.state_dict()
    model.load_state_dict({k: v if k.endswith("tracked") else weights(k, tuple(v.shape)) for k, v in state.items()})
    return model.eval()


def thin(module, by):
    """The same network with all widths but the picture's channels divided."""
    width = lambda channels: channels if channels == 3 else channels // by
    for name, child in module.named_children():
        if isinstance(child, nn.Conv2d):
            child = nn.Conv2d(
                width(child.in_channels),
                width(child.out_channels),
                child.kernel_size,
                child.stride,
                child.padding,
                groups=child.groups if child.groups <= 2 else width(child.groups),
                bias=child.bias is not None,
            )
        elif isinstance(child, nn.Linear):
            child = nn.Linear(width(child.in_features), width(child.out_features))
        elif isinstance(child, nn.BatchNorm2d):
            child = nn.BatchNorm2d(width(child.num_features), child.eps, child.momentum)
        else:
            thin(child, by)
        setattr(module, name, child)
    return module


class Same(nn.Conv2d):
    """A convolution padded as TensorFlow pads."""

    def forward(self, x):
        pads = []
        for side, kernel, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1]):
            total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
            pads += [total // 2, total - total // 2]
        return super().forward(nn.functional.pad(x, pads))


def lite_norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class LiteBlock(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        if expansion > 1:
            self.expand_conv, self.bn0 = Same(inputs, wide, 1, bias=False), lite_norm(wide)
        self.depthwise_conv = Same(wide, wide, kernel, stride, groups=wide, bias=False)
        self.bn1 = lite_norm(wide)
        self.project_conv, self.bn2 = Same(wide, outputs, 1, bias=False), lite_norm(outputs)
        self.expands, self.skips = expansion > 1, stride == 1 and inputs == outputs

    def forward(self, x):
        y = nn.functional.relu6(self.bn0(self.expand_conv(x))) if self.expands else x
        y = self.bn2(self.project_conv(nn.functional.relu6(self.bn1(self.depthwise_conv(y)))))
        return x + y if self.skips else y


class Lite0(nn.Module):
    STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320)]

    def __init__(self, by=1):
        super().__init__()
        inputs = 32 // by
        self.conv_stem, self.bn0 = Same(3, inputs, 3, 2, bias=False), lite_norm(inputs)
        blocks = []
        for count, kernel, stride, expansion, outputs in self.STAGES:
            for number in range(count):
                blocks.append(LiteBlock(inputs, outputs // by, kernel, stride if number == 0 else 1, expansion))
                inputs = outputs // by
        self.blocks = nn.Sequential(*blocks)
        self.conv_head, self.bn1 = Same(inputs, 1280 // by, 1, bias=False), lite_norm(1280 // by)

    def layers(self, x):
        x = self.blocks(nn.functional.relu6(self.bn0(self.conv_stem(x))))
        head = nn.functional.relu6(self.bn1(self.conv_head(x)))
        return {"blocks": x, "conv_head": head, "avgpool": head.mean(dim=(2, 3))}


class AlexNetCaffe(nn.Module):
    def __init__(self, by=1):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96 // by, 11, 4)
        self.conv2 = nn.Conv2d(96 // by, 256 // by, 5, padding=2, groups=2)
        self.conv3 = nn.Conv2d(256 // by, 384 // by, 3, padding=1)
        self.conv4 = nn.Conv2d(384 // by, 384 // by, 3, padding=1, groups=2)
        self.conv5 = nn.Conv2d(384 // by, 256 // by, 3, padding=1, groups=2)
        self.fc6, self.fc7 = nn.Linear(256 * 36 // by, 4096 // by), nn.Linear(4096 // by, 4096 // by)
        self.norm = nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0)
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)

    def layers(self, x):
        relu = torch.relu
        x = self.pool(self.norm(relu(self.conv1(x))))
        x = self.pool(self.norm(relu(self.conv2(x))))
        conv5 = relu(self.conv5(relu(self.conv4(relu(self.conv3(x))))))
        pool5 = nn.functional.adaptive_avg_pool2d(self.pool(conv5), 6).flatten(1)
        fc6 = relu(self.fc6(pool5))
        return {"conv5": conv5, "pool5": pool5, "fc6": fc6, "fc7": relu(self.fc7(fc6))}


class MobileNetV1(nn.Module):
    BLOCKS = [(1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512), *[(1, 512)] * 5, (2, 1024), (1, 1024)]

    def __init__(self, by=1):
        super().__init__()
        inputs = 32 // by
        self.conv1, self.blocks = Same(3, inputs, 3, 2), nn.ModuleList()
        for stride, outputs in self.BLOCKS:
            block = nn.Module()
            block.depthwise = Same(inputs, inputs, 3, stride, groups=inputs)
            block.pointwise = Same(inputs, outputs // by, 1)
            self.blocks.append(block)
            inputs = outputs // by
        self.feats = nn.Linear(inputs, 256 // by)

    def layers(self, x):
        relu6 = nn.functional.relu6
        x = relu6(self.conv1(x))
        out = {"conv1": x}
        for number, block in enumerate(self.blocks, 1):
            x = relu6(block.pointwise(relu6(block.depthwise(x))))
            if number in (6, 11, 13):
                out[f"block{number}"] = x
        pooled = x.mean(dim=(2, 3))
        return {**out, "avgpool": pooled, "feats": torch.relu(self.feats(pooled))}


class SmallCnn(nn.Module):
    def __init__(self, by=1):
        super().__init__()
        widths = [3, *(width // by for width in (32, 64, 128, 256))]
        self.blocks = nn.ModuleList()
        for inputs, outputs in zip(widths, widths[1:]):
            block = nn.Module()
            block.conv, block.norm = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)
            self.blocks.append(block)

    def layers(self, x):
        out = {}
        for number, block in enumerate(self.blocks):
            x = nn.functional.max_pool2d(x, 2) if number else x
            x = out[f"block{number + 1}"] = torch.relu(block.norm(block.conv(x)))
        return {**out, "avgpool": x.mean(dim=(2, 3))}


class Mlp(nn.Module):
    def __init__(self, features, by=1):
        super().__init__()
        width = 256 // by
        self.layers_ = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())

    def layers(self, x):
        x = x.flatten(1)
        return {"hidden1": self.layers_[:2](x), "hidden2": self.layers_(x)}

    def state_dict(self, **options):
        return {name.replace("layers_", "layers"): value for name, value in super().state_dict(**options).items()}

    def load_state_dict(self, state):
        super().load_state_dict({name.replace("layers", "layers_"): value for name, value in state.items()})


def alexnet_layers(model, x):
    conv5 = model.features[:12](x)
    pool5 = model.avgpool(model.features[12:](conv5)).flatten(1)
    fc6 = model.classifier[:3](pool5)
    return {"conv5": conv5, "pool5": pool5, "fc6": fc6, "fc7": model.classifier[3:](fc6)}


def vgg16_layers(model, x):
    conv5 = model.features[:30](x)
    pool5 = model.avgpool(model.features[30:](conv5)).flatten(1)
    fc6 = model.classifier[:3](pool5)
    return {"conv5": conv5, "pool5": pool5, "fc6": fc6, "fc7": model.classifier[3:](fc6)}


def resnet18_layers(model, x):
    x = model.maxpool(model.relu(model.bn1(model.conv1(x))))
    out = {}
    for name in ("layer1", "layer2", "layer3", "layer4"):
        x = out[name] = getattr(model, name)(x)
    return {**out, "avgpool": model.avgpool(x).flatten(1)}


def without_last(model):
    """torchvision's network up to the features that its last layer sees."""
    if hasattr(model, "classifier"):
        model.classifier = model.classifier[:-1]
    else:
        model.fc = nn.Identity()
    return model


def torchvision_model(name, by):
    return thin(without_last(getattr(torchvision.models, name)()), by)


NETWORKS = {
    # name: (model by thinning, layers, shape of the input, its scale)
    "alexnet": (lambda by: torchvision_model("alexnet", by), alexnet_layers, (2, 3, 80, 80), 1.0),
    "alexnet-caffe": (AlexNetCaffe, AlexNetCaffe.layers, (2, 3, 96, 96), 50.0),
    "vgg16": (lambda by: torchvision_model("vgg16", by), vgg16_layers, (2, 3, 40, 40), 1.0),
    "resnet18": (lambda by: torchvision_model("resnet18", by), resnet18_layers, (2, 3, 50, 50), 1.0),
    "efficientnet-lite0": (Lite0, Lite0.layers, (2, 3, 50, 50), 1.0),
    "mobilenet-v1": (MobileNetV1, MobileNetV1.layers, (2, 3, 50, 50), 100.0),
    "small-cnn": (SmallCnn, SmallCnn.layers, (2, 3, 20, 20), 1.0),
    "mlp": (lambda by: Mlp(7, by), Mlp.layers, (3, 7, 1, 1), 1.0),
}


def main():
    out = {}
    for name, (build, layers, shape, scale) in NETWORKS.items():
        by = THINNER.get(name, 8)
        model = fill(build(by))
        x = torch.from_numpy((scale * hashed("input", shape)).astype(np.float32))
        with torch.no_grad():
            of_layers = {key: value.flatten(1) for key, value in layers(model, x).items()}
        last = list(of_layers)[-1]
        summary = {
            key: {"width": value.shape[1], "mean": value.double().mean().item(), "square": value.double().square().mean().item()}
            for key, value in of_layers.items()
        }
        full = {key: list(value.shape) for key, value in build(1).state_dict().items() if not key.endswith("tracked")}
        out[name] = {
            "thinner": by,
            "input": list(shape),
            "scale": scale,
            "layers": summary,
            "output": [[float(f"{v:.9g}") for v in row[:32]] for row in of_layers[last].tolist()],
            "parameters": full,
        }
    Path(__file__).with_suffix(".json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
