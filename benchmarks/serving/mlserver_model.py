"""A model of NumPy's for MLServer, in whose environment this runs."""

import numpy_models
from mlserver import MLModel, types
from mlserver.codecs import NumpyCodec


class NumpyModel(MLModel):
    async def load(self):
        self._predict = numpy_models.load(self.settings.parameters.uri, self.name)
        return True

    async def predict(self, payload):
        outputs = self._predict(NumpyCodec.decode_input(payload.inputs[0]))
        return types.InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("y", outputs)])
