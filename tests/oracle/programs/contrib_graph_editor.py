"""tf.contrib.graph_editor: graphs selected, copied, cut and rewired, and what they compute then."""

from collections import OrderedDict, namedtuple

from kit import cases, graph, names, raises


def _named(found):
    """Names, in an order of their own: TensorFlow's walks end in sets."""
    return sorted(item.name for item in found)


def _listed(found):
    return [item.name for item in found]


def _diamond(tf):
    """Values a and b, a scope foo with two ops on them, and what takes these."""
    with tf.name_scope("in"):
        a = tf.constant([1.0, 2.0], name="a")
        b = tf.placeholder_with_default([3.0, 5.0], [2], name="b")
    with tf.name_scope("foo"):
        with tf.control_dependencies([b.op]):
            c = tf.add(a, b, name="c")
        d = tf.multiply(c, b, name="d")
        with tf.name_scope("bar"):
            e = tf.negative(c, name="e")
    with tf.control_dependencies([d.op]):
        f = tf.subtract(d, e, name="f")
    return a, b, c, d, e, f


def selections(tf, np):
    ge = tf.contrib.graph_editor
    a, b, c, d, _e, f = _diamond(tf)
    g = tf.get_default_graph()
    return [
        _listed(ge.select_ops("foo/", graph=g)),
        _listed(ge.select_ops(g, positive_filter=lambda op: len(op.inputs) == 2)),
        _listed(ge.select_ops("^foo/.*", c.op, [a.op, d], graph=g)),
        _listed(ge.select_ops("(?#ts)foo", "(?#ops)^f$", graph=g)),
        _listed(ge.select_ops("foo", "(?#ops)^f$", graph=g, restrict_ops_regex=True)),
        _listed(ge.select_ts("foo", graph=g)),
        _listed(ge.select_ts("(?#ops)foo", "(?#ts)/e", [a, b], graph=g)),
        [_listed(part) for part in ge.select_ops_and_ts("foo", "(?#ts)^in", graph=g)],
        _listed(ge.filter_ts([c.op, f.op], True)),
        _listed(ge.filter_ts_from_regex(g, "[abc]:0")),
        _listed(ge.filter_ops(g, lambda op: op.type == "Neg")),
        _listed(ge.filter_ops_from_regex(g, "^f")),
        _listed(ge.get_name_scope_ops(g, "foo/bar")),
        _listed(ge.get_name_scope_ops(g, "foo/")),
        ge.can_be_regex("x"),
        ge.can_be_regex(3),
        ge.make_regex("x+").pattern,
        raises(ge.select_ops, "foo"),
        raises(ge.select_ops, c.op, wrong=3),
        raises(ge.select_ops, "foo", graph=3),
        raises(ge.make_regex, 3),
    ]


def walks(tf, np):
    ge = tf.contrib.graph_editor
    a, b, c, d, e, f = _diamond(tf)
    controls = ge.ControlOutputs(tf.get_default_graph())
    everything = tf.get_default_graph().get_operations()
    return [
        _named(ge.get_forward_walk_ops(a.op)),
        _named(ge.get_forward_walk_ops([a])),
        _named(ge.get_forward_walk_ops([c.op], inclusive=False, stop_at_ts=[e])),
        _named(ge.get_forward_walk_ops(b.op, control_outputs=controls)),
        _named(ge.get_forward_walk_ops([c.op], within_ops=[c.op, d.op])),
        _named(ge.get_forward_walk_ops([c.op], within_ops_fn=lambda op: op.name != "f")),
        _named(ge.get_backward_walk_ops([f])),
        _named(ge.get_backward_walk_ops([e.op], inclusive=False)),
        _named(ge.get_backward_walk_ops(f.op, stop_at_ts=[c], control_inputs=True)),
        _named(ge.get_walks_intersection_ops([c], [d])),
        _named(ge.get_walks_intersection_ops([a.op], [f.op], backward_inclusive=False, control_ios=controls)),
        _named(ge.get_walks_union_ops([e.op], [c.op], forward_inclusive=False)),
        _named(ge.get_ops_ios([c.op])),
        _named(ge.get_ops_ios([d.op], control_ios=controls)),
        _listed(ge.get_within_boundary_ops(everything, [e.op], [c.op, d.op])),
        _listed(ge.get_within_boundary_ops(everything, [e.op], [c.op, d.op], inclusive=False)),
        [_listed(part) for part in ge.compute_boundary_ts([c.op, d.op])],
        {op.name: _listed(others) for op, others in controls.get_all().items()},
        _listed(controls.get(a.op)),
        ge.get_forward_walk_ops([]),
        raises(ge.get_within_boundary_ops, everything, [e.op], [e.op]),
        raises(ge.get_forward_walk_ops, [a, b.op]),
        raises(ge.check_cios, False, controls, controls),
        raises(ge.check_cios, False, 3),
        raises(ge.ControlOutputs, 3),
    ]


