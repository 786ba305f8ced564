// One class per norm and the table that makes them: a new norm is a class and a line there.
//
// Not here: what norms compute. The one trap: norms over a batch keep averages, which training
// forward passes change.
#include "lab/models/norm_layer.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "equinorm/row_forms.hpp"
#include "equinorm/torch/alpha_norms.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/functional.hpp"
#include "equinorm/torch/power_norm.hpp"
#include "equinorm/torch/token_batch_norm.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr double kRunningAverageWeight = 0.1;

constexpr RowForm kLayerForm{.eps = kNormEps};
constexpr RowForm kRmsForm{.centered = false, .eps = kNormEps};

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

// Which rows are real, bool (rows); undefined: all, as always outside training, where padding needs
// not be told apart.
at::Tensor real_mask(const at::Tensor& x, const ForwardContext& context) {
  if (!context.training || !context.real_rows.defined()) return {};
  return at::zeros({x.size(0)}, at::kBool).index_fill_(0, context.real_rows, true);
}

// A norm of rows, with the eps that was chosen.
class FormLayer : public NormLayer {
 public:
  FormLayer(const RowForm& form, const NormPlace& place) : NormLayer(place), form_(form) {
    if (place.choice.eps >= 0) form_.eps = place.choice.eps;
  }

  void show(const at::Tensor& x, const ForwardContext& context) const override {
    context.observer->saw_rows(layer_, x, form_);
  }

 protected:
  RowForm form_;
};

// Every named form, and the parameters that it has.
class RowNormLayer final : public FormLayer {
 public:
  RowNormLayer(const NamedForm& form, const NormPlace& place, ParameterStore& parameters)
      : FormLayer(form.form, place), composed_(place.choice.composed) {
    if (has_gamma(form_)) {
      gamma_ = make_gamma(place, parameters, gamma_size(form_, place.width), initial_gamma(place));
    }
    if (form.bias) beta_ = make_beta(place, parameters);
  }

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return composed_ ? equinorm::torch::detail::row_norm_composite(x, form_, gamma_, beta_)
                     : equinorm::torch::row_norm(x, form_, gamma_, beta_);
  }

 private:
  // The gain is 1 at the start, of a unit vector the length that other norms give.
  [[nodiscard]] double initial_gamma(const NormPlace& place) const {
    if (form_.gain == Gain::one_plus) return place.gain - 1;
    const bool unit = form_.spread == Spread::length;
    return place.gain * (unit ? std::sqrt(static_cast<double>(place.width)) : 1);
  }

  bool composed_;
  at::Tensor gamma_;
  at::Tensor beta_;
};

// The two that models use most, through the operators that save their statistics.
class LayerNormLayer final : public FormLayer {
 public:
  LayerNormLayer(const NormPlace& place, ParameterStore& parameters)
      : FormLayer(kLayerForm, place),
        gamma_(make_gamma(place, parameters, place.width, place.gain)),
        beta_(make_beta(place, parameters)) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::layer_norm(x, gamma_.sizes(), gamma_, beta_, form_.eps);
  }

 private:
  at::Tensor gamma_;
  at::Tensor beta_;
};

class RmsNormLayer final : public FormLayer {
 public:
  RmsNormLayer(const NormPlace& place, ParameterStore& parameters)
      : FormLayer(kRmsForm, place),
        gamma_(make_gamma(place, parameters, place.width, place.gain)) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::rms_norm(x, gamma_.sizes(), gamma_, form_.eps);
  }

 private:
  at::Tensor gamma_;
};

// A learned number alpha beside gamma and beta.
class AlphaNormLayer : public NormLayer {
 public:
  AlphaNormLayer(const NormPlace& place, ParameterStore& parameters, double alpha)
      : NormLayer(place),
        alpha_(parameters.constant(
            {place.prefix + ".alpha", kind_at(place, ParameterKind::gamma), place.layer}, {1},
            alpha)),
        gamma_(make_gamma(place, parameters, place.width, place.gain)),
        beta_(make_beta(place, parameters)) {}

 protected:
  at::Tensor alpha_;
  at::Tensor gamma_;
  at::Tensor beta_;
};

class DynamicTanhLayer final : public AlphaNormLayer {
 public:
  DynamicTanhLayer(const NormPlace& place, ParameterStore& parameters)
      : AlphaNormLayer(place, parameters, 0.5) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::dynamic_tanh(x, alpha_, gamma_, beta_);
  }
};

