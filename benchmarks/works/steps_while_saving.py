"""What a checkpoint costs the training beside it: steps during which one is written, against steps alone."""

import threading

from benchmarks.works import Step, mlp
from benchmarks.works.checkpointing import Model

title = "MLP step, while 128 MB are saved in the course of 500"
steps = 1
shared = False
reach = {"baseline": 1.5, "tensorflow": 1.0}
baseline = "steps alone"

STEPS = 500


def tf1(tf):
    train = mlp.tf1(tf)
    model = Model(tf, 128, variables=8)

    def alone():
        for _ in range(STEPS):
            train()
        return STEPS

    def while_saving():
        saving = threading.Thread(target=model.save)
        saving.start()
        alone()
        saving.join()
        return STEPS

    return Step(while_saving, units=STEPS, baseline=alone)
