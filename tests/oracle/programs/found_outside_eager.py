"""What eager programs written elsewhere do that nothing here did before."""

from kit import raises

EAGER = True


def critical_sections(tf, np):
    section, v = tf.CriticalSection(name="section"), tf.Variable(1.0)

    @tf.function
    def added():
        return section.execute(lambda: v.assign_add(1.0))

    return [
        section.execute(lambda: v.assign_add(2.0)).numpy(),
        raises(lambda: section.execute(lambda: 1 / 0)),
        [each.numpy() for each in section.execute(lambda: [v + 1.0, v * 2.0])],
        added().numpy(),
    ]
