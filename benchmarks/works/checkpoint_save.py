"""Writing a checkpoint of 1 GB, against a plain copy of its file."""

from benchmarks.works import Step
from benchmarks.works.checkpointing import Model

title = "save a checkpoint of 1 GB"
steps = 1
shared = False
reach = {"baseline": 2.0}
baseline = "a copy of the file"


def tf1(tf):
    model = Model(tf, 1024, variables=16)

    def save():
        model.save()
        return model.megabytes_on_disk()

    return Step(save, model.settle, baseline=model.copy)
