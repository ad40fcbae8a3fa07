"""Examples of images."""

import numpy as np

import tideflow as tf

# %% tf.image.adjust_brightness
tf.image.adjust_brightness(tf.constant([[[0.1, 0.2, 0.3]]]), delta=0.5)

# %% tf.image.adjust_contrast
tf.image.adjust_contrast(tf.constant([[[0.0]], [[1.0]]]), contrast_factor=0.5)

# %% tf.image.adjust_gamma
tf.image.adjust_gamma(tf.constant([[[0.25, 0.5, 1.0]]]), gamma=2.0)

# %% tf.image.adjust_hue
tf.image.adjust_hue(tf.constant([[[1.0, 0.0, 0.0]]]), delta=1 / 3)

# %% tf.image.adjust_saturation
tf.image.adjust_saturation(tf.constant([[[1.0, 0.5, 0.5]]]), saturation_factor=0.5)

# %% tf.image.adjust_jpeg_quality
picture = tf.constant(np.random.RandomState(0).randint(0, 256, [8, 8, 3]), tf.uint8)
tf.shape(tf.image.adjust_jpeg_quality(picture, 50))

# %% tf.image.central_crop
tf.shape(tf.image.central_crop(tf.zeros([8, 8, 3]), central_fraction=0.5))

# %% tf.image.convert_image_dtype
tf.image.convert_image_dtype(tf.constant([[[0, 128, 255]]], tf.uint8), tf.float32)

# %% tf.image.crop_and_resize
image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
tf.squeeze(tf.image.crop_and_resize(image, boxes=[[0.0, 0.0, 1.0, 1.0]], box_ind=[0], crop_size=[2, 2]))

# %% tf.image.crop_to_bounding_box
image = tf.reshape(tf.range(16), [4, 4, 1])
tf.squeeze(tf.image.crop_to_bounding_box(image, 1, 1, target_height=2, target_width=2))

# %% tf.image.pad_to_bounding_box
tf.squeeze(tf.image.pad_to_bounding_box(tf.ones([1, 2, 1]), 1, 0, target_height=3, target_width=3))

# %% tf.image.extract_image_patches, tf.image.extract_patches
image = tf.reshape(tf.range(16), [1, 4, 4, 1])
patches = tf.image.extract_patches(
    image, sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID"
)
tf.reshape(patches, [4, 4])

# %% tf.image.flip_left_right, tf.image.flip_up_down, tf.image.transpose, tf.image.rot90
image = tf.constant([[[1], [2]], [[3], [4]]])
changed = [
    tf.image.flip_left_right(image),
    tf.image.flip_up_down(image),
    tf.image.transpose(image),
    tf.image.rot90(image),
]
tuple(tf.squeeze(each) for each in changed)

# %% tf.image.grayscale_to_rgb, tf.image.rgb_to_grayscale
rgb = tf.image.grayscale_to_rgb(tf.constant([[[0.5]]]))
rgb, tf.image.rgb_to_grayscale(rgb)

# %% tf.image.image_gradients
down, right = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
tf.squeeze(down), tf.squeeze(right)

# %% tf.image.sobel_edges
tf.shape(tf.image.sobel_edges(tf.zeros([1, 4, 4, 3])))

# %% tf.image.total_variation
tf.image.total_variation(tf.constant([[[1.0], [3.0]], [[1.0], [1.0]]]))

# %% tf.image.per_image_standardization
tf.squeeze(tf.image.per_image_standardization(tf.constant([[[1.0], [2.0], [3.0]]])))

# %% tf.image.psnr
a, b = tf.zeros([4, 4, 1]), tf.fill([4, 4, 1], 0.1)
tf.image.psnr(a, b, max_val=1.0)

# %% tf.image.ssim
a = tf.constant(np.random.RandomState(0).rand(1, 16, 16, 1), tf.float32)
tf.image.ssim(a, a * 0.9, max_val=1.0)

# %% tf.image.ssim_multiscale
a = tf.constant(np.random.RandomState(0).rand(1, 192, 192, 1), tf.float32)
tf.image.ssim_multiscale(a, a * 0.9, max_val=1.0)

# %% tf.image.random_brightness, tf.image.random_contrast
image = tf.constant([[[0.2], [0.8]]])
tf.image.random_brightness(image, max_delta=0.1, seed=1), tf.image.random_contrast(image, 0.5, 1.5, seed=1)

# %% tf.image.random_hue, tf.image.random_saturation
image = tf.constant([[[1.0, 0.5, 0.5]]])
tf.image.random_hue(image, max_delta=0.2, seed=1), tf.image.random_saturation(image, 0.5, 1.5, seed=1)

# %% tf.image.random_flip_left_right, tf.image.random_flip_up_down
image = tf.constant([[[1], [2]], [[3], [4]]])
(
    tf.squeeze(tf.image.random_flip_left_right(image, seed=1)),
    tf.squeeze(tf.image.random_flip_up_down(image, seed=1)),
)

# %% tf.image.random_jpeg_quality
picture = tf.constant(np.random.RandomState(0).randint(0, 256, [8, 8, 3]), tf.uint8)
tf.shape(tf.image.random_jpeg_quality(picture, 30, 90, seed=1))

# %% tf.image.resize_images, tf.image.ResizeMethod
image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
larger = tf.image.resize_images(image, [4, 4], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
tf.squeeze(larger)

# %% tf.image.resize_image_with_crop_or_pad
tf.squeeze(tf.image.resize_image_with_crop_or_pad(tf.ones([2, 4, 1]), target_height=4, target_width=2))

# %% tf.image.resize_image_with_pad
tf.squeeze(tf.image.resize_image_with_pad(tf.ones([2, 4, 1]), target_height=4, target_width=4))

# %% tf.image.rgb_to_yiq, tf.image.yiq_to_rgb
rgb = tf.constant([[[1.0, 0.5, 0.0]]])
tf.image.rgb_to_yiq(rgb), tf.image.yiq_to_rgb(tf.image.rgb_to_yiq(rgb))

# %% tf.image.rgb_to_yuv, tf.image.yuv_to_rgb
rgb = tf.constant([[[1.0, 0.5, 0.0]]])
tf.image.rgb_to_yuv(rgb), tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(rgb))

# %% tf.io.decode_image
png = tf.image.encode_png(tf.constant([[[0], [255]]], tf.uint8))
tf.squeeze(tf.io.decode_image(png))

# %% tf.io.is_jpeg
tf.io.is_jpeg(tf.image.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))), tf.io.is_jpeg(tf.constant("text"))
