"""Examples of tf.autograph."""

import tideflow as tf

# %% tf.autograph.to_graph, tf.contrib.autograph.to_graph


def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 > 0:
            n = 3 * n + 1
        else:
            n = n // 2
        steps += 1
    return steps


tf.autograph.to_graph(collatz)(tf.constant(27))

# %% tf.autograph.to_code, tf.contrib.autograph.to_code


def absolute(x):
    return x if x > 0 else -x


print(tf.autograph.to_code(absolute))

# %% tf.autograph.trace


def halved(x):
    while x > 1:
        tf.autograph.trace("traced once:", x.dtype.name)
        x = x // 2
    return x


tf.autograph.to_graph(halved)(tf.constant(100))

# %% tf.autograph.set_verbosity
tf.autograph.set_verbosity(1)  # the log names what is converted
print(tf.autograph.to_graph(lambda x: x + 1)(2))
tf.autograph.set_verbosity(0)

# %% tf.autograph.experimental.do_not_convert, tf.contrib.autograph.do_not_convert


@tf.autograph.experimental.do_not_convert
def describe(x):
    return "a tensor" if tf.is_tensor(x) else "a number"


print(tf.autograph.to_graph(lambda x: describe(x))(tf.constant(1)))

# %% tf.autograph.experimental.set_loop_options, tf.contrib.autograph.set_loop_options


def first_squares(n):
    total = 0
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        total += i * i
    return total


tf.autograph.to_graph(first_squares)(tf.constant(4))

# %% tf.autograph.experimental.Feature, tf.contrib.autograph.Feature


def is_three(x):
    return 1 if x == 3 else 0


features = tf.autograph.experimental.Feature.EQUALITY_OPERATORS
tf.autograph.to_graph(is_three, experimental_optional_features=features)(tf.constant(3))

# %% tf.contrib.autograph.set_element_type, tf.contrib.autograph.stack


def squares(n):
    numbers = []
    tf.contrib.autograph.set_element_type(numbers, tf.int32)
    for i in tf.range(n):
        numbers.append(i * i)
    return tf.contrib.autograph.stack(numbers, tf.int32)


features = tf.autograph.experimental.Feature.LISTS
tf.autograph.to_graph(squares, experimental_optional_features=features)(tf.constant(4))

# %% tf.contrib.autograph.convert, tf.contrib.autograph.StackTraceMapper


@tf.contrib.autograph.convert(recursive=True)
def sign(x):
    if x > 0:
        return 1
    return -1


with tf.contrib.autograph.StackTraceMapper(sign):
    y = sign(tf.constant(-5))
y

# %% tf.contrib.autograph.converted_call, tf.contrib.autograph.ConversionOptions
options = tf.contrib.autograph.ConversionOptions(recursive=True)
tf.contrib.autograph.converted_call(abs, options, (tf.constant(-3),), {})

# %% tf.contrib.autograph.AutoGraphError

try:
    tf.autograph.to_graph(eval("lambda x: x"))
except tf.contrib.autograph.AutoGraphError as error:
    print("cannot be converted:", str(error).partition("ValueError: ")[2][:45])
