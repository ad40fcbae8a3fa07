"""Examples of tf.keras.applications, tf.keras.datasets and tf.keras.preprocessing.image."""

import os

import numpy as np

import tideflow as tf

# %% tf.keras.applications.DenseNet121, tf.keras.applications.DenseNet169
# %% tf.keras.applications.DenseNet201, tf.keras.applications.InceptionV3
# %% tf.keras.applications.InceptionResNetV2, tf.keras.applications.MobileNet
# %% tf.keras.applications.MobileNetV2, tf.keras.applications.NASNetMobile
# %% tf.keras.applications.NASNetLarge, tf.keras.applications.ResNet50
# %% tf.keras.applications.ResNet101, tf.keras.applications.ResNet152
# %% tf.keras.applications.ResNet50V2, tf.keras.applications.ResNet101V2
# %% tf.keras.applications.ResNet152V2, tf.keras.applications.VGG16
# %% tf.keras.applications.VGG19, tf.keras.applications.Xception
model = tf.keras.applications.MobileNet(weights=None, alpha=0.25, input_shape=(32, 32, 3), classes=5)
print(model.name, model.count_params())
model = tf.keras.applications.VGG16(weights=None, include_top=False, pooling="avg")
print(model.name, model.output_shape)

# %% tf.keras.applications.densenet.decode_predictions
try:
    tf.keras.applications.vgg16.decode_predictions(np.eye(1, 1000))
except OSError:  # nothing is downloaded
    print("put imagenet_class_index.json into ~/.keras/models")

