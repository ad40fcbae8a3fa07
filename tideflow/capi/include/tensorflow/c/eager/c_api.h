/* Programs that were written for TensorFlow include its header by this name. */
#include "tideflow/eager_c_api.h"