def lists(tf, np):
    ge = tf.contrib.graph_editor
    _a, b, c, d, e, _f = _diamond(tf)
    g = tf.get_default_graph()
    with tf.Graph().as_default() as other:
        z = tf.constant(1.0)
    return [
        _listed(ge.make_list_of_op(g)),
        _listed(ge.make_list_of_op(c.op)),
        _listed(ge.make_list_of_op([c, d.op], ignore_ts=True)),
        ge.make_list_of_op([]),
        _listed(ge.make_list_of_t((c, d))),
        _listed(ge.make_list_of_t([c, d.op], ignore_ops=True)),
        _listed(ge.get_tensors(g)),
        _listed(ge.get_generating_ops([d, e])),
        _listed(ge.get_consuming_ops([c, b])),
        raises(ge.make_list_of_op, g, allow_graph=False),
        raises(ge.make_list_of_op, [c]),
        raises(ge.make_list_of_t, [c.op]),
        raises(ge.make_list_of_t, [c, z]),
        raises(ge.make_list_of_t, 3),
        raises(ge.get_tensors, c),
        raises(ge.get_consuming_ops, other),
    ]


def placeholders(tf, np):
    ge = tf.contrib.graph_editor
    _a, _b, _c, _d, e, f = _diamond(tf)
    made = ge.make_placeholder_from_tensor(e)
    return [
        [ge.placeholder_name(e), ge.placeholder_name(e, scope="there"), ge.placeholder_name(scope="x/")],
        [ge.placeholder_name(), ge.placeholder_name(made), ge.placeholder_name(f, prefix="my")],
        made,
        ge.make_placeholder_from_tensor(f, scope="there", prefix="p"),
        ge.make_placeholder_from_dtype_and_shape(tf.int32, [2, None], scope="x"),
        ge.ph(tf.float32),
        ge.ph(tf.float32),
        raises(ge.placeholder_name, 3),
        graph(tf),
    ]


def _shown(view):
    parts = [view.ops, view.inputs, view.outputs, view.connected_inputs, view.connected_outputs]
    return [_listed(part) for part in parts + [view.passthroughs, view.consumers()]]


def views(tf, np):
    ge = tf.contrib.graph_editor
    a, b, c, _d, e, f = _diamond(tf)
    g = tf.get_default_graph()
    view = ge.sgv("foo", graph=g)
    passing = ge.make_view(c.op, [f])
    return [
        _shown(view),
        _shown(passing),
        _shown(ge.sgv()),
        bool(view),
        bool(ge.sgv()),
        _shown(ge.sgv_scope("foo/bar", g)),
        _shown(view.remap_inputs([1])),
        _shown(view.remap_inputs([b, a])),
        _shown(view.remap_outputs([1, 0, 1])),
        _shown(view.remap([0], [])),
        _shown(view.remap([0], []).remap_default()),
        _shown(view.remap([0], []).remap_default(remove_output_map=False)),
        _shown(view.remap_outputs([1, 0, 1]).remap_outputs_make_unique()),
        _shown(ge.sgv([c.op]).remap_outputs_to_consumers()),
        _shown(ge.sgv(g).remap_outputs([]).remove_unused_ops()),
        _shown(ge.sgv([c.op, e.op, f.op]).remap(None, [1]).remove_unused_ops(False)),
        view.op(1).name,
        view.find_op_by_name("foo/d").name,
        [view.input_index(b), view.output_index(e), passing.is_passthrough(f), view.is_passthrough(a)],
        str(view).split("\n")[1:],
        str(passing).split("\n")[1:],
        str(ge.sgv()),
        [view.inputs[0].name, len(view.inputs), bool(view.passthroughs), _listed(view.inputs + [f])],
        ge.make_view(view) is view,
        view.copy() is view,
        raises(view.find_op_by_name, "f"),
        raises(view.remap_inputs, [0, 0]),
        raises(view.remap_outputs, [7]),
        raises(ge.make_view, view, graph=tf.Graph()),
    ]


