// What the output of a norm, or of a Transformer built with it, depends on. Each number is the
// largest change of an output that should not notice: 0 means equal to the last bit.
//
// Not here: whether training suffers from it.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>

#include <memory>

#include "lab/measurements/measurements.hpp"
#include "lab/measurements/normals.hpp"
#include "lab/models/norm_layer.hpp"
#include "lab/models/transformer.hpp"

namespace equinorm::lab {
namespace {

struct Setting {
  bool transformer = false;
  std::string norm;
  bool padding_counts = false;
  std::int64_t samples = 0;
  std::int64_t tokens = 0;
  std::int64_t width = 0;
};

/// Samples of vectors in, samples of vectors (a norm) or of next-token scores (a model) out.
class Subject {
 public:
  Subject(const Setting& setting, std::uint64_t seed)
      : setting_(setting), parameters_(derive_seed(seed, "weights"), at::kFloat) {
    if (!setting.transformer) {
      norm_ = make_norm(setting.norm, {"norm", 0, setting.width}, parameters_);
      return;
    }
    TransformerOptions options;
    options.norm = setting.norm;
    options.depth = 2;
    options.width = setting.width;
    options.heads = 2;
    options.ffn = 2 * setting.width;
    options.tokens = setting.tokens;
    options.features = setting.width;
    options.outputs = setting.width;
    options.causal = true;
    options.seed = derive_seed(seed, "weights");
    model_ = std::make_unique<Transformer>(options);
  }

  /// (samples, tokens, width); `mask` true for real tokens, undefined: all are.
  at::Tensor forward(const at::Tensor& x, bool training, const at::Tensor& mask = {}) {
    const at::NoGradGuard no_grad;
    ForwardContext context;
    context.training = training;
    const at::Tensor y = model_ ? model_->forward(x, context, mask)
                                : normalize(norm_, x.reshape({-1, setting_.width}),
                                            for_tokens(context, setting_.tokens, mask));
    return y.view({setting_.samples, setting_.tokens, setting_.width});
  }

 private:
  Setting setting_;
  ParameterStore parameters_;
  std::unique_ptr<NormLayer> norm_;
  std::unique_ptr<Transformer> model_;
};

double largest_change(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

MeasurementResult measure(const Setting& setting, std::uint64_t seed) {
  Random random(derive_seed(seed, "inputs"));
  const at::Tensor x = normal_tensor(random, {setting.samples, setting.tokens, setting.width});
  const at::Tensor other = normal_tensor(random, {setting.samples, setting.tokens, setting.width});
  const std::int64_t half = setting.tokens / 2;
  Subject subject(setting, seed);
  MeasurementResult result;
  const at::Tensor y = subject.forward(x, true);

  at::Tensor changed = x.clone();
  changed.slice(0, 1).copy_(other.slice(0, 1));
  result.metrics["batch_change"] = largest_change(y[0], subject.forward(changed, true)[0]);

  changed = x.clone();
  changed.slice(1, half).copy_(other.slice(1, half));
  result.metrics["later_token_change"] =
      largest_change(y.slice(1, 0, half), subject.forward(changed, true).slice(1, 0, half));

  at::Tensor mask = at::ones({setting.samples, setting.tokens}, at::kBool);
  mask.slice(1, half).fill_(false);
  if (setting.padding_counts) mask = at::Tensor();
  result.metrics["padding_change"] =
      largest_change(subject.forward(x, true, mask).slice(1, 0, half),
                     subject.forward(changed, true, mask).slice(1, 0, half));

  result.metrics["mode_change"] = largest_change(y, subject.forward(x, false));
  return result;
}

}  // namespace

Measure prepare_dependence(Parameters& parameters) {
  Setting setting;
  setting.transformer =
      parameters.choice("model", "norm", {"norm", "transformer"}) == "transformer";
  setting.norm = parameters.choice("norm", "layer", norm_names());
  setting.padding_counts = parameters.choice("padding", "masked", {"masked", "counts"}) == "counts";
  setting.samples = parameters.integer("samples", 8, 2, 4096);
  setting.tokens = parameters.integer("tokens", 12, 2, 4096);
  setting.width = 2 * (parameters.integer("width", 32, 2, 4096) / 2);
  return [setting](std::uint64_t seed) { return measure(setting, seed); };
}

}  // namespace equinorm::lab
