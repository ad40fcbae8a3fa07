"""Writes GraphDefs with the values they give, or reads those of another engine and runs them.

python exchange.py tensorflow|compat.v1|tideflow write WRITTEN
python exchange.py tensorflow|compat.v1|tideflow read WRITTEN RESULTS
"""

import pickle
import sys

import engine
import function_models
import kit
import models


def programs():
    """Every model by name."""
    return dict(kit.programs(models), **kit.programs(function_models))


def main(name, action, *paths):
    """Writes or reads every model; what went wrong with one is its result."""
    import numpy as np

    tf = engine.load_engine(name)
    if action == "write":
        made = {
            k: engine.attempt(lambda: written(tf, np, build))
            for k, build in programs().items()
            if name != "tideflow" or not hasattr(build, "only_tensorflow")
        }
    else:
        with open(paths[0], "rb") as stream:
            given = pickle.load(stream)
        made = {k: engine.attempt(lambda: read(tf, np, m)) for k, m in given.items() if "graph" in m}
    with open(paths[-1], "wb") as stream:
        pickle.dump(made, stream, protocol=4)


def written(tf, np, build):
    """The model's GraphDef, how to use it, and what came of that."""
    tf.reset_default_graph()
    steps = build(tf, np)
    definition = tf.get_default_graph().as_graph_def()
    return {
        "graph": definition.SerializeToString(),
        "steps": [
            (fetches, {k: engine.encode_array(np, np.asarray(v)) for k, v in feeds.items()})
            for fetches, feeds in steps
        ],
        "result": used(tf, np, definition, steps),
    }


def read(tf, np, model):
    """What a model written elsewhere gives here, imported as it is and under a prefix."""
    definition = tf.GraphDef()
    definition.ParseFromString(model["graph"])
    steps = [
        (fetches, {k: np.frombuffer(v["data"], v["dtype"]).reshape(v["shape"]) for k, v in feeds.items()})
        for fetches, feeds in model["steps"]
    ]
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="")
    result = used(tf, np, tf.get_default_graph().as_graph_def(), steps)
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="p")
    prefixed = [
        (["p/" + f for f in fetches], {"p/" + k: v for k, v in feeds.items()}) for fetches, feeds in steps
    ]
    found = {"result": result, "prefixed": used(tf, np, None, prefixed)["values"]}
    if tf.__name__ == "tideflow":
        tokens = tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type="TOKENS"))
        found["by tokens"] = used(tf, np, None, prefixed, tokens)["values"]
    return found


def used(tf, np, definition, steps, config=None):
    """The values of each step in one session over the default graph, and the graph's nodes."""
    with tf.Session(config=config) as session:
        values = [session.run(fetches, feeds) for fetches, feeds in steps]
    nodes = None if definition is None else engine.encode_graph(tf, np, kit.GraphNodes(definition))
    return {"values": engine.encode(tf, np, kit.Close(values, 1e-4, 1e-5)), "nodes": nodes}


if __name__ == "__main__":
    main(*sys.argv[1:])
