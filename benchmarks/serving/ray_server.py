"""Ray Serve with models of NumPy's, in its environment.

Arguments: the folder of the weights, and the port. Says when it answers.
"""

import sys

import numpy as np
import numpy_models
import ray
from ray import serve


@serve.deployment(max_ongoing_requests=256)
class Model:
    def __init__(self, folder, name):
        self._predict = numpy_models.load(folder, name)

    async def __call__(self, request):
        rows = np.array((await request.json())["instances"], np.float32)
        return {"predictions": self._predict(rows).tolist()}


def main():
    folder, port = sys.argv[1], int(sys.argv[2])
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    quiet = {"enable_access_log": False}
    serve.start(http_options={"host": "127.0.0.1", "port": port}, logging_config=quiet)
    for name in numpy_models.NAMES:
        application = Model.options(logging_config=quiet).bind(folder, name)
        serve.run(application, name=name, route_prefix=f"/{name}", logging_config=quiet)
    print("ready", flush=True)
    sys.stdin.read()
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    main()
