#!/usr/bin/env python3
"""Writes mlp.pth: a checkpoint of a tiny network as training scripts save it, nested and with entries that are no weights. Needs torch
and torchvision."""

from pathlib import Path

import torch
from networks import Mlp, fill

model = fill(Mlp(3, by=64))
state = {f"module.{name}": value for name, value in model.state_dict().items()}
state["module.fc.weight"] = torch.zeros(2, 4)
torch.save({"epoch": 3, "state_dict": state}, Path(__file__).with_name("mlp.pth"))
