"""Examples of tf.contrib.graph_editor, tf.contrib.quantize and tf.contrib.model_pruning."""

import numpy as np

import tideflow as tf

# %% tf.contrib.graph_editor.graph_replace
x = tf.constant(3.0)
y = tf.square(x + 1.0)
z = tf.contrib.graph_editor.graph_replace(y, {x: tf.constant(10.0)})
with tf.Session() as sess:
    print(sess.run([y, z]))

# %% tf.contrib.graph_editor.copy, tf.contrib.graph_editor.TransformerInfo
ge = tf.contrib.graph_editor
with tf.name_scope("layer"):
    y = tf.nn.relu(tf.constant([-1.0, 2.0], name="x"), name="y")
view, info = ge.copy(ge.sgv_scope("layer", tf.get_default_graph()), dst_scope="copy", src_scope="layer")
print(info.transformed(y), [op.name for op in view.ops])

# %% tf.contrib.graph_editor.copy_with_input_replacements
ge = tf.contrib.graph_editor
x = tf.constant(3.0)
y = tf.square(x)
_, info = ge.copy_with_input_replacements(y.op, {x: tf.constant(5.0)}, dst_scope="copy")
info.transformed(y)

# %% tf.contrib.graph_editor.Transformer, tf.contrib.graph_editor.copy_op_handler
ge = tf.contrib.graph_editor
x = tf.constant(3.0)
y = tf.square(x)
z = tf.negative(y)


def cubed(info, op, new_inputs):
    if op.type == "Square":
        made = tf.pow(new_inputs[0], 3.0)
        return made.op, [made]
    return ge.copy_op_handler(info, op, new_inputs)


transformer = ge.Transformer()
transformer.transform_op_handler = cubed
transformer.transform_external_input_handler = lambda info, t: t
_, info = transformer([y.op, z.op], tf.get_default_graph(), "cubed")
info.transformed(z)

# %% tf.contrib.graph_editor.replace_t_with_placeholder_handler
# %% tf.contrib.graph_editor.keep_t_if_possible_handler
# %% tf.contrib.graph_editor.assign_renamed_collections_handler
# %% tf.contrib.graph_editor.transform_op_if_inside_handler
ge = tf.contrib.graph_editor
y = tf.square(tf.constant(3.0, name="x"))
transformer = ge.Transformer()
transformer.transform_external_input_handler = ge.keep_t_if_possible_handler  # not a placeholder
view, info = transformer(y.op, tf.get_default_graph(), "copy")
info.transformed(y)

# %% tf.contrib.graph_editor.SubGraphView, tf.contrib.graph_editor.make_view
# %% tf.contrib.graph_editor.make_view_from_scope
ge = tf.contrib.graph_editor
with tf.name_scope("scale"):
    y = tf.multiply(tf.constant(2.0, name="a"), 3.0, name="y")
print(ge.make_view("^scale/y$", graph=tf.get_default_graph()).remap_inputs([1, 0]))

# %% tf.contrib.graph_editor.select_ops, tf.contrib.graph_editor.select_ts
# %% tf.contrib.graph_editor.select_ops_and_ts
ge = tf.contrib.graph_editor
a = tf.constant(1.0, name="a")
b = tf.negative(a, name="b")
print(
    ge.select_ops("^b$", graph=tf.get_default_graph()), ge.select_ts("(?#ts)a", graph=tf.get_default_graph())
)

# %% tf.contrib.graph_editor.filter_ops, tf.contrib.graph_editor.filter_ops_from_regex
# %% tf.contrib.graph_editor.filter_ts, tf.contrib.graph_editor.filter_ts_from_regex
# %% tf.contrib.graph_editor.get_name_scope_ops, tf.contrib.graph_editor.get_tensors
ge = tf.contrib.graph_editor
with tf.name_scope("in"):
    a = tf.constant(1.0, name="a")
b = tf.negative(a, name="b")
graph = tf.get_default_graph()
print(ge.get_name_scope_ops(graph, "in"), ge.filter_ops(graph, lambda op: op.type == "Neg"))

# %% tf.contrib.graph_editor.can_be_regex, tf.contrib.graph_editor.make_regex
print(tf.contrib.graph_editor.can_be_regex("^a.*"), tf.contrib.graph_editor.make_regex("^a.*").pattern)

# %% tf.contrib.graph_editor.get_forward_walk_ops, tf.contrib.graph_editor.get_backward_walk_ops
# %% tf.contrib.graph_editor.get_walks_intersection_ops, tf.contrib.graph_editor.get_walks_union_ops
ge = tf.contrib.graph_editor
a = tf.constant(1.0, name="a")
b = tf.negative(a, name="b")
c = tf.square(b, name="c")
print([op.name for op in ge.get_forward_walk_ops([b])], [op.name for op in ge.get_backward_walk_ops([b])])
print([op.name for op in ge.get_walks_intersection_ops([a], [c])])

