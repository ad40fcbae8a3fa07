# %% tf.keras.applications.VGG16, tf.keras.applications.vgg16.VGG16
model = tf.keras.applications.VGG16(weights=None, include_top=False, input_shape=(32, 32, 3))
print(model.name, model.count_params())
