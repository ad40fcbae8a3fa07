"""Examples of contrib's optimizer_v2, recurrent, receptive_field, and of steps and callbacks."""

import json
import os

import numpy as np

import tideflow as tf

# %% tf.contrib.optimizer_v2.GradientDescentOptimizer, tf.contrib.optimizer_v2.MomentumOptimizer,
# %% tf.contrib.optimizer_v2.AdagradOptimizer, tf.contrib.optimizer_v2.AdadeltaOptimizer,
# %% tf.contrib.optimizer_v2.RMSPropOptimizer, tf.contrib.optimizer_v2.AdamOptimizer
v2 = tf.contrib.optimizer_v2
optimizers = (
    v2.GradientDescentOptimizer(0.1),
    v2.MomentumOptimizer(0.1, 0.9),
    v2.AdagradOptimizer(0.1),
    v2.AdadeltaOptimizer(0.1),
    v2.RMSPropOptimizer(0.1),
    v2.AdamOptimizer(lambda: 0.1),
)
for optimizer in optimizers:
    w = tf.Variable(1.0)
    train = optimizer.minimize(w * w, var_list=[w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        print(optimizer.get_name(), sess.run(w))


# %% tf.contrib.optimizer_v2.OptimizerV2
class Signs(tf.contrib.optimizer_v2.OptimizerV2):
    def __init__(self, rate):
        super().__init__(use_locking=False, name="Signs")
        self._set_hyper("rate", rate)

    def _apply_dense(self, grad, var, state):
        return var.assign_sub(tf.sign(grad) * state.get_hyper("rate"))


w = tf.Variable(1.0)
train = Signs(0.25).minimize(w * w)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    print(sess.run(w))


# %% tf.contrib.recurrent.Recurrent
def cell(theta, state, inputs):
    return tf.tanh(inputs * theta + state), []


states, last = tf.contrib.recurrent.Recurrent(0.5, tf.zeros([2]), tf.ones([3, 2]), cell)
with tf.Session() as sess:
    print(sess.run([states, last]))

# %% tf.contrib.recurrent.functional_rnn, tf.contrib.recurrent.bidirectional_functional_rnn
x = tf.ones([2, 3, 4])
outputs, state = tf.contrib.recurrent.functional_rnn(tf.nn.rnn_cell.GRUCell(5), x, dtype=tf.float32)
both, _ = tf.contrib.recurrent.bidirectional_functional_rnn(
    tf.nn.rnn_cell.GRUCell(5), tf.nn.rnn_cell.GRUCell(5), x, dtype=tf.float32
)
print(outputs.shape, state.shape, [each.shape for each in both])

# %% tf.contrib.receptive_field.compute_receptive_field_from_graph_def,
# %% tf.contrib.receptive_field.get_compute_order
x = tf.placeholder(tf.float32, [None, None, None, 1], name="image")
y = tf.layers.conv2d(tf.layers.conv2d(x, 2, 3, padding="same", use_bias=False), 2, 3, 2, use_bias=False)
y = tf.identity(y, name="output")
part = tf.contrib.receptive_field
field = part.compute_receptive_field_from_graph_def(tf.get_default_graph(), "image", "output")
print(field.size, field.stride, field.padding)
infos, nodes = part.get_compute_order(tf.get_default_graph().as_graph_def(), "image", [8, 8])
print(infos["output"].output_size, len(nodes))

# %% tf.contrib.distribute.Step, tf.contrib.distribute.StandardInputStep,
# %% tf.contrib.distribute.StandardSingleLossStep, tf.contrib.distribute.Monitor
part, strategy = tf.contrib.distribute, tf.distribute.OneDeviceStrategy("/cpu:0")
with strategy.scope():
    w = tf.get_variable("w", initializer=1.0)
    step = part.StandardSingleLossStep(
        lambda: tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]),
        lambda context, x: (w * x - 1.0) ** 2,
        tf.train.GradientDescentOptimizer(0.01),
        strategy,
    )
    with tf.Session() as sess:
        part.Monitor(step, sess).run_steps(2)
        print(sess.run(w), isinstance(step, part.StandardInputStep), isinstance(step, part.Step))

# %% tf.contrib.distribute.DistributeConfig, tf.contrib.distribute.UpdateContext,
# %% tf.contrib.distribute.MultiWorkerAllReduce
part = tf.contrib.distribute
config = part.DistributeConfig(train_distribute=tf.distribute.MirroredStrategy(["/cpu:0"]))
print(tf.estimator.RunConfig(experimental_distribute=config).train_distribute)
with part.UpdateContext("/cpu:0"):
    print(part.in_cross_replica_context())
print(type(part.MultiWorkerAllReduce(["/cpu:0"], 1)).__name__)

# %% tf.contrib.distribute.run_standard_tensorflow_server
cluster = {"cluster": {"worker": ["localhost:0"]}, "task": {"type": "worker", "index": 0}}
os.environ["TF_CONFIG"] = json.dumps(cluster)
server = tf.contrib.distribute.run_standard_tensorflow_server()
del os.environ["TF_CONFIG"]
print(server.server_def.job_name)

# %% tf.contrib.eager.add_execution_callback, tf.contrib.eager.clear_execution_callbacks
tfe = tf.contrib.eager
tf.enable_eager_execution()
tfe.add_execution_callback(lambda op_type, inputs, attrs, outputs, name: print(op_type, outputs))
tf.square(tf.constant(3.0))
tfe.clear_execution_callbacks()

# %% tf.contrib.eager.ExecutionCallback, tf.contrib.eager.seterr, tf.contrib.eager.errstate,
# %% tf.contrib.eager.inf_nan_callback, tf.contrib.eager.inf_callback, tf.contrib.eager.nan_callback
tfe = tf.contrib.eager
tf.enable_eager_execution()
print(tfe.seterr(tfe.ExecutionCallback.PRINT))
tf.log(tf.constant(0.0))
tfe.seterr("ignore")
with tfe.errstate("print"):
    tf.log(tf.constant(-1.0))
for check in (tfe.inf_nan_callback, tfe.inf_callback, tfe.nan_callback):
    check("Op", [], (), [tf.constant([np.inf, np.nan])], None, action="print")


# %% tf.contrib.estimator.SavedModelEstimator
def model(features, labels, mode):
    scores = features["x"] * tf.get_variable("w", initializer=2.0)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"scores": scores})
    loss = tf.reduce_mean((scores - labels) ** 2)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


first = tf.estimator.Estimator(model, "first")
first.train(lambda: ({"x": tf.constant([1.0])}, tf.constant([1.0])), steps=1)
features = {"x": tf.placeholder(tf.float32, [None])}
receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(features)
path = first.export_saved_model("models", receiver)
later = tf.contrib.estimator.SavedModelEstimator(path.decode(), "later")
rows = tf.estimator.inputs.numpy_input_fn({"x": np.float32([1.0, 2.0])}, shuffle=False)
print(list(later.predict(rows)))