# %% tf.keras.applications.densenet.preprocess_input
print(tf.keras.applications.densenet.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.imagenet_utils.preprocess_input
print(tf.keras.applications.imagenet_utils.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.inception_resnet_v2.preprocess_input
print(tf.keras.applications.inception_resnet_v2.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.inception_v3.preprocess_input
print(tf.keras.applications.inception_v3.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.mobilenet.preprocess_input
print(tf.keras.applications.mobilenet.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.mobilenet_v2.preprocess_input
print(tf.keras.applications.mobilenet_v2.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.nasnet.preprocess_input
print(tf.keras.applications.nasnet.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.resnet.preprocess_input
print(tf.keras.applications.resnet.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.resnet50.preprocess_input
print(tf.keras.applications.resnet50.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.resnet_v2.preprocess_input
print(tf.keras.applications.resnet_v2.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.vgg16.preprocess_input
print(tf.keras.applications.vgg16.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.vgg19.preprocess_input
print(tf.keras.applications.vgg19.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.applications.xception.preprocess_input
print(tf.keras.applications.xception.preprocess_input(np.full((1, 1, 1, 3), 255.0)))

# %% tf.keras.datasets.mnist.load_data
path = os.path.abspath("mnist.npz")
images = np.zeros((2, 28, 28), np.uint8)
np.savez(path, x_train=images, y_train=[1, 2], x_test=images[:1], y_test=[3])
(x, y), (x_test, y_test) = tf.keras.datasets.mnist.load_data(path)
print(x.shape, y, x_test.shape)

# %% tf.keras.datasets.boston_housing.load_data
path = os.path.abspath("houses.npz")
np.savez(path, x=np.arange(10.0).reshape(5, 2), y=np.arange(5.0))
(x, y), _ = tf.keras.datasets.boston_housing.load_data(path)
print(x.shape, y)

# %% tf.keras.datasets.fashion_mnist.load_data, tf.keras.datasets.cifar10.load_data
for dataset in (tf.keras.datasets.fashion_mnist, tf.keras.datasets.cifar10):
    try:
        print(dataset.load_data()[0][0].shape)
    except OSError as error:  # nothing is downloaded
        print(str(error).split(":")[0].split("/")[-1])

# %% tf.keras.datasets.cifar100.load_data
try:
    tf.keras.datasets.cifar100.load_data("finest")
except ValueError as error:
    print(error)

# %% tf.keras.datasets.imdb.load_data, tf.keras.datasets.reuters.load_data
texts = np.empty(2, dtype=object)
texts[:] = [[1, 2, 3], [4]]
path = os.path.abspath("texts.npz")
np.savez(path, x=texts, y=[0, 1], x_train=texts, y_train=[0, 1], x_test=texts, y_test=[0, 1])
print(tf.keras.datasets.imdb.load_data(path)[0])
print(tf.keras.datasets.reuters.load_data(path, num_words=6)[0])

# %% tf.keras.datasets.imdb.get_word_index, tf.keras.datasets.reuters.get_word_index
path = os.path.abspath("words.json")
with open(path, "w") as file:
    file.write('{"tide": 1}')
print(tf.keras.datasets.imdb.get_word_index(path), tf.keras.datasets.reuters.get_word_index(path))

# %% tf.keras.preprocessing.image.ImageDataGenerator, tf.keras.preprocessing.image.NumpyArrayIterator
generator = tf.keras.preprocessing.image.ImageDataGenerator(horizontal_flip=True, rescale=1 / 255)
for x, y in generator.flow(np.ones((4, 8, 8, 3)), [0, 1, 2, 3], batch_size=3, seed=1):
    print(x.shape, y)
    break

# %% tf.keras.preprocessing.image.DirectoryIterator, tf.keras.preprocessing.image.Iterator
image = tf.keras.preprocessing.image
folder = os.path.abspath("pictures")
os.makedirs(os.path.join(folder, "cats"))
image.save_img(os.path.join(folder, "cats", "tom.png"), np.ones((4, 4, 3)))
batches = image.DirectoryIterator(folder, image.ImageDataGenerator(), target_size=(4, 4))
print(isinstance(batches, image.Iterator), next(batches)[0].shape)

# %% tf.keras.preprocessing.image.load_img, tf.keras.preprocessing.image.save_img
image = tf.keras.preprocessing.image
path = os.path.abspath("x.png")
image.save_img(path, np.arange(12.0).reshape(2, 2, 3))
print(image.load_img(path, target_size=(4, 4)).size)

# %% tf.keras.preprocessing.image.array_to_img, tf.keras.preprocessing.image.img_to_array
image = tf.keras.preprocessing.image
print(image.img_to_array(image.array_to_img(np.arange(4.0).reshape(2, 2, 1)))[..., 0])

# %% tf.keras.preprocessing.image.apply_affine_transform
print(tf.keras.preprocessing.image.apply_affine_transform(np.eye(3)[..., None], tx=1)[..., 0])

# %% tf.keras.preprocessing.image.random_rotation, tf.keras.preprocessing.image.random_shift
image = tf.keras.preprocessing.image
x = np.eye(4)[..., None]
print(image.random_rotation(x, 20, 0, 1, 2).shape, image.random_shift(x, 0.2, 0.2, 0, 1, 2).shape)

# %% tf.keras.preprocessing.image.random_shear, tf.keras.preprocessing.image.random_zoom
image = tf.keras.preprocessing.image
x = np.eye(4)[..., None]
print(image.random_shear(x, 20, 0, 1, 2).shape, image.random_zoom(x, (0.5, 1.5), 0, 1, 2).shape)

# %% tf.keras.preprocessing.image.apply_channel_shift, tf.keras.preprocessing.image.random_channel_shift
image = tf.keras.preprocessing.image
x = np.arange(4.0).reshape(2, 2, 1)
print(image.apply_channel_shift(x, 1.0, 2)[..., 0], image.random_channel_shift(x, 1.0, 2).shape)

# %% tf.keras.preprocessing.image.apply_brightness_shift, tf.keras.preprocessing.image.random_brightness
image = tf.keras.preprocessing.image
x = np.arange(12.0).reshape(2, 2, 3)
print(image.apply_brightness_shift(x, 0.5)[0, 1], image.random_brightness(x, (0.5, 1.0)).shape)