# %% tf.contrib.graph_editor.get_ops_ios, tf.contrib.graph_editor.get_within_boundary_ops
# %% tf.contrib.graph_editor.compute_boundary_ts, tf.contrib.graph_editor.get_generating_ops
# %% tf.contrib.graph_editor.get_consuming_ops
ge = tf.contrib.graph_editor
a = tf.constant(1.0, name="a")
b = tf.negative(a, name="b")
c = tf.square(b, name="c")
print([op.name for op in ge.get_ops_ios(b.op)])
inputs, outputs, inside = ge.compute_boundary_ts([b.op, c.op])
print(inputs, outputs, inside)

# %% tf.contrib.graph_editor.ControlOutputs, tf.contrib.graph_editor.check_cios
ge = tf.contrib.graph_editor
a = tf.constant(1.0, name="a")
with tf.control_dependencies([a]):
    b = tf.no_op(name="b")
print([op.name for op in ge.ControlOutputs(tf.get_default_graph()).get(a.op)])

# %% tf.contrib.graph_editor.make_list_of_op, tf.contrib.graph_editor.make_list_of_t
a = tf.constant(1.0, name="a")
print(tf.contrib.graph_editor.make_list_of_op(a.op), tf.contrib.graph_editor.make_list_of_t(a))

# %% tf.contrib.graph_editor.make_placeholder_from_tensor
# %% tf.contrib.graph_editor.make_placeholder_from_dtype_and_shape, tf.contrib.graph_editor.placeholder_name
ge = tf.contrib.graph_editor
print(ge.make_placeholder_from_tensor(tf.constant([1.0, 2.0], name="a")).name)
print(ge.make_placeholder_from_dtype_and_shape(tf.float32, [2]).name)

# %% tf.contrib.graph_editor.swap_ts, tf.contrib.graph_editor.reroute_ts
a, b = tf.constant(1.0), tf.constant(5.0)
y = a - b
tf.contrib.graph_editor.swap_ts(a, b)
with tf.Session() as sess:
    print(sess.run(y))

# %% tf.contrib.graph_editor.swap_inputs, tf.contrib.graph_editor.reroute_inputs
a, b = tf.constant(1.0), tf.constant(5.0)
x, y = tf.negative(a), tf.square(b)
tf.contrib.graph_editor.swap_inputs(x.op, y.op)
with tf.Session() as sess:
    print(sess.run([x, y]))

# %% tf.contrib.graph_editor.swap_outputs, tf.contrib.graph_editor.reroute_outputs
# %% tf.contrib.graph_editor.swap_ios, tf.contrib.graph_editor.reroute_ios
a = tf.constant(3.0)
x, y = tf.negative(a), tf.square(a)
z = tf.identity(x)
tf.contrib.graph_editor.reroute_outputs(y.op, x.op)  # what took x takes y
with tf.Session() as sess:
    print(sess.run(z))

# %% tf.contrib.graph_editor.add_control_inputs, tf.contrib.graph_editor.remove_control_inputs
a, b = tf.constant(1.0, name="a"), tf.constant(5.0, name="b")
tf.contrib.graph_editor.add_control_inputs(b.op, a.op)
print(b.op.control_inputs)
tf.contrib.graph_editor.remove_control_inputs(b.op, a.op)

# %% tf.contrib.graph_editor.detach, tf.contrib.graph_editor.detach_inputs
# %% tf.contrib.graph_editor.detach_outputs, tf.contrib.graph_editor.detach_control_inputs
# %% tf.contrib.graph_editor.detach_control_outputs
y = tf.square(tf.constant(3.0, name="a"), name="y")
view, placeholders = tf.contrib.graph_editor.detach_inputs(y.op)
with tf.Session() as sess:
    print(sess.run(y, {placeholders[0]: 5.0}))

# %% tf.contrib.graph_editor.connect, tf.contrib.graph_editor.bypass
x = tf.constant(3.0)
y = tf.negative(x)
z = tf.square(y + 1.0)
tf.contrib.graph_editor.bypass(y.op)
with tf.Session() as sess:
    print(sess.run(z))

# %% tf.contrib.quantize.create_training_graph, tf.contrib.quantize.create_eval_graph
x = tf.constant(np.linspace(-1, 1, 8).reshape(2, 4), tf.float32)
y = tf.contrib.layers.fully_connected(x, 3, scope="layer")
tf.contrib.quantize.create_training_graph(quant_delay=100)
print(sorted(v.op.name for v in tf.global_variables() if v.op.name.endswith(("quant/min", "quant/max"))))

# %% tf.contrib.quantize.experimental_create_training_graph
# %% tf.contrib.quantize.experimental_create_eval_graph
y = tf.contrib.layers.fully_connected(tf.ones([1, 4]), 3, scope="layer")
tf.contrib.quantize.experimental_create_eval_graph(weight_bits=4, symmetric=True)
print([op.name for op in tf.get_default_graph().get_operations() if op.type == "FakeQuantWithMinMaxVars"])

