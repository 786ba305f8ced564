#include "lab/measurements/measurements.hpp"

namespace equinorm::lab {

const std::vector<Measurement>& measurements() {
  static const std::vector<Measurement> all = {
      {"dependence", 1, "what an output depends on: other samples, padding, later tokens, the mode",
       prepare_dependence},
  };
  return all;
}

}  // namespace equinorm::lab
