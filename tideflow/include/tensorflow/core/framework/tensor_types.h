#include "tideflow/kernels/views.h"
