#include "lab/training/diffusion_learner.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "lab/error.hpp"
#include "lab/models/diffusion_transformer.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/training/diffusion.hpp"
#include "lab/training/digit_classifier.hpp"
#include "lab/training/shuffled_order.hpp"

namespace equinorm::lab {
namespace {

constexpr std::int64_t kSamplesPerClass = 20;
constexpr int kSamplingSteps = 32;

struct Images {
  at::Tensor pixels;  ///< (count, rows, columns) in -1 to 1
  at::Tensor labels;  ///< ids (count)
};

Images as_tensors(const ImageData& data, const ImageSet& set) {
  Images images{at::empty({set.count, data.rows, data.cols}), at::empty({set.count}, at::kLong)};
  const unsigned char most = *std::max_element(data.train.pixels.begin(), data.train.pixels.end());
  const float scale = 2.0F / static_cast<float>(std::max<unsigned char>(most, 1));
  std::transform(set.pixels.begin(), set.pixels.end(), images.pixels.mutable_data_ptr<float>(),
                 [scale](unsigned char pixel) { return scale * static_cast<float>(pixel) - 1; });
  std::copy(set.labels.begin(), set.labels.end(), images.labels.mutable_data_ptr<std::int64_t>());
  return images;
}

at::Generator generator_of(std::uint64_t seed, const char* purpose) {
  return at::make_generator<at::CPUGeneratorImpl>(derive_seed(seed, purpose));
}

/// Images with noise, at times of their own.
struct Noisy {
  at::Tensor images;
  at::Tensor noise;
  at::Tensor times;
  at::Tensor labels;
};

Noisy make_noisy(const Images& images, at::Generator& generator) {
  Noisy noisy;
  noisy.times = kFirstTime + (kLastTime - kFirstTime) * at::rand({images.pixels.size(0)}, generator,
                                                                 at::TensorOptions(at::kFloat));
  noisy.noise = at::randn(images.pixels.sizes(), generator, at::TensorOptions(at::kFloat));
  noisy.images = add_noise(images.pixels, noisy.noise, noisy.times);
  noisy.labels = images.labels;
  return noisy;
}

DiffusionTransformerOptions model_options(const RunConfig& config, const ImageData& data) {
  if (data.rows != data.cols || data.rows % 2 != 0) {
    throw UsageError("task = \"digits\": needs square images of even size");
  }
  DiffusionTransformerOptions options;
  options.norm = config.norm;
  options.placement = config.placement;
  options.qk_norm = config.qk_norm;
  options.conditioning = config.conditioning;
  options.depth = config.depth;
  options.width = config.width;
  options.heads = config.heads;
  options.ffn = config.ffn;
  options.dropout = config.dropout;
  options.side = data.rows;
  options.classes = data.classes;
  options.seed = derive_seed(config.seed, "weights");
  return options;
}

class DiffusionLearner final : public Learner {
 public:
  DiffusionLearner(const RunConfig& config, const ImageData& data)
      : config_(config),
        train_(as_tensors(data, data.train)),
        test_(as_tensors(data, data.test)),
        order_(static_cast<std::size_t>(data.train.count), derive_seed(config.seed, "order")),
        noise_(generator_of(config.seed, "noise")),
        model_(model_options(config, data)) {
    at::Generator generator = generator_of(0, "evaluation noise");
    evaluation_ = make_noisy(test_, generator);
  }

  at::Tensor loss(int /*step*/, const ForwardContext& context) override {
    at::Tensor chosen = at::empty({config_.batch}, at::kLong);
    for (int i = 0; i < config_.batch; ++i) {
      chosen[i] = static_cast<std::int64_t>(order_.next());
    }
    const Noisy noisy = make_noisy(
        {train_.pixels.index_select(0, chosen), train_.labels.index_select(0, chosen)}, noise_);
    return at::mse_loss(found_noise(noisy, context), noisy.noise);
  }

  Evaluation evaluate() override {
    const at::NoGradGuard no_grad;
    return {at::mse_loss(found_noise(evaluation_, {}), evaluation_.noise).item<double>(),
            std::numeric_limits<double>::quiet_NaN()};
  }

  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    return model_.parameters();
  }
  [[nodiscard]] double plateau() const override { return 1; }
  [[nodiscard]] bool reached(const Evaluation& evaluation, double target) const override {
    return evaluation.loss <= target;
  }
  /// Blocks with adaptive norms report nothing.
  [[nodiscard]] int layers() const override {
    return config_.conditioning.starts_with("ada_ln") ? 0 : config_.depth;
  }
  [[nodiscard]] std::int64_t tokens_per_step() const override {
    return config_.batch * train_.pixels[0].numel() / 4;
  }
  at::Tensor probe_outputs() override {
    const at::NoGradGuard no_grad;
    return found_noise(evaluation_, {});
  }

  std::map<std::string, double> final_metrics() override {
    const DigitClassifier classifier(train_.pixels, train_.labels, model_.options().classes);
    const at::NoGradGuard no_grad;
    const std::int64_t classes = model_.options().classes;
    const std::int64_t side = model_.options().side;
    const at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(kSamplesPerClass);
    at::Generator generator = generator_of(config_.seed, "samples");
    const at::Tensor start =
        at::randn({labels.size(0), side, side}, generator, at::TensorOptions(at::kFloat));
    const at::Tensor samples =
        sample_images(start, kSamplingSteps, [&](const at::Tensor& x, const at::Tensor& times) {
          return model_.forward(x, times, labels, {});
        });
    double parameters = 0;
    for (const Parameter& parameter : model_.parameters()) {
      parameters += static_cast<double>(parameter.value.numel());
    }
    return {{"noise_error", evaluate().loss},
            {"sample_accuracy", classifier.accuracy(samples, labels)},
            {"classifier_accuracy", classifier.accuracy(test_.pixels, test_.labels)},
            {"parameters", parameters}};
  }

 private:
  [[nodiscard]] at::Tensor found_noise(const Noisy& noisy, const ForwardContext& context) const {
    return model_.forward(noisy.images, noisy.times, noisy.labels, context);
  }

  RunConfig config_;
  Images train_;
  Images test_;
  ShuffledOrder order_;
  at::Generator noise_;
  DiffusionTransformer model_;
  Noisy evaluation_;
};

}  // namespace

std::unique_ptr<Learner> make_diffusion_learner(const RunConfig& config,
                                                std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<DiffusionLearner>(config, std::get<ImageData>(dataset->content));
}

void check_diffusion(const RunConfig& config) {
  const auto& names = conditioning_names();
  if (std::find(names.begin(), names.end(), config.conditioning) == names.end()) {
    throw UsageError("conditioning = \"" + config.conditioning + "\": must be one of " +
                     joined(names));
  }
  if (config.conditioning.starts_with("ada_ln") && config.norm != "layer") {
    throw UsageError("norm = \"" + config.norm +
                     "\": must be layer where conditioning = " + config.conditioning);
  }
}

}  // namespace equinorm::lab
