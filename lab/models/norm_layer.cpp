// One class per norm and the table that makes them.
#include "lab/models/norm_layer.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "equinorm/row_forms.hpp"
#include "equinorm/torch/functional.hpp"
#include "equinorm/torch/token_batch_norm.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr double kRunningAverageWeight = 0.1;

ParameterKind kind_at(const NormPlace& place, ParameterKind within_layers) {
  return place.layer < 0 && !place.embedding ? ParameterKind::final_norm : within_layers;
}

at::Tensor make_gamma(const NormPlace& place, ParameterStore& parameters, std::int64_t size,
                      double value) {
  const ParameterKind kind = kind_at(place, ParameterKind::gamma);
  return parameters.constant({place.prefix + ".gamma", kind, place.layer}, {size}, value);
}

at::Tensor make_beta(const NormPlace& place, ParameterStore& parameters) {
  const ParameterKind kind = kind_at(place, ParameterKind::beta);
  return parameters.constant({place.prefix + ".beta", kind, place.layer}, {place.width}, 0);
}

// Every norm of rows: a form, and the parameters that it has.
class RowNormLayer final : public NormLayer {
 public:
  RowNormLayer(const NamedForm& form, const NormPlace& place, ParameterStore& parameters)
      : form_(form.form) {
    if (has_gamma(form_)) {
      gamma_ = make_gamma(place, parameters, gamma_size(form_, place.width), initial_gamma(place));
    }
    if (form.bias) beta_ = make_beta(place, parameters);
  }

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::row_norm(x, form_, gamma_, beta_);
  }

 private:
  // The gain is 1 at the start, of a unit vector the length that other norms give.
  [[nodiscard]] double initial_gamma(const NormPlace& place) const {
    if (form_.gain == Gain::one_plus) return place.gain - 1;
    const bool unit = form_.spread == Spread::length;
    return place.gain * (unit ? std::sqrt(static_cast<double>(place.width)) : 1);
  }

  RowForm form_;
  at::Tensor gamma_;
  at::Tensor beta_;
};

// The two that models use most, through the operators that save their statistics.
class LayerNormLayer final : public NormLayer {
 public:
  LayerNormLayer(const NormPlace& place, ParameterStore& parameters)
      : gamma_(make_gamma(place, parameters, place.width, place.gain)),
        beta_(make_beta(place, parameters)) {}

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
      : gamma_(make_gamma(place, parameters, place.width, place.gain)) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::rms_norm(x, gamma_.sizes(), gamma_, kNormEps);
  }

 private:
  at::Tensor gamma_;
};

class BatchNormLayer final : public NormLayer {
 public:
  BatchNormLayer(const NormPlace& place, ParameterStore& parameters)
      : gamma_(make_gamma(place, parameters, place.width, place.gain)),
        beta_(make_beta(place, parameters)),
        running_mean_(at::zeros({place.width}, parameters.dtype())),
        running_variance_(at::ones({place.width}, parameters.dtype())) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& context) override {
    at::Tensor real;  // undefined: all; padding is told apart in training alone
    if (context.training && context.real_rows.defined()) {
      real = at::zeros({x.size(0)}, at::kBool).index_fill_(0, context.real_rows, true);
    }
    return equinorm::torch::masked_batch_norm(x, real, running_mean_, running_variance_, gamma_,
                                              beta_, context.training, kRunningAverageWeight,
                                              kNormEps);
  }

 private:
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
    for (const NamedForm& form : kRowForms) all.emplace_back(form.name);
    return all;
  }();
  return names;
}

std::unique_ptr<NormLayer> make_norm(const std::string& name, const NormPlace& place,
                                     ParameterStore& parameters) {
  for (const NormEntry& entry : kNorms) {
    if (name == entry.name) return entry.make(place, parameters);
  }
  for (const NamedForm& form : kRowForms) {
    if (name == form.name) return std::make_unique<RowNormLayer>(form, place, parameters);
  }
  throw UsageError("norm = '" + name + "': must be one of " + joined(norm_names()));
}

at::Tensor normalize(const std::unique_ptr<NormLayer>& norm, const at::Tensor& x,
                     const ForwardContext& context) {
  if (!norm) return x;
  const Section section(context, Part::norm);
  return norm->forward(x, context);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace equinorm::lab
