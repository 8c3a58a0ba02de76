"""Names the epochs, steps and evaluations of Hugging Face's Trainer: Trainer(callbacks=[memtrace.transformers.Phases()])"""
from transformers import TrainerCallback

from . import Nest


class Phases(TrainerCallback):
    def __init__(self):
        self.nest = Nest()

    def on_epoch_begin(self, args, state, control, **_):
        self.nest.begin(0, f"epoch {int(state.epoch or 0)}")

    def on_step_begin(self, args, state, control, **_):
        self.nest.begin(1, f"step {state.global_step}")

    def on_step_end(self, args, state, control, **_):
        self.nest.end(1)

    def on_prediction_step(self, args, state, control, **_):
        if 2 not in self.nest.open:
            self.nest.begin(2, "evaluation")

    def on_evaluate(self, args, state, control, **_):
        self.nest.end(2)

    def on_epoch_end(self, args, state, control, **_):
        self.nest.end()

    def on_train_end(self, args, state, control, **_):
        self.nest.end()
