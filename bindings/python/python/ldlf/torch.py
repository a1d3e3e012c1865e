"""The forest as the last layer of any PyTorch network.

>>> import torch
>>> from ldlf.torch import ForestHead, ForestLoss
>>> head = ForestHead(16, n_labels=5, trees=3, depth=4)
>>> criterion = ForestLoss(head)
>>> features, targets = torch.randn(8, 16), torch.softmax(torch.randn(8, 5), dim=1)
>>> loss = criterion(head(features), targets)  # the leaves learn from what the loss sees
>>> loss.backward()
>>> head.eval()(features).exp().shape  # forward gives log-probabilities
torch.Size([8, 5])
"""

from ._torch_exchange import Standardize, from_torch, to_torch
from ._torch_head import ForestHead, ForestLoss

__all__ = ["ForestHead", "ForestLoss", "Standardize", "from_torch", "to_torch"]