class BlendedNormLayer final : public AlphaNormLayer {
 public:
  BlendedNormLayer(const NormPlace& place, ParameterStore& parameters)
      : AlphaNormLayer(place, parameters, 1) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& /*context*/) override {
    return equinorm::torch::blended_norm(x, alpha_, gamma_, beta_, {.eps = kNormEps});
  }
  void show(const at::Tensor& x, const ForwardContext& context) const override {
    context.observer->saw_rows(layer_, x, kLayerForm);
  }
};

// What all norms over a batch have. The averages begin as those of a stream at unit scale.
class BatchLayer : public NormLayer {
 public:
  BatchLayer(const NormPlace& place, ParameterStore& parameters, at::IntArrayRef averages)
      : NormLayer(place),
        gamma_(make_gamma(place, parameters, place.width, place.gain)),
        beta_(make_beta(place, parameters)),
        running_mean_(at::zeros(averages, parameters.dtype())),
        running_variance_(at::ones(averages, parameters.dtype())) {}

 protected:
  at::Tensor gamma_;
  at::Tensor beta_;
  at::Tensor running_mean_;
  at::Tensor running_variance_;
};

class BatchNormLayer final : public BatchLayer {
 public:
  BatchNormLayer(const NormPlace& place, ParameterStore& parameters)
      : BatchLayer(place, parameters, {place.width}) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& context) override {
    return equinorm::torch::masked_batch_norm(x, real_mask(x, context), running_mean_,
                                              running_variance_, gamma_, beta_, context.training,
                                              kRunningAverageWeight, kNormEps);
  }
  void show(const at::Tensor& x, const ForwardContext& context) const override {
    context.observer->saw_batch(layer_,
                                {x, real_mask(x, context), running_mean_, running_variance_});
  }
};

// Averages per token; there are as many as training has seen, and later tokens use the last.
class PerStepBatchNormLayer final : public BatchLayer {
 public:
  PerStepBatchNormLayer(const NormPlace& place, ParameterStore& parameters)
      : BatchLayer(place, parameters, {1, place.width}) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& context) override {
    if (context.tokens < 1) {
      throw UsageError("ForwardContext::tokens = " + std::to_string(context.tokens) +
                       ": PerStepBatchNorm needs the tokens of a sample");
    }
    const at::Tensor steps = x.reshape({-1, context.tokens, x.size(1)});
    if (context.training) provide_averages(context.first_token + context.tokens);
    const at::Tensor real = real_mask(x, context);
    const at::Tensor y = real.defined() ? padded(steps, real.view({-1, context.tokens}), context)
                                        : equal_length(steps, context);
    return y.reshape(x.sizes());
  }
  // Of the tokens that have averages already.
  void show(const at::Tensor& x, const ForwardContext& context) const override {
    const std::int64_t known = std::min(context.tokens, running_mean_.size(0));
    const auto by_token = [&](const at::Tensor& rows, at::IntArrayRef shape) {
      return rows.defined() ? rows.reshape(shape).slice(1, 0, known) : rows;
    };
    context.observer->saw_batch(
        layer_, {by_token(x, {-1, context.tokens, x.size(1)}),
                 by_token(real_mask(x, context), {-1, context.tokens}),
                 running_mean_.slice(0, 0, known), running_variance_.slice(0, 0, known)});
  }

 private:
  void provide_averages(std::int64_t count) {
    const std::int64_t missing = count - running_mean_.size(0);
    if (missing <= 0) return;
    const std::array<std::int64_t, 2> shape{missing, running_mean_.size(1)};
    running_mean_ = at::cat({running_mean_, at::zeros(shape, running_mean_.options())});
    running_variance_ = at::cat({running_variance_, at::ones(shape, running_variance_.options())});
  }

  at::Tensor equal_length(const at::Tensor& steps, const ForwardContext& context) {
    const std::int64_t first = std::min(context.first_token, running_mean_.size(0) - 1);
    return equinorm::torch::per_step_batch_norm(steps, running_mean_.slice(0, first),
                                                running_variance_.slice(0, first), gamma_, beta_,
                                                context.training, kRunningAverageWeight, kNormEps);
  }

  // A step at a time, as samples end at different ones.
  at::Tensor padded(const at::Tensor& steps, const at::Tensor& real,
                    const ForwardContext& context) {
    std::vector<at::Tensor> parts;
    for (std::int64_t i = 0; i < steps.size(1); ++i) {
      const std::int64_t token = context.first_token + i;
      parts.push_back(equinorm::torch::masked_batch_norm(
          steps.select(1, i), real.select(1, i), running_mean_[token], running_variance_[token],
          gamma_, beta_, context.training, kRunningAverageWeight, kNormEps));
    }
    return at::stack(parts, 1);
  }
};

