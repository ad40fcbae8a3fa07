#include "tideflow/kernels/shape_inference.h"
