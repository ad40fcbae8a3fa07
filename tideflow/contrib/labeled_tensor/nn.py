"""`tf.contrib.labeled_tensor.nn`: the functions of networks on labeled tensors."""

from __future__ import annotations

import tideflow as tf
from tideflow.contrib import nn
from tideflow.contrib.labeled_tensor.elementwise import define_binary_op, define_unary_op
from tideflow.export import expose

_UNARY = {
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "crelu": tf.nn.crelu,
    "elu": tf.nn.elu,
    "softplus": tf.nn.softplus,
    "l2_loss": tf.nn.l2_loss,
    "softmax": tf.nn.softmax,
    "log_softmax": tf.nn.log_softmax,
}
_BINARY = {
    "sigmoid_cross_entropy_with_logits": nn.deprecated_flipped_sigmoid_cross_entropy_with_logits,
    "softmax_cross_entropy_with_logits": nn.deprecated_flipped_softmax_cross_entropy_with_logits,
    "sparse_softmax_cross_entropy_with_logits": (
        nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits
    ),
}
for _name, _function in _UNARY.items():
    expose(define_unary_op(_name, _function), f"contrib.labeled_tensor.nn.{_name}")
for _name, _function in _BINARY.items():
    expose(define_binary_op(_name, _function), f"contrib.labeled_tensor.nn.{_name}")
