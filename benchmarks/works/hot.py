"""Sessions of Tideflow on kernels or compiled, for the works that measure both."""


def session(tf, compiled):
    """A session whose steps stay on kernels, or are compiled after some steps; a peer's is as it is."""
    config = tf.ConfigProto()
    if tf.__name__ == "tideflow":
        level = tf.OptimizerOptions.ON_1 if compiled else tf.OptimizerOptions.OFF
        config.graph_options.optimizer_options.global_jit_level = level
    return tf.Session(config=config)


def wait_for_compilation(tf, step, compiled):
    """Runs the step until its compiled form is the one that stays, in Tideflow where it is to be compiled."""
    if not compiled or tf.__name__ != "tideflow":
        return
    from tideflow.compile.hot import wait_until_compiled

    for _ in range(12):
        step()
    if not wait_until_compiled(300):
        raise TimeoutError("the step was not compiled in 300 s")
    for _ in range(30):  # some on kernels and compiled in turn, after which the quicker form stays
        step()
