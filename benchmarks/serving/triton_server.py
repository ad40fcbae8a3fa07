"""Triton with models of NumPy's behind its dynamic batcher, in the environment of the pytriton wheel.

Arguments: the folder of the weights, the ports of HTTP and gRPC. Says when it answers.
"""

import sys

import numpy as np
import numpy_models
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig


def main():
    folder, http_port, grpc_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    config = TritonConfig(
        http_address="127.0.0.1",
        http_port=http_port,
        grpc_address="127.0.0.1",
        grpc_port=grpc_port,
        allow_metrics=False,
    )
    with Triton(config=config) as triton:
        for name in numpy_models.NAMES:
            predict = numpy_models.load(folder, name)

            @batch
            def infer(x, predict=predict):
                return {"y": predict(x)}

            triton.bind(
                model_name=name,
                infer_func=infer,
                inputs=[Tensor(name="x", dtype=np.float32, shape=(784,))],
                outputs=[Tensor(name="y", dtype=np.float32, shape=(784 if name == "noop" else 10,))],
                config=ModelConfig(
                    max_batch_size=256, batcher=DynamicBatcher(max_queue_delay_microseconds=0)
                ),
                strict=False,
            )
        triton.run()
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
