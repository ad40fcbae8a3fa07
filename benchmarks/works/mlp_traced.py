"""The training step of `mlp` with FULL_TRACE: what each op took, into a RunMetadata message."""

from benchmarks.works import Step, mlp

title = "MLP 784-100-10, Adam step, fully traced"
steps = 300
baseline = "the step untraced"
reach = {"tensorflow": 1.0, "baseline": 1.3}


def tf1(tf):
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)

    class TracedSession(tf.Session):
        """A session whose every step with feeds is traced."""

        def run(self, fetches, feed_dict=None, **_):
            if not feed_dict:
                return super().run(fetches)
            traced = tf.RunMetadata()
            result = super().run(fetches, feed_dict, options=options, run_metadata=traced)
            assert traced.step_stats.dev_stats
            return result

    return Step(mlp.tf1(tf, TracedSession), baseline=mlp.tf1(tf))
