"""Examples of tf.contrib.slim: its data sets, its summaries and its networks."""

import tideflow as tf


# %% tf.contrib.slim.data_decoder.DataDecoder
class Numbers(tf.contrib.slim.data_decoder.DataDecoder):
    """Decodes lines that are numbers."""

    def decode(self, data, items):
        made = {"number": tf.string_to_number(data), "length": tf.strings.length(data)}
        return [made[item] for item in items]

    def list_items(self):
        return ["number", "length"]


Numbers().decode(tf.constant("3.25"), ["number", "length"])

# %% tf.contrib.slim.data_provider.DataProvider
provider = tf.contrib.slim.data_provider.DataProvider(
    {"image": tf.zeros([28, 28, 1]), "label": tf.constant(7)}, num_samples=1
)
image, label = provider.get(["image", "label"])
print(list(provider.list_items()), image.shape, provider.num_samples())

# %% tf.contrib.slim.dataset.Dataset, tf.contrib.slim.dataset_data_provider.DatasetDataProvider,
# %% tf.contrib.slim.tfexample_decoder.TFExampleDecoder, tf.contrib.slim.tfexample_decoder.Tensor
with tf.python_io.TFRecordWriter("numbers.tfrecord") as writer:
    for number in (1, 2, 3):
        feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
        features = tf.train.Features(feature={"number": feature})
        writer.write(tf.train.Example(features=features).SerializeToString())

slim = tf.contrib.slim
decoder = slim.tfexample_decoder.TFExampleDecoder(
    keys_to_features={"number": tf.FixedLenFeature([], tf.int64)},
    items_to_handlers={"number": slim.tfexample_decoder.Tensor("number")},
)
dataset = slim.dataset.Dataset("*.tfrecord", tf.TFRecordReader, decoder, 3, {"number": "A small number."})
provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False)
(number,) = provider.get(["number"])
with tf.Session() as sess, slim.queues.QueueRunners(sess):
    print([sess.run(number) for _ in range(4)])


# %% tf.contrib.slim.tfexample_decoder.ItemHandler
class Doubled(tf.contrib.slim.tfexample_decoder.ItemHandler):
    """A feature, twice as large."""

    def tensors_to_item(self, keys_to_tensors):
        return 2.0 * keys_to_tensors[self.keys[0]]


handler = Doubled("size")
print(handler.keys)
handler.tensors_to_item({"size": tf.constant([1.0, 2.0])})

# %% tf.contrib.slim.tfexample_decoder.ItemHandlerCallback
area = tf.contrib.slim.tfexample_decoder.ItemHandlerCallback(
    ["height", "width"], lambda features: features["height"] * features["width"]
)
area.tensors_to_item({"height": tf.constant(3), "width": tf.constant(4)})

# %% tf.contrib.slim.tfexample_decoder.BoundingBox
boxes = tf.contrib.slim.tfexample_decoder.BoundingBox(prefix="box/")
sides = {
    "box/ymin": tf.constant([0.0, 0.5]),
    "box/xmin": tf.constant([0.1, 0.6]),
    "box/ymax": tf.constant([0.2, 0.7]),
    "box/xmax": tf.constant([0.3, 0.8]),
}
boxes.tensors_to_item(sides)

# %% tf.contrib.slim.tfexample_decoder.LookupTensor
table = tf.contrib.lookup.index_table_from_tensor(["cat", "dog"])
labels = tf.contrib.slim.tfexample_decoder.LookupTensor("animal", table)
labels.tensors_to_item({"animal": tf.constant(["dog", "dog", "cat"])})

# %% tf.contrib.slim.tfexample_decoder.BackupHandler
Tensor = tf.contrib.slim.tfexample_decoder.Tensor
names = tf.contrib.slim.tfexample_decoder.BackupHandler(Tensor("nickname"), backup=Tensor("name"))
names.tensors_to_item({"nickname": tf.constant([], tf.string), "name": tf.constant(["Katharina"])})

# %% tf.contrib.slim.tfexample_decoder.SparseTensor
example = tf.train.Example(
    features=tf.train.Features(
        feature={
            "indices": tf.train.Feature(int64_list=tf.train.Int64List(value=[0, 3])),
            "values": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 0.25])),
        }
    )
)
decoder = tf.contrib.slim.tfexample_decoder.TFExampleDecoder(
    {"indices": tf.VarLenFeature(tf.int64), "values": tf.VarLenFeature(tf.float32)},
    {"weights": tf.contrib.slim.tfexample_decoder.SparseTensor(shape=[5], densify=True)},
)
decoder.decode(tf.constant(example.SerializeToString()), ["weights"])