def _run(tf, fetches):
    with tf.Session() as session:
        return session.run(fetches)


def _apart(tf):
    """Two parts of a graph that compute alike, and what takes their values."""
    a, b = tf.constant([1.0, 2.0], name="a"), tf.constant([10.0, 20.0], name="b")
    with tf.name_scope("p"):
        p = tf.square(tf.add(a, 1.0, name="x"), name="y")
    with tf.name_scope("q"):
        q = tf.negative(tf.add(b, 5.0, name="x"), name="y")
    return a, b, p, q, tf.identity(p, name="pp"), tf.identity(q, name="qq")


@cases("swap_ts", "reroute_ts")
def tensors_rerouted(tf, np, how):
    ge = tf.contrib.graph_editor
    a, b, p, q, pp, qq = _apart(tf)
    move = getattr(ge, how)
    counts = [
        move([p], [q]),
        move(a, b, can_modify=[p.op.inputs[0].op]),
        move([a], [b], cannot_modify=tf.get_default_graph().get_operations()),
        move(a, a),
    ]
    errors = [raises(move, [a, b], a), raises(move, a, tf.constant(1)), raises(move, a, tf.zeros([3]))]
    return [counts, errors, graph(tf), _run(tf, [p, q, pp, qq])]


@cases("swap_inputs", "reroute_inputs", "swap_outputs", "reroute_outputs", "swap_ios", "reroute_ios")
def views_rerouted(tf, np, how):
    ge = tf.contrib.graph_editor
    _a, _b, p, q, pp, qq = _apart(tf)
    g = tf.get_default_graph()
    first = ge.sgv([g.get_operation_by_name(n) for n in ("p/x", "p/y")]).remap_inputs([0])
    second = ge.sgv([g.get_operation_by_name(n) for n in ("q/x", "q/y")]).remap_inputs([0])
    made = getattr(ge, how)(first, second)
    return [[_shown(view) for view in made], _shown(first), graph(tf), _run(tf, [p, q, pp, qq])]


@cases("swap_inputs", "reroute_inputs", "swap_outputs", "reroute_outputs")
def tensors_as_views(tf, np, how):
    ge = tf.contrib.graph_editor
    _a, _b, p, q, pp, qq = _apart(tf)
    made = getattr(ge, how)([p], [q])
    return [[_shown(view) for view in made], graph(tf), _run(tf, [pp, qq])]


def controls(tf, np):
    ge = tf.contrib.graph_editor
    a, b, _c, d, e, f = _diamond(tf)
    ge.add_control_inputs(e.op, [a.op, b.op])
    ge.add_control_inputs(d.op, [a.op, b.op])
    ge.remove_control_inputs(d.op, b.op)
    errors = [
        raises(ge.add_control_inputs, e.op, a.op),
        raises(ge.remove_control_inputs, d.op, [b.op]),
        raises(ge.add_control_inputs, e, a.op),
        raises(ge.remove_control_inputs, 3, a.op),
    ]
    return [errors, graph(tf), _run(tf, f)]


