"""Models of NumPy's for BentoML, in whose environment this runs. WEIGHTS is the folder of the weights."""

import os

import bentoml
import numpy as np
import numpy_models


@bentoml.service(workers=1, logging={"access": {"enabled": False}})
class Models:
    def __init__(self):
        self._models = {name: numpy_models.load(os.environ["WEIGHTS"], name) for name in numpy_models.NAMES}

    def _predict(self, name, x):
        return self._models[name](x.astype(np.float32))

    @bentoml.api
    def noop(self, x: np.ndarray) -> np.ndarray:
        return self._predict("noop", x)

    @bentoml.api
    def linear(self, x: np.ndarray) -> np.ndarray:
        return self._predict("linear", x)

    @bentoml.api
    def mlp(self, x: np.ndarray) -> np.ndarray:
        return self._predict("mlp", x)
