// The version of TensorFlow whose interface this is.
#ifndef TIDEFLOW_VERSION_H_
#define TIDEFLOW_VERSION_H_
#define TF_MAJOR_VERSION 1
#define TF_MINOR_VERSION 15
#define TF_PATCH_VERSION 5
#define TF_VERSION_SUFFIX ""
#define TF_VERSION_STRING "1.15.5"
#endif  // TIDEFLOW_VERSION_H_