@cases("detach_inputs", "detach_outputs", "detach", "detach_control_inputs", "detach_control_outputs", "ios")
def detached(tf, np, how):
    ge = tf.contrib.graph_editor
    _a, _b, _c, _d, _e, _f = _diamond(tf)
    g = tf.get_default_graph()
    outputs = ge.ControlOutputs(g)
    view = ge.sgv("foo", graph=g)
    if how == "ios":
        made = ge.detach(view, control_ios=outputs)
    elif how == "detach_control_outputs":
        made = [ge.detach_control_outputs(view, outputs), raises(ge.detach_control_outputs, view, 3)]
    elif how == "detach_inputs":
        made = ge.detach_inputs(view, control_inputs=True)
    else:
        made = getattr(ge, how)(view)
    shown = [_shown(part) if isinstance(part, ge.SubGraphView) else part for part in made or ()]
    return [shown, _shown(view), sorted(names(tf)), graph(tf)]


@cases(True, False)
def connected(tf, np, first):
    ge = tf.contrib.graph_editor
    _a, _b, p, q, pp, qq = _apart(tf)
    g = tf.get_default_graph()
    source = ge.sgv(p.op)
    made = ge.connect(source, ge.sgv(q.op), disconnect_first=first)
    values = _run(tf, [q, qq] if first else [q, pp, qq])
    return [[_shown(view) for view in made], sorted(_listed(g.get_operations())), graph(tf), values]


def bypassed(tf, np):
    ge = tf.contrib.graph_editor
    a, b, p, _q, pp, qq = _apart(tf)
    view, made = ge.bypass(ge.sgv(p.op))
    bad = raises(ge.bypass, ge.sgv(tf.add(a, b).op))
    return [_shown(view), made, bad, _run(tf, [pp, qq]), graph(tf)]


@cases("", "copy", "foo")
def copied(tf, np, scope):
    ge = tf.contrib.graph_editor
    _a, _b, c, d, e, f = _diamond(tf)
    g = tf.get_default_graph()
    tf.add_to_collection("foo/mine", c)
    tf.add_to_collection(tf.GraphKeys.LOSSES, d)
    view, info = ge.copy(ge.sgv("foo", graph=g), dst_scope=scope, src_scope="foo")
    again = ge.copy(ge.sgv("foo/bar", graph=g), dst_scope=scope, reuse_dst_scope=True)[0]
    return [
        _shown(view),
        _shown(again),
        info.transformed(c).name,
        _listed(info.transformed([c.op, d.op])),
        info.transformed(f),
        info.transformed({"f": (f, d)}, lambda t: t.name)["f"][0],
        info.original(info.transformed(e)).name,
        info.original(f),
        str(info).split("\n")[2:],
        {str(k): [str(i.name) for i in g.get_collection(k)] for k in g.get_all_collection_keys()},
        raises(info.transformed, 3),
        raises(ge.copy, ge.sgv("foo", graph=g), dst_scope="z", src_scope="other"),
        raises(ge.copy, ge.sgv("foo", graph=g), 3),
        graph(tf),
    ]


def copied_to_another_graph(tf, np):
    ge = tf.contrib.graph_editor
    _a, _b, _c, d, _e, f = _diamond(tf)
    with tf.device("/cpu:0"):
        h = tf.nn.relu(f, name="h")
    there = tf.Graph()
    with tf.Graph().as_default():
        with tf.name_scope("outer"), tf.device("/gpu:0"):
            view, info = ge.copy([f.op, h.op, d.op], there, dst_scope="here")
    with there.as_default():
        shown = [_shown(view), graph(tf), sorted(info.transformed(h).device)]
        with tf.Session() as session:
            holes = [op.outputs[0] for op in there.get_operations() if op.type == "Placeholder"]
            feeds = {t: np.array([float(i), -2.0], "float32") for i, t in enumerate(holes)}
            return shown + [session.run(info.transformed(h), feeds)]


