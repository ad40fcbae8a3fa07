"""Habits of tests of sessions: blocks, names that are bytes, known shapes, wishes of a configuration."""

from kit import cases, raises


def blocks_are_not_entered_twice(tf, np):
    session = tf.Session()

    def twice():
        with session, session:
            pass

    return raises(twice)


def names_are_bytes(tf, np):
    e = tf.constant(42.0, name=b"e")
    with tf.Session() as session:
        return e.name, session.run(b"e:0"), session.run("e:0")


@cases({"without": 2, "with": 3})
def known_shape_of_a_sparse_feed(tf, np, parts):
    sparse = tf.sparse_placeholder(tf.float32, shape=[7, 9])
    value = (np.array([[3, 2]]), [1.0], np.array([7, 9]))[:parts]
    with tf.Session() as session:
        return session.run(sparse, {sparse: value})


@cases(False, True)
def shapes_in_the_graph(tf, np, infer_shapes):
    tf.constant([[1, 2]])
    options = tf.GraphOptions(infer_shapes=infer_shapes)
    with tf.Session(config=tf.ConfigProto(graph_options=options)) as session:
        return "_output_shapes" in session.graph_def.node[0].attr


def costs_of_every_third_step(tf, np):
    x = tf.placeholder(tf.float32, [])
    y = x * x + 1.0
    options = tf.GraphOptions(build_cost_model=3, build_cost_model_after=1)
    found = []
    with tf.Session(config=tf.ConfigProto(graph_options=options)) as session:
        for _ in range(8):
            metadata = tf.RunMetadata()
            session.run(y, {x: 1.0}, tf.RunOptions(), metadata)
            found.append(metadata.HasField("cost_graph"))
    return found


def limit_of_a_server(tf, np):
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    server = tf.train.Server.create_local_server(config=config)
    value = tf.FIFOQueue(1, tf.float32).dequeue()
    with tf.Session(server.target) as session:
        return raises(session.run, value).types[0]
