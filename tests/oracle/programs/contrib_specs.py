"""tf.contrib.specs: networks as texts, their graphs and summaries, parameters by chance."""

import random

from kit import Close, cases, graph, names, raises

_IMAGES = (1, 18, 19, 5)
_SPECS = {
    "convolution": (_IMAGES, "net = Cr(64, [5, 5])"),
    "layers": (_IMAGES, "net = Cs(4, 3) | Mp([2, 2]) | Ct(3, 3) | Ap([2, 2], 2) | Flat | Fm(3)"),
    "dense": ((4, 5), "net = Fs(4) | Ft(3) | Fl(2) | Fx(2) | Fr(3)"),
    "operators": ((4, 5), "net = Fr(5) + Fl(5) * Id"),
    "power": ((4, 5), "net = (Fr(5) ** 3) | (Sig ** 0) | Tanh"),
    "concat": ((4, 5), "net = Conc(1, Id, Idx(), Fr(2) | Relu)"),
    "shapes": ((4, 5), "net = Reshape([2, 10]) | Transpose([1, 0]) | Expand(0) | Squeeze(_0=[0]) | Smax"),
    "pixels": (_IMAGES, "net = Dws(3) | Dwm(2) | Cm(2, 1) | Cl(2, 1) | Cx(1, 1)"),
    "norms": (
        _IMAGES,
        "net = Bn(is_training=True) | Lrn(depth_radius=2) | Unit(dim=1) | Do(0.5, is_training=False)",
    ),
    "shared": ((4, 5), "f = Shared(Fr(5))\nnet = f | f | Cs.__class__(f.funcall)"),
    "variable": ((4, 5), "net = Fl(3) + Var('offset', shape=[3])"),
    "external": (
        (4, 5),
        "net = External('math', 'sqrt').__class__(lambda x: -x) | Import('f = lambda x: x * 2')",
    ),
    "print": ((4, 5), "net = Print([]) | Id"),
}


@cases(_SPECS)
def nets(tf, np, shape, spec):
    inputs = tf.constant(np.random.RandomState(0).normal(size=shape).astype("f"))
    tf.contrib.specs.Shared.shared_number = 1
    outputs = tf.contrib.specs.create_net(spec, inputs)
    lines = []
    tf.contrib.specs.tf_print(outputs, printer=lines.append)
    tf.contrib.specs.tf_parameter_summary(outputs, printer=lines.append)
    tf.contrib.specs.tf_parameter_summary(outputs, printer=lines.append, combine=False)
    feeds = {
        v: np.cos(np.arange(v.shape.num_elements())).reshape(v.shape.as_list()) for v in tf.global_variables()
    }
    found = [
        names(tf),
        lines,
        tf.contrib.specs.tf_structure(outputs),
        tf.contrib.specs.tf_structure(outputs, include_shapes=True),
        tf.contrib.specs.tf_num_params(outputs),
        list(tf.contrib.specs.tf_parameter_iter(outputs)),
        tf.contrib.specs.tf_left_split(outputs.op)[0],
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, value in feeds.items():
            variable.load(value.astype("f"), session)
        found.append(Close(session.run(outputs), 1e-4, 1e-5))
    return found


def structures(tf, np):
    specs = tf.contrib.specs
    return [
        specs.tf_spec_structure("net = Cr(64, 3) | Fm(10)", input_shape=(1, 8, 8, 5)),
        specs.tf_spec_structure("net = Id", tf.zeros([2])),
        specs.tf_spec_print("net = Fs(2)", input_shape=(1, 2)),
        specs.tf_spec_summary("net = Fs(2)", input_shape=(1, 2)),
        graph(tf),
    ]


def parameters(tf, np):
    specs = tf.contrib.specs
    random.seed(3)
    text = "a = Uf(); b = Ui(1, 9); c = Lf(0.1, 10.0); d = Li(1, 100); e = Nt(0.0, 1.0); f = cos(pi) + given"
    found = specs.eval_params(text, {"given": 3})
    return [
        Close({name: value for name, value in found.items()}, 1e-12),
        [specs.Uf(2.0, 3.0), specs.Ui(3, 5), specs.Lf(1.0, 2.0), specs.Li(1, 5), specs.Nt(0.0, 2.0, 0.1)],
        sorted(specs.eval_spec("x = Fr(3); y = x | Fs(2)", {"z": 1})),
    ]


def calls(tf, np):
    specs = tf.contrib.specs
    double = specs.Function(lambda x, *args, **kw: (x, args, sorted(kw.items())), 1, key=2)
    bound = specs.Callable(lambda x: x + 1)
    with specs.LocalImport({"_borrowed": 7}):
        borrowed = _borrowed  # noqa: F821
    return [
        double(3, _3=4).funcall(0),
        double(other=5).funcall(0),
        (bound | bound).funcall(1),
        (bound + bound).funcall(1),
        (bound * bound).funcall(1),
        (bound**3).funcall(1),
        (bound**0).funcall(1),
        specs.Operator(max, bound, specs.Idx()).funcall(1),
        specs.Composition(bound, bound).funcall(1),
        specs.External("math", "sqrt").funcall(16.0),
        specs.Import("f = abs").funcall(-2),
        specs.get_positional([1, None], {"_1": 5, "_3": 6, "a": 7}),
        specs.get_positional([1], {"_0": 5}, kw_overrides=True),
        specs.get_positional([1], {"a": 5}),
        borrowed,
        "_borrowed" in globals(),
        specs.debug(True),
        bound.funcall(1),
        specs.debug(False),
        specs.create_net_fun("net = Sig")(tf.zeros([2])).name,
        specs.Fun is specs.Function,
    ]


def refused(tf, np):
    specs = tf.contrib.specs
    return [
        raises(specs.check_keywords, "import os"),
        raises(specs.check_keywords, "x = 'import'"),
        raises(specs.check_keywords, "while 1: x"),
        raises(specs.eval_spec, "def f(): pass"),
        raises(specs.eval_params, "exec('x')"),
        raises(specs.create_net, "x = Fr(3)", tf.zeros([2, 2])),
        raises(specs.create_net, "net = Unknown(3)", tf.zeros([2, 2])),
        raises(specs.Function, 3),
        raises(specs.Import, "g = 3"),
        raises(specs.External, "math", "no_such_function"),
        raises(specs.Shared, specs.Id, name="x"),
        raises(specs.Shared, specs.Id, scope="x"),
        raises(lambda: specs.Id**-1),
    ]
