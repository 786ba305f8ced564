// The norms that models can be built with, by name: norm_names(), whose table is in norm_layer.cpp,
// and every named form of equinorm/row_forms.hpp.
//
// A norm sees the flattened stream (samples x tokens, width). All are Equinorm's own operators. The
// one trap: norms over a batch (batch, PerStepBatchNorm, PowerNorm) let samples see each other in
// training, and all but PerStepBatchNorm tokens too. They count real tokens alone, in training take
// what the batch says, otherwise running averages.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "lab/models/forward_context.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

inline constexpr double kNormEps = 1e-5;

/// Where a norm's parameters belong.
struct NormPlace {
  std::string prefix;  ///< of their names
  int layer = -1;      ///< -1: outside the layers
  std::int64_t width = 0;
  double gain = 1;         ///< initial gain, times what is usual for the norm
  bool embedding = false;  ///< outside the layers: on the embedding; otherwise the final norm
};

class NormLayer {
 public:
  explicit NormLayer(const NormPlace& place) : layer_(place.layer) {}
  virtual ~NormLayer() = default;
  virtual at::Tensor forward(const at::Tensor& x, const ForwardContext& context) = 0;
  /// Tells the context's observer what forward is about to read.
  virtual void show(const at::Tensor& /*x*/, const ForwardContext& /*context*/) const {}

 protected:
  int layer_;
};

/// Null for "none". Throws UsageError for a name that is not in norm_names().
std::unique_ptr<NormLayer> make_norm(const std::string& name, const NormPlace& place,
                                     ParameterStore& parameters);

/// x itself without a norm.
at::Tensor normalize(const std::unique_ptr<NormLayer>& norm, const at::Tensor& x,
                     const ForwardContext& context);

}  // namespace equinorm::lab
