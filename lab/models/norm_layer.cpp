// One class per norm and the table that makes them.
#include "lab/models/norm_layer.hpp"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "equinorm/torch/functional.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr double kRunningAverageWeight = 0.1;

at::Tensor make_gamma(const NormPlace& place, ParameterStore& parameters) {
  const auto kind = place.layer < 0 ? ParameterKind::final_norm : ParameterKind::gamma;
  return parameters.constant({place.prefix + ".gamma", kind, place.layer}, {place.width}, 1);
}

at::Tensor make_beta(const NormPlace& place, ParameterStore& parameters) {
  const auto kind = place.layer < 0 ? ParameterKind::final_norm : ParameterKind::beta;
  return parameters.constant({place.prefix + ".beta", kind, place.layer}, {place.width}, 0);
}

class LayerNormLayer final : public NormLayer {
 public:
  LayerNormLayer(const NormPlace& place, ParameterStore& parameters)
      : gamma_(make_gamma(place, parameters)), beta_(make_beta(place, parameters)) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::layer_norm(x, gamma_.sizes(), gamma_, beta_, kNormEps);
  }

 private:
  at::Tensor gamma_;
  at::Tensor beta_;
};

class RmsNormLayer final : public NormLayer {
 public:
  RmsNormLayer(const NormPlace& place, ParameterStore& parameters)
      : gamma_(make_gamma(place, parameters)) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::rms_norm(x, gamma_.sizes(), gamma_, kNormEps);
  }

 private:
  at::Tensor gamma_;
};

class BatchNormLayer final : public NormLayer {
 public:
  BatchNormLayer(const NormPlace& place, ParameterStore& parameters)
      : gamma_(make_gamma(place, parameters)),
        beta_(make_beta(place, parameters)),
        running_mean_(at::zeros({place.width}, parameters.dtype())),
        running_variance_(at::ones({place.width}, parameters.dtype())) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& context) override {
    if (!context.training || !context.real_rows.defined()) return normalize(x, context.training);
    const at::Tensor real = x.index_select(0, context.real_rows);
    return at::zeros_like(x).index_copy(0, context.real_rows, normalize(real, true));
  }

 private:
  at::Tensor normalize(const at::Tensor& x, bool training) {
    return at::batch_norm(x, gamma_, beta_, running_mean_, running_variance_, training,
                          kRunningAverageWeight, kNormEps, false);
  }

  at::Tensor gamma_;
  at::Tensor beta_;
  at::Tensor running_mean_;
  at::Tensor running_variance_;
};

template <class Layer>
std::unique_ptr<NormLayer> make(const NormPlace& place, ParameterStore& parameters) {
  return std::make_unique<Layer>(place, parameters);
}

std::unique_ptr<NormLayer> make_none(const NormPlace& /*place*/, ParameterStore& /*parameters*/) {
  return nullptr;
}

struct NormEntry {
  const char* name;
  std::unique_ptr<NormLayer> (*make)(const NormPlace&, ParameterStore&);
};

constexpr NormEntry kNorms[] = {{"none", make_none},
                                {"batch", make<BatchNormLayer>},
                                {"layer", make<LayerNormLayer>},
                                {"rms", make<RmsNormLayer>}};

}  // namespace

const std::vector<std::string>& norm_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NormEntry& entry : kNorms) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

std::unique_ptr<NormLayer> make_norm(const std::string& name, const NormPlace& place,
                                     ParameterStore& parameters) {
  for (const NormEntry& entry : kNorms) {
    if (name == entry.name) return entry.make(place, parameters);
  }
  throw UsageError("norm = '" + name + "': must be none, batch, layer or rms");
}

}  // namespace equinorm::lab