def copied_with_other_inputs(tf, np):
    ge = tf.contrib.graph_editor
    a, _b, c, d, _e, _f = _diamond(tf)
    x = tf.constant([100.0, 7.0], name="x")
    view, info = ge.copy_with_input_replacements([c.op, d.op], {a: x}, dst_scope="new")
    there = tf.Graph()
    with there.as_default():
        y = tf.constant([2.0, 3.0], name="y")
    other, _ = ge.copy_with_input_replacements([c.op, d.op], {a: y}, there)
    values = _run(tf, [info.transformed(d), d])
    with there.as_default():
        return [_shown(view), _shown(other), values, graph(tf)]


def with_a_handler(tf, np):
    ge = tf.contrib.graph_editor
    _a, _b, c, d, e, _f = _diamond(tf)

    def doubled(info, op, new_inputs):
        if op.type == "Mul":
            made = tf.add(new_inputs[0], new_inputs[1], name="instead")
            return made.op, [made]

        def renamed(node):
            node.attr["_mark"].i = 3
            return node

        return ge.copy_op_handler(info, op, new_inputs, copy_shape=True, nodedef_fn=renamed)

    transformer = ge.Transformer()
    transformer.transform_op_handler = doubled
    transformer.transform_external_input_handler = lambda info, t: t
    view, info = transformer(ge.sgv("foo", graph=tf.get_default_graph()), tf.get_default_graph(), "bis")
    again = ge.Transformer()
    again.transform_op_handler = lambda info, op, inputs: (op, op.outputs)
    same = raises(again, ge.sgv(c.op), tf.get_default_graph(), "x")
    values = _run(tf, [info.transformed(d), info.transformed(e)])
    return [_shown(view), values, info.transformed(e).op.get_attr("_mark"), same, graph(tf)]


_Pair = namedtuple("Pair", "first second")


def replaced(tf, np):
    ge = tf.contrib.graph_editor
    a, b, c, d, e, f = _diamond(tf)
    x = tf.constant([100.0, 7.0], name="x")
    made = ge.graph_replace(f, {c: x})
    pair = ge.graph_replace(_Pair(d, e), {b: x}, dst_scope="more")
    table = ge.graph_replace(OrderedDict([("f", [f]), ("a", (a, e))]), {c: a}, dst_scope="table")
    nothing = raises(ge.graph_replace, e, {d: x})
    return [
        made,
        [type(pair).__name__, pair.first, pair.second],
        list(table),
        table["a"][0] is a,
        nothing,
        _run(tf, [made, list(pair), list(table.values())]),
        graph(tf),
    ]


def replaced_in_a_loop(tf, np):
    ge = tf.contrib.graph_editor
    x = tf.constant([1.0, 2.0], name="x")
    _, total = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * x + 1.0), [0, x], name="loop")
    y = tf.reduce_sum(total, name="y")
    made = ge.graph_replace(y, {x: tf.constant([3.0, -1.0], name="z")}, dst_scope="copy")
    return [made.name, _run(tf, y), _run(tf, made), sorted(names(tf))]


def loop_copied_whole(tf, np):
    ge = tf.contrib.graph_editor
    _, total = tf.while_loop(
        lambda i, s: tf.reduce_sum(s) < 100.0, lambda i, s: (i + 1, s * 3.0), [0, tf.constant([1.0, 2.0])]
    )
    picked = tf.cond(total[0] > 5.0, lambda: total + 1.0, lambda: total - 1.0)
    there = tf.Graph()
    _, info = ge.copy(tf.get_default_graph(), there, "copy")
    value = _run(tf, picked)
    with there.as_default():
        return [value, _run(tf, info.transformed(picked))]


def with_variables(tf, np):
    ge = tf.contrib.graph_editor
    w = tf.get_variable("w", initializer=np.array([1.0, 2.0], "float32"))
    r = tf.get_variable("r", initializer=np.array([3.0, 4.0], "float32"), use_resource=True)
    x = tf.placeholder_with_default([1.0, 1.0], [2], name="x")
    y = tf.reduce_sum(w * x + r * x * x, name="y")
    z = ge.graph_replace(y, {x: tf.constant([2.0, 3.0])})
    slopes = tf.gradients(z, [w, r])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([y, z, slopes]), sorted(names(tf))]
