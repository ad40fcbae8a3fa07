"""Reading a checkpoint of 1 GB into variables, every byte of it checked, against a plain copy of its file."""

from benchmarks.works import Step
from benchmarks.works.checkpointing import Model

title = "restore a checkpoint of 1 GB"
steps = 1
shared = False
reach = {"baseline": 2.0}
baseline = "a copy of the file"


def tf1(tf):
    model = Model(tf, 1024, variables=16)
    prefix = model.save()

    def restore():
        model.saver.restore(model.sess, prefix)
        return model.mean()

    return Step(restore, model.settle, baseline=model.copy)
