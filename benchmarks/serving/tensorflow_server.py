"""TensorFlow in process behind http.server and grpcio, as people serve it without TensorFlow Serving.

Run by the Python of TensorFlow's environment, which has neither Tideflow nor TensorFlow Serving's messages:
those it needs are described here. Prints the two ports when it answers.
"""

import json
import sys
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import tensor_pb2


def predict_messages():
    """PredictRequest and PredictResponse: a model's name, and tensors by name."""
    file = descriptor_pb2.FileDescriptorProto(
        name="predict.proto", package="tensorflow.serving", syntax="proto3"
    )
    file.dependency.append("tensorflow/core/framework/tensor.proto")
    spec = file.message_type.add(name="ModelSpec")
    spec.field.add(name="name", number=1, type=9, label=1)
    for name, spec_at, tensors, tensors_at in (
        ("PredictRequest", 1, "inputs", 2),
        ("PredictResponse", 2, "outputs", 1),
    ):
        message = file.message_type.add(name=name)
        entry = message.nested_type.add(name=f"{tensors.capitalize()}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=9, label=1)
        entry.field.add(name="value", number=2, type=11, label=1, type_name=".tensorflow.TensorProto")
        field = dict(type=11, label=1, type_name=".tensorflow.serving.ModelSpec")
        message.field.add(name="model_spec", number=spec_at, **field)
        kind = f".tensorflow.serving.{name}.{entry.name}"
        message.field.add(name=tensors, number=tensors_at, type=11, label=3, type_name=kind)
    pool = descriptor_pool.Default()
    assert tensor_pb2.TensorProto.DESCRIPTOR.file.pool is pool
    pool.Add(file)
    names = ("PredictRequest", "PredictResponse")
    found = (pool.FindMessageTypeByName(f"tensorflow.serving.{name}") for name in names)
    return [message_factory.GetMessageClass(each) for each in found]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    loaded = {name: tf.saved_model.load(f"{sys.argv[1]}/{name}/1") for name in sys.argv[2:]}
    signatures = {name: model.signatures["serving_default"] for name, model in loaded.items()}

    def predict(name, array):
        return signatures[name](tf.constant(array))["y"].numpy()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet
        disable_nagle_algorithm = True

        def do_POST(self):
            name = self.path.rsplit("/", 1)[1].partition(":")[0]
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            outputs = predict(name, np.array(asked["instances"], np.float32))
            body = json.dumps({"predictions": outputs.tolist()}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    request_class, response_class = predict_messages()

    def answer(message, context):
        response = response_class()
        outputs = predict(message.model_spec.name, tf.make_ndarray(message.inputs["x"]))
        response.outputs["y"].CopyFrom(tf.make_tensor_proto(outputs))
        return response

    server = grpc.server(futures.ThreadPoolExecutor(8))
    unary = grpc.unary_unary_rpc_method_handler(
        answer, request_class.FromString, response_class.SerializeToString
    )
    service = grpc.method_handlers_generic_handler("tensorflow.serving.PredictionService", {"Predict": unary})
    server.add_generic_rpc_handlers((service,))
    grpc_port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.request_queue_size = 256
    threading.Thread(target=http.serve_forever, daemon=True).start()
    print(json.dumps({"rest": http.server_port, "grpc": grpc_port, "version": tf.__version__}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