# %% tf.contrib.slim.tfexample_decoder.Image
picture = tf.zeros([4, 6, 3], tf.uint8)
features = {"image/encoded": tf.image.encode_png(picture), "image/format": tf.constant("png")}
tf.shape(tf.contrib.slim.tfexample_decoder.Image().tensors_to_item(features))

# %% tf.contrib.slim.parallel_reader.get_data_files
for part in range(2):
    open(f"part-{part}", "w").close()
open("more", "w").close()
print(sorted(tf.contrib.slim.parallel_reader.get_data_files(["part-*", "more"])))

# %% tf.contrib.slim.parallel_reader.ParallelReader
for part in range(2):
    with open(f"part-{part}", "w") as file:
        file.write(f"first of {part}\nsecond of {part}\n")

files = tf.train.string_input_producer(["part-0", "part-1"], num_epochs=1)
lines = tf.FIFOQueue(16, [tf.string, tf.string])
reader = tf.contrib.slim.parallel_reader.ParallelReader(tf.TextLineReader, lines, num_readers=2)
_, line = reader.read(files)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    with tf.contrib.slim.queues.QueueRunners(sess):
        print(sorted(sess.run(line) for _ in range(4)))

# %% tf.contrib.slim.parallel_reader.parallel_read
for part in range(2):
    with open(f"part-{part}", "w") as file:
        file.write(f"first of {part}\nsecond of {part}\n")

_, line = tf.contrib.slim.parallel_reader.parallel_read(
    "part-*", tf.TextLineReader, num_epochs=1, num_readers=2, shuffle=False
)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    with tf.contrib.slim.queues.QueueRunners(sess):
        print(sorted(sess.run(line) for _ in range(4)))

# %% tf.contrib.slim.parallel_reader.single_pass_read
with open("poem", "w") as file:
    file.write("The tide rises,\nthe tide falls.\n")

_, line = tf.contrib.slim.parallel_reader.single_pass_read("poem", tf.TextLineReader)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    with tf.contrib.slim.queues.QueueRunners(sess):
        print([sess.run(line) for _ in range(2)])

# %% tf.contrib.slim.prefetch_queue.prefetch_queue, tf.contrib.slim.queues.QueueRunners
batch = {"images": tf.zeros([8, 28, 28, 1]), "labels": tf.range(8)}
queue = tf.contrib.slim.prefetch_queue.prefetch_queue(batch, capacity=4)
ahead = queue.dequeue()
with tf.Session() as sess, tf.contrib.slim.queues.QueueRunners(sess):
    print(sess.run(ahead["labels"]))

# %% tf.contrib.slim.queues.NestedQueueRunnerError
queues = tf.contrib.slim.queues
with tf.Session() as sess, queues.QueueRunners(sess):
    try:
        with queues.QueueRunners(sess):
            print("never here")
    except queues.NestedQueueRunnerError as error:
        print(error)

# %% tf.contrib.slim.summaries.add_histogram_summary, tf.contrib.slim.summaries.add_image_summary,
# %% tf.contrib.slim.summaries.add_scalar_summary, tf.contrib.slim.summaries.add_zero_fraction_summary
summaries = tf.contrib.slim.summaries
images = tf.random_uniform([2, 8, 8, 3], name="images")
hidden = tf.nn.relu(tf.random_normal([100]), name="hidden")
summaries.add_image_summary(images, prefix="inputs")
summaries.add_histogram_summary(hidden)
summaries.add_zero_fraction_summary(hidden)
summaries.add_scalar_summary(tf.reduce_mean(hidden), "mean", prefix="hidden")
with tf.Session() as sess:
    written = tf.Summary.FromString(sess.run(tf.summary.merge_all()))
print([value.tag for value in written.value])

# %% tf.contrib.slim.summaries.add_histogram_summaries, tf.contrib.slim.summaries.add_image_summaries,
# %% tf.contrib.slim.summaries.add_scalar_summaries,
# %% tf.contrib.slim.summaries.add_zero_fraction_summaries
summaries = tf.contrib.slim.summaries
images = tf.random_uniform([2, 8, 8, 3], name="images")
layers = [tf.nn.relu(tf.random_normal([10]), name=name) for name in ("first", "second")]
losses = [tf.constant(0.5, name="loss"), tf.constant(0.1, name="penalty")]
summaries.add_image_summaries([images])
summaries.add_histogram_summaries(layers, prefix="layers")
summaries.add_zero_fraction_summaries(layers)
summaries.add_scalar_summaries(losses, prefix="losses")
for summary in tf.get_collection(tf.GraphKeys.SUMMARIES):
    print(summary.op.name)

