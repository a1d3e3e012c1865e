"""A network with a forest head, trained by Lightning: `python torch_lightning.py`, with `lightning` installed.

Nothing special is needed: Lightning calls `eval()` before it validates, which brings the leaves up to date.
"""

import lightning as L
import torch
from ldlf.torch import ForestHead, ForestLoss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Votes(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), ForestHead(32, n_labels=5, trees=5, depth=5))
        self.criterion = ForestLoss(self.network[-1])

    def training_step(self, batch, _):
        x, targets = batch
        return self.criterion(self.network(x), targets)

    def validation_step(self, batch, _):
        x, targets = batch
        self.log("kl", nn.functional.kl_div(self.network(x), targets, reduction="batchmean"))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)


def rows(count, seed):
    x = torch.randn(count, 8, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(x, torch.softmax(2 * torch.sin(x[:, :5]), dim=1))


def main():
    L.seed_everything(0)
    trainer = L.Trainer(
        max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    trainer.fit(
        Votes(), DataLoader(rows(1000, 0), batch_size=50, shuffle=True), DataLoader(rows(300, 1), batch_size=300)
    )
    print(f"K-L on new rows: {float(trainer.callback_metrics['kl']):.4f}")


if __name__ == "__main__":
    main()
