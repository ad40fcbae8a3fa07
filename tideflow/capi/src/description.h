// An operation that is being described: what it was told of its inputs and attributes.

#ifndef TIDEFLOW_CAPI_DESCRIPTION_H_
#define TIDEFLOW_CAPI_DESCRIPTION_H_

#include "graph.h"

struct TF_OperationDescription {
  // A call that gave it inputs, or an attribute.
  struct Call {
    const char* method;  // of NodeBuilder
    std::vector<TF_Output> outputs;
    std::string name, value;  // of an attribute: an AttrValue
  };
  TF_Graph* graph;
  std::string type, name, device;
  std::vector<Call> calls;
  std::vector<const TF_Operation*> controls;
  std::vector<std::string> colocations;
};

namespace tideflow {

// Sets an attribute to a serialized AttrValue.
inline void set_attr(TF_OperationDescription* desc, const char* name, std::string value) {
  desc->calls.push_back({"attr", {}, name, std::move(value)});
}

}  // namespace tideflow

#endif  // TIDEFLOW_CAPI_DESCRIPTION_H_