# %% tf.contrib.slim.summarize_variables, tf.contrib.slim.summarize_weights,
# %% tf.contrib.slim.summarize_biases
slim = tf.contrib.slim
hidden = slim.fully_connected(
    tf.ones([1, 4]),
    3,
    variables_collections={"weights": [tf.GraphKeys.WEIGHTS], "biases": [tf.GraphKeys.BIASES]},
    scope="hidden",
)
print([made.op.name for made in slim.summarize_weights()])
print([made.op.name for made in slim.summarize_biases()])
print([made.op.name for made in slim.summarize_variables("hidden")])

# %% tf.contrib.slim.nets.alexnet.alexnet_v2, tf.contrib.slim.nets.alexnet.alexnet_v2_arg_scope
alexnet = tf.contrib.slim.nets.alexnet
images = tf.placeholder(tf.float32, [2, 224, 224, 3])
with tf.contrib.slim.arg_scope(alexnet.alexnet_v2_arg_scope(weight_decay=0.0005)):
    logits, layers = alexnet.alexnet_v2(images, num_classes=10)
print(logits.shape)
print(layers["alexnet_v2/pool5"].shape)

# %% tf.contrib.slim.nets.overfeat.overfeat, tf.contrib.slim.nets.overfeat.overfeat_arg_scope
overfeat = tf.contrib.slim.nets.overfeat
images = tf.placeholder(tf.float32, [2, 231, 231, 3])
with tf.contrib.slim.arg_scope(overfeat.overfeat_arg_scope()):
    logits, layers = overfeat.overfeat(images, num_classes=10, is_training=False)
print(logits.shape, len(layers))

# %% tf.contrib.slim.nets.vgg.vgg_a, tf.contrib.slim.nets.vgg.vgg_16, tf.contrib.slim.nets.vgg.vgg_19,
# %% tf.contrib.slim.nets.vgg.vgg_arg_scope
vgg = tf.contrib.slim.nets.vgg
images = tf.placeholder(tf.float32, [2, 224, 224, 3])
for model in (vgg.vgg_a, vgg.vgg_16, vgg.vgg_19):
    with tf.contrib.slim.arg_scope(vgg.vgg_arg_scope()):
        logits, layers = model(images, num_classes=10)
    print(logits.shape, len(layers))

# %% tf.contrib.slim.nets.inception.inception_v1, tf.contrib.slim.nets.inception.inception_v1_arg_scope
inception = tf.contrib.slim.nets.inception
images = tf.placeholder(tf.float32, [2, 224, 224, 3])
with tf.contrib.slim.arg_scope(inception.inception_v1_arg_scope()):
    logits, layers = inception.inception_v1(images, num_classes=10)
print(logits.shape, layers["Predictions"].shape)

# %% tf.contrib.slim.nets.inception.inception_v1_base
images = tf.placeholder(tf.float32, [2, 64, 64, 3])
net, layers = tf.contrib.slim.nets.inception.inception_v1_base(images, final_endpoint="Mixed_3c")
print(net.shape)
print(list(layers))

# %% tf.contrib.slim.nets.inception.inception_v2, tf.contrib.slim.nets.inception.inception_v2_arg_scope
inception = tf.contrib.slim.nets.inception
images = tf.placeholder(tf.float32, [2, 224, 224, 3])
with tf.contrib.slim.arg_scope(inception.inception_v2_arg_scope()):
    logits, layers = inception.inception_v2(images, num_classes=10, depth_multiplier=0.5)
print(logits.shape, layers["Mixed_5c"].shape)

# %% tf.contrib.slim.nets.inception.inception_v2_base
images = tf.placeholder(tf.float32, [2, 64, 64, 3])
net, layers = tf.contrib.slim.nets.inception.inception_v2_base(images, final_endpoint="Mixed_3b")
print(net.shape)
print(list(layers))

# %% tf.contrib.slim.nets.inception.inception_v3, tf.contrib.slim.nets.inception.inception_v3_arg_scope
inception = tf.contrib.slim.nets.inception
images = tf.placeholder(tf.float32, [2, 299, 299, 3])
with tf.contrib.slim.arg_scope(inception.inception_v3_arg_scope()):
    logits, layers = inception.inception_v3(images, num_classes=10, depth_multiplier=0.5)
print(logits.shape, layers["AuxLogits"].shape)

# %% tf.contrib.slim.nets.inception.inception_v3_base
images = tf.placeholder(tf.float32, [2, 75, 75, 3])
net, layers = tf.contrib.slim.nets.inception.inception_v3_base(images, final_endpoint="Mixed_5b")
print(net.shape)
print(list(layers))

# %% tf.contrib.slim.nets.resnet_utils.subsample
images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
tf.squeeze(tf.contrib.slim.nets.resnet_utils.subsample(images, factor=2))