class PowerNormLayer final : public NormLayer {
 public:
  PowerNormLayer(const NormPlace& place, ParameterStore& parameters)
      : NormLayer(place),
        gamma_(make_gamma(place, parameters, place.width, place.gain)),
        beta_(make_beta(place, parameters)),
        running_phi_(at::ones({place.width}, parameters.dtype())),
        ema_gz_(at::zeros({place.width}, parameters.dtype())) {}

  at::Tensor forward(const at::Tensor& x, const ForwardContext& context) override {
    iteration_ += context.training ? 1 : 0;
    return equinorm::torch::power_norm(x, running_phi_, ema_gz_, gamma_, beta_,
                                       {.training = context.training,
                                        .iteration = std::max<std::int64_t>(iteration_, 1),
                                        .warmup_iters = context.warmup_steps,
                                        .eps = kNormEps},
                                       real_mask(x, context));
  }
  void show(const at::Tensor& x, const ForwardContext& context) const override {
    context.observer->saw_batch(layer_, {x, real_mask(x, context), {}, running_phi_});
  }

 private:
  at::Tensor gamma_;
  at::Tensor beta_;
  at::Tensor running_phi_;
  at::Tensor ema_gz_;
  std::int64_t iteration_ = 0;
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
  std::array<const char*, 2> operators{};  // names in operator_forms.hpp where they are others
};

constexpr NormEntry kNorms[] = {{"none", make_none},
                                {"batch", make<BatchNormLayer>, {"BatchNorm", "MaskedBatchNorm"}},
                                {"layer", make<LayerNormLayer>},
                                {"rms", make<RmsNormLayer>},
                                {"BlendedLayerNorm", make<BlendedNormLayer>},
                                {"DyT", make<DynamicTanhLayer>},
                                {"PerStepBatchNorm", make<PerStepBatchNormLayer>},
                                {"PowerNorm", make<PowerNormLayer>}};

// The form of a norm of rows, by any of its names; null for other norms.
const NamedForm* row_form_of(const std::string& name) {
  const std::string form_name = name == "layer" ? "LayerNorm" : name == "rms" ? "RMSNorm" : name;
  const auto* found = std::find_if(std::begin(kRowForms), std::end(kRowForms),
                                   [&](const NamedForm& form) { return form_name == form.name; });
  return found == std::end(kRowForms) ? nullptr : found;
}

bool is_operator(const NormEntry& entry, const std::string& name) {
  return name == entry.name ||
         std::any_of(entry.operators.begin(), entry.operators.end(),
                     [&](const char* other) { return other != nullptr && name == other; });
}

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

std::string norm_of_operator(const std::string& name) {
  for (const NormEntry& entry : kNorms) {
    if (is_operator(entry, name)) return entry.name;
  }
  return "";
}

bool is_row_norm(const std::string& name) { return row_form_of(name) != nullptr; }

std::unique_ptr<NormLayer> make_norm(const std::string& name, const NormPlace& place,
                                     ParameterStore& parameters) {
  const NamedForm* form = row_form_of(name);
  if (form == nullptr && name != "none" && (place.choice.composed || place.choice.eps >= 0)) {
    throw UsageError("norm = '" + name +
                     "': must be one of rows where it is composed or has an eps");
  }
  if (form == nullptr || !place.choice.composed) {
    for (const NormEntry& entry : kNorms) {
      if (name == entry.name) return entry.make(place, parameters);
    }
  }
  if (form != nullptr) return std::make_unique<RowNormLayer>(*form, place, parameters);
  throw UsageError("norm = '" + name + "': must be one of " + joined(norm_names()));
}

at::Tensor normalize(const std::unique_ptr<NormLayer>& norm, const at::Tensor& x,
                     const ForwardContext& context) {
  if (!norm) return x;
  if (context.observer != nullptr) norm->show(x, context);
  const Section section(context, Part::norm);
  return stored(norm->forward(stored(x), context));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace equinorm::lab
