#include "tideflow/kernels/text.h"