# %% tf.contrib.slim.nets.resnet_utils.conv2d_same
images = tf.placeholder(tf.float32, [2, 32, 32, 3])
net = tf.contrib.slim.nets.resnet_utils.conv2d_same(images, 8, kernel_size=3, stride=2)
print(net.shape)

# %% tf.contrib.slim.nets.resnet_utils.Block, tf.contrib.slim.nets.resnet_utils.stack_blocks_dense,
# %% tf.contrib.slim.nets.resnet_v1.bottleneck
slim = tf.contrib.slim
resnet_utils = slim.nets.resnet_utils
units = [
    {"depth": 32, "depth_bottleneck": 8, "stride": 1},
    {"depth": 32, "depth_bottleneck": 8, "stride": 2},
]
blocks = [
    resnet_utils.Block("block1", slim.nets.resnet_v1.bottleneck, units),
    resnet_utils.Block("block2", slim.nets.resnet_v1.bottleneck, units),
]
images = tf.placeholder(tf.float32, [2, 16, 16, 3])
print(resnet_utils.stack_blocks_dense(images, blocks).shape)
with tf.variable_scope("dense"):  # the second block's stride becomes a dilation
    print(resnet_utils.stack_blocks_dense(images, blocks, output_stride=2).shape)

# %% tf.contrib.slim.nets.resnet_v2.bottleneck
images = tf.placeholder(tf.float32, [2, 16, 16, 3])
bottleneck = tf.contrib.slim.nets.resnet_v2.bottleneck
print(bottleneck(images, depth=32, depth_bottleneck=8, stride=2).shape)

# %% tf.contrib.slim.nets.resnet_v1.resnet_v1, tf.contrib.slim.nets.resnet_v1.resnet_v1_block,
# %% tf.contrib.slim.nets.resnet_utils.resnet_arg_scope
resnet_v1 = tf.contrib.slim.nets.resnet_v1
blocks = [
    resnet_v1.resnet_v1_block("block1", base_depth=8, num_units=2, stride=2),
    resnet_v1.resnet_v1_block("block2", base_depth=16, num_units=2, stride=1),
]
images = tf.placeholder(tf.float32, [2, 32, 32, 3])
with tf.contrib.slim.arg_scope(resnet_v1.resnet_arg_scope(weight_decay=0.0001)):
    net, layers = resnet_v1.resnet_v1(images, blocks, num_classes=10, scope="small")
print(net.shape)
print(layers["small/block1"].shape, layers["small/block2"].shape)

# %% tf.contrib.slim.nets.resnet_v2.resnet_v2, tf.contrib.slim.nets.resnet_v2.resnet_v2_block
resnet_v2 = tf.contrib.slim.nets.resnet_v2
blocks = [
    resnet_v2.resnet_v2_block("block1", base_depth=8, num_units=2, stride=2),
    resnet_v2.resnet_v2_block("block2", base_depth=16, num_units=2, stride=1),
]
images = tf.placeholder(tf.float32, [2, 32, 32, 3])
with tf.contrib.slim.arg_scope(resnet_v2.resnet_arg_scope()):
    net, layers = resnet_v2.resnet_v2(images, blocks, num_classes=10, scope="small")
print(net.shape)
print(layers["small/block1"].shape, layers["small/block2"].shape)

# %% tf.contrib.slim.nets.resnet_v1.resnet_v1_50, tf.contrib.slim.nets.resnet_v1.resnet_v1_101,
# %% tf.contrib.slim.nets.resnet_v1.resnet_v1_152, tf.contrib.slim.nets.resnet_v1.resnet_v1_200
resnet_v1 = tf.contrib.slim.nets.resnet_v1
images = tf.placeholder(tf.float32, [2, 64, 64, 3])
model = resnet_v1.resnet_v1_50  # or resnet_v1_101, resnet_v1_152, resnet_v1_200
with tf.contrib.slim.arg_scope(resnet_v1.resnet_arg_scope()):
    net, layers = model(images, num_classes=10)
print(net.shape, layers["resnet_v1_50/block4"].shape)

# %% tf.contrib.slim.nets.resnet_v2.resnet_v2_50, tf.contrib.slim.nets.resnet_v2.resnet_v2_101,
# %% tf.contrib.slim.nets.resnet_v2.resnet_v2_152, tf.contrib.slim.nets.resnet_v2.resnet_v2_200
resnet_v2 = tf.contrib.slim.nets.resnet_v2
images = tf.placeholder(tf.float32, [2, 64, 64, 3])
model = resnet_v2.resnet_v2_50  # or resnet_v2_101, resnet_v2_152, resnet_v2_200
with tf.contrib.slim.arg_scope(resnet_v2.resnet_arg_scope()):
    net, layers = model(images, num_classes=10)
print(net.shape, layers["resnet_v2_50/block4"].shape)
