"""Examples of tf.contrib.specs."""

import tideflow as tf

# %% tf.contrib.specs.create_net, tf.contrib.specs.Cx, tf.contrib.specs.Cr, tf.contrib.specs.Cs,
# %% tf.contrib.specs.Ct, tf.contrib.specs.Cm, tf.contrib.specs.Cl, tf.contrib.specs.Mp, tf.contrib.specs.Ap,
# %% tf.contrib.specs.Flat, tf.contrib.specs.Fm
images = tf.zeros([4, 28, 28, 1])
net = tf.contrib.specs.create_net("net = Cr(16, [5, 5]) | Mp([2, 2]) | Flat | Fm(10)", images)
print(net.shape)

# %% tf.contrib.specs.create_net_fun, tf.contrib.specs.Fx, tf.contrib.specs.Fr, tf.contrib.specs.Fs,
# %% tf.contrib.specs.Ft, tf.contrib.specs.Fl, tf.contrib.specs.Do, tf.contrib.specs.Bn
layers = tf.contrib.specs.create_net_fun("net = Fr(sizes) | Do(0.5) | Fl(2)", {"sizes": 8})
print(layers(tf.zeros([3, 4])).shape)

# %% tf.contrib.specs.eval_spec, tf.contrib.specs.Composable, tf.contrib.specs.Composition,
# %% tf.contrib.specs.Operator, tf.contrib.specs.Id, tf.contrib.specs.Idx
names = tf.contrib.specs.eval_spec("block = Fr(8) | Fr(4); net = block + Id")
print(type(names["block"]).__name__, type(names["net"]).__name__)

# %% tf.contrib.specs.eval_params, tf.contrib.specs.Uf, tf.contrib.specs.Ui, tf.contrib.specs.Lf,
# %% tf.contrib.specs.Li, tf.contrib.specs.Nt
found = tf.contrib.specs.eval_params("size = Ui(1, 9); rate = Lf(1e-4, 1e-1); noise = Nt(0.0, 1.0)")
print(sorted(found), 1 <= found["size"] <= 9)

# %% tf.contrib.specs.Function, tf.contrib.specs.Fun, tf.contrib.specs.Callable,
# %% tf.contrib.specs.get_positional
power = tf.contrib.specs.Function(pow, 3)
print(power.funcall(2), (power | tf.contrib.specs.Callable(abs)).funcall(-2))

# %% tf.contrib.specs.Conc, tf.contrib.specs.Relu, tf.contrib.specs.Sig, tf.contrib.specs.Tanh,
# %% tf.contrib.specs.Smax
print(tf.contrib.specs.Conc(1, tf.contrib.specs.Relu, tf.contrib.specs.Sig).funcall(tf.zeros([2, 3])).shape)

# %% tf.contrib.specs.Reshape, tf.contrib.specs.Transpose, tf.contrib.specs.Squeeze, tf.contrib.specs.Expand,
# %% tf.contrib.specs.Unit, tf.contrib.specs.Lrn, tf.contrib.specs.Print
net = tf.contrib.specs.create_net("net = Reshape([3, 2]) | Transpose([1, 0]) | Expand(0)", tf.zeros([6]))
print(net.shape)

# %% tf.contrib.specs.Dws, tf.contrib.specs.Dwm
print(tf.contrib.specs.Dws(3).funcall(tf.zeros([1, 4, 4, 2])).shape)

# %% tf.contrib.specs.Var, tf.contrib.specs.Shared
net = tf.contrib.specs.create_net("f = Shared(Fr(4)); net = (f | f) + Var('v', shape=[4])", tf.zeros([2, 4]))
print([v.name for v in tf.global_variables()])

# %% tf.contrib.specs.External, tf.contrib.specs.Import
print(tf.contrib.specs.External("math", "sqrt").funcall(16.0), tf.contrib.specs.Import("f = abs").funcall(-3))

# %% tf.contrib.specs.LocalImport
with tf.contrib.specs.LocalImport({"Layer": tf.contrib.specs.Fr}):
    print(Layer(3).funcall(tf.zeros([1, 2])).shape)  # noqa: F821

# %% tf.contrib.specs.check_keywords, tf.contrib.specs.debug
try:
    tf.contrib.specs.check_keywords("import os")
except ValueError as error:
    print(error)

# %% tf.contrib.specs.tf_spec_structure, tf.contrib.specs.tf_structure
print(tf.contrib.specs.tf_spec_structure("net = Fs(2)", input_shape=[1, 3]))

# %% tf.contrib.specs.tf_spec_print, tf.contrib.specs.tf_print
tf.contrib.specs.tf_spec_print("net = Fs(2)", input_shape=[1, 3])

# %% tf.contrib.specs.tf_spec_summary, tf.contrib.specs.tf_parameter_summary, tf.contrib.specs.tf_num_params,
# %% tf.contrib.specs.tf_parameter_iter, tf.contrib.specs.tf_left_split
tf.contrib.specs.tf_spec_summary("net = Fs(4) | Fm(2)", input_shape=[1, 3])
