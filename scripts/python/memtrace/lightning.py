"""Names the epochs, steps and validations of a Lightning Trainer: Trainer(callbacks=[memtrace.lightning.Phases()])"""
from . import Nest

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback


class Phases(Callback):
    def __init__(self):
        super().__init__()
        self.nest = Nest()

    def on_train_epoch_start(self, trainer, *_):
        self.nest.begin(0, f"epoch {trainer.current_epoch}")

    def on_train_batch_start(self, trainer, *_):
        self.nest.begin(1, f"step {trainer.global_step}")

    def on_train_batch_end(self, *_):
        self.nest.end(1)

    def on_train_epoch_end(self, *_):
        self.nest.end()

    def on_validation_start(self, *_):
        self.nest.begin(1, "validation")

    def on_validation_end(self, *_):
        self.nest.end(1)

    def on_exception(self, *_):
        self.nest.end()
