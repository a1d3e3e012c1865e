"""A network with a forest head, trained by the Trainer of Hugging Face: `python torch_trainer.py`, with `transformers` and
`accelerate` installed.

The model returns a loss and `logits`; log-probabilities are logits. The Trainer calls `eval()` before it evaluates, which brings the leaves
up to date.
"""

import tempfile

import numpy as np
import torch
from ldlf.measures import kl
from ldlf.torch import ForestHead, ForestLoss
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class Votes(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
        self.head = ForestHead(32, n_labels=5, trees=5, depth=5)
        self.criterion = ForestLoss(self.head)

    def forward(self, x, labels=None):
        logits = self.head(self.body(x))
        return {"logits": logits} if labels is None else {"loss": self.criterion(logits, labels), "logits": logits}


def rows(count, seed):
    x = torch.randn(count, 8, generator=torch.Generator().manual_seed(seed))
    targets = torch.softmax(2 * torch.sin(x[:, :5]), dim=1)
    return [{"x": one, "labels": target} for one, target in zip(x, targets)]


def main():
    set_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            num_train_epochs=5,
            per_device_train_batch_size=50,
            per_device_eval_batch_size=300,
            learning_rate=0.01,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        trainer = Trainer(
            Votes(),
            arguments,
            train_dataset=rows(1000, 0),
            eval_dataset=rows(300, 1),
            compute_metrics=lambda found: {"kl": kl(found.label_ids, np.exp(found.predictions))},
        )
        trainer.train()
        trainer.save_model(folder)
        print(f"K-L on new rows: {trainer.evaluate()['eval_kl']:.4f}")


if __name__ == "__main__":
    main()
