/* Programs that were written for TensorFlow include its header by this name. */
#include "tideflow/c_api_experimental.h"