# %% tf.contrib.model_pruning.Pruning, tf.contrib.model_pruning.apply_mask
# %% tf.contrib.model_pruning.get_pruning_hparams
pruning = tf.contrib.model_pruning
tf.train.get_or_create_global_step()
weights = tf.get_variable("weights", initializer=tf.constant([[0.1, -3.0], [2.0, 0.2]]))
masked = pruning.apply_mask(weights)
spec = pruning.get_pruning_hparams().parse("initial_sparsity=0.5")
update = pruning.Pruning(spec).mask_update_op()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(update)
    print(sess.run(masked))

# %% tf.contrib.model_pruning.masked_fully_connected, tf.contrib.model_pruning.masked_convolution
# %% tf.contrib.model_pruning.get_masks, tf.contrib.model_pruning.get_thresholds
# %% tf.contrib.model_pruning.get_weights, tf.contrib.model_pruning.get_masked_weights
# %% tf.contrib.model_pruning.get_weight_sparsity
pruning = tf.contrib.model_pruning
images = pruning.masked_convolution(tf.zeros([2, 8, 8, 3]), 4, kernel_size=3)
pruning.masked_fully_connected(tf.layers.flatten(images), 10)
print([mask.name for mask in pruning.get_masks()], [weights.shape for weights in pruning.get_weights()])

# %% tf.contrib.model_pruning.MaskedBasicLSTMCell, tf.contrib.model_pruning.MaskedLSTMCell
cell = tf.contrib.model_pruning.MaskedBasicLSTMCell(4)
outputs, _ = tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
print(outputs.shape, tf.contrib.model_pruning.get_masks()[0].shape)

# %% tf.contrib.model_pruning.train
pruning = tf.contrib.model_pruning
tf.train.get_or_create_global_step()
y = pruning.masked_fully_connected(tf.ones([1, 4]), 2, activation_fn=None)
loss = tf.losses.mean_squared_error(tf.ones([1, 2]), y)
step = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
update = pruning.Pruning().conditional_mask_update_op()
print(pruning.train(step, None, update, number_of_steps=3) < 10)

# %% tf.contrib.model_pruning.strip_pruning_vars_fn, tf.contrib.model_pruning.graph_def_from_checkpoint
pruning = tf.contrib.model_pruning
y = pruning.masked_fully_connected(tf.ones([1, 4]), 2, activation_fn=tf.identity, scope="layer")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, [y.op.name])
small = pruning.strip_pruning_vars_fn(frozen, [y.op.name])
print(len(frozen.node), len(small.node))

# %% tf.contrib.layers.rev_block, tf.contrib.layers.RevBlock
x1, x2 = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])
block = tf.contrib.layers.RevBlock(f=tf.nn.tanh, g=tf.sin, num_layers=2)
y1, y2 = block.forward(x1, x2)
with tf.Session() as sess:
    print(sess.run(block.backward(y1, y2)))  # the inputs, from the outputs

# %% tf.contrib.layers.recompute_grad
wave = tf.contrib.layers.recompute_grad(lambda x: tf.sin(x) * tf.exp(x))
x = tf.constant(1.0)
with tf.Session() as sess:
    print(sess.run(tf.gradients(wave(x), x)))

# %% tf.contrib.losses.metric_learning.triplet_semihard_loss
# %% tf.contrib.losses.metric_learning.lifted_struct_loss, tf.contrib.losses.metric_learning.cluster_loss
losses = tf.contrib.losses.metric_learning
embeddings = tf.nn.l2_normalize(tf.constant([[1.0, 0.0], [0.9, 0.3], [0.0, 1.0], [-0.2, 1.0]]), 1)
near = losses.triplet_semihard_loss([0, 0, 1, 1], embeddings)
mixed = losses.triplet_semihard_loss([0, 1, 0, 1], embeddings)
with tf.Session() as sess:
    print(sess.run([near, mixed]))

# %% tf.contrib.losses.metric_learning.npairs_loss, tf.contrib.losses.metric_learning.npairs_loss_multilabel
# %% tf.contrib.losses.metric_learning.contrastive_loss
losses = tf.contrib.losses.metric_learning
first, second = tf.constant([[1.0, 0.0], [0.0, 1.0]]), tf.constant([[0.9, 0.1], [0.2, 0.8]])
with tf.Session() as sess:
    print(
        sess.run([losses.npairs_loss([0, 1], first, second), losses.contrastive_loss([1, 0], first, second)])
    )

# %% tf.contrib.slim.pool
print(tf.contrib.slim.pool(tf.zeros([2, 8, 8, 3]), kernel_size=2, pooling_type="MAX", stride=2).shape)

# %% tf.contrib.framework.BoundedTensorSpec
print(tf.contrib.framework.BoundedTensorSpec([2], tf.int32, minimum=0, maximum=[5, 9]))
