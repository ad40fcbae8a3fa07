#include "tideflow/kernels/resources.h"
