// The image norms and their table; all run Equinorm's kernels, on images as they lie in memory.
//
// Not here: what they compute. The one trap: batch keeps averages, which training changes.
#include "lab/models/image_norm.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "equinorm/torch/images.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

constexpr double kEps = 1e-5;
constexpr double kLayer2dEps = 1e-6;
constexpr double kRunningAverageWeight = 0.1;

// Gain 1 and bias 0, per channel or per element.
struct Affine {
  at::Tensor gamma;
  at::Tensor beta;

  Affine(const ImageNormPlace& place, at::IntArrayRef shape, ParameterStore& parameters)
      : gamma(parameters.constant({place.prefix + ".gamma", ParameterKind::gamma, place.layer},
                                  shape, 1)),
        beta(parameters.constant({place.prefix + ".beta", ParameterKind::beta, place.layer}, shape,
                                 0)) {}
};

class BatchImageNorm final : public ImageNorm {
 public:
  BatchImageNorm(const ImageNormPlace& place, ParameterStore& parameters)
      : affine_(place, {place.channels}, parameters),
        running_mean_(at::zeros({place.channels}, parameters.dtype())),
        running_variance_(at::ones({place.channels}, parameters.dtype())) {}

  at::Tensor forward(const at::Tensor& x, bool training) override {
    return equinorm::torch::batch_norm(x, running_mean_, running_variance_, affine_.gamma,
                                       affine_.beta, training, kRunningAverageWeight, kEps);
  }

 private:
  Affine affine_;
  at::Tensor running_mean_;
  at::Tensor running_variance_;
};

class GroupImageNorm final : public ImageNorm {
 public:
  GroupImageNorm(const ImageNormPlace& place, ParameterStore& parameters)
      : affine_(place, {place.channels}, parameters), groups_(place.groups) {
    if (groups_ < 1 || place.channels % groups_ != 0) {
      throw UsageError("groups = '" + std::to_string(groups_) + "': must divide the " +
                       std::to_string(place.channels) + " channels");
    }
  }

  at::Tensor forward(const at::Tensor& x, bool /*training*/) override {
    return equinorm::torch::group_norm(x, groups_, affine_.gamma, affine_.beta, kEps);
  }

 private:
  Affine affine_;
  std::int64_t groups_;
};

class InstanceImageNorm final : public ImageNorm {
 public:
  InstanceImageNorm(const ImageNormPlace& place, ParameterStore& parameters)
      : affine_(place, {place.channels}, parameters) {}

  at::Tensor forward(const at::Tensor& x, bool /*training*/) override {
    return equinorm::torch::instance_norm(x, {}, {}, affine_.gamma, affine_.beta,
                                          /*use_input_stats=*/true, kRunningAverageWeight, kEps);
  }

 private:
  Affine affine_;
};

class ChwImageNorm final : public ImageNorm {
 public:
  ChwImageNorm(const ImageNormPlace& place, ParameterStore& parameters)
      : affine_(place, {place.channels, place.height, place.width}, parameters) {}

  at::Tensor forward(const at::Tensor& x, bool /*training*/) override {
    return equinorm::torch::layer_norm_chw(x, affine_.gamma, affine_.beta, kEps);
  }

 private:
  Affine affine_;
};

class Layer2dImageNorm final : public ImageNorm {
 public:
  Layer2dImageNorm(const ImageNormPlace& place, ParameterStore& parameters)
      : affine_(place, {place.channels}, parameters) {}

  at::Tensor forward(const at::Tensor& x, bool /*training*/) override {
    return equinorm::torch::layer_norm_2d(x, affine_.gamma, affine_.beta, kLayer2dEps);
  }

 private:
  Affine affine_;
};

using Made = std::unique_ptr<ImageNorm>;

template <class Norm>
Made make(const ImageNormPlace& place, ParameterStore& parameters) {
  return std::make_unique<Norm>(place, parameters);
}

Made make_none(const ImageNormPlace& /*place*/, ParameterStore& /*parameters*/) { return nullptr; }

struct Entry {
  const char* name;
  Made (*make)(const ImageNormPlace&, ParameterStore&);
};

constexpr Entry kNorms[] = {
    {"none", make_none},
    {"batch", make<BatchImageNorm>},
    {"group", make<GroupImageNorm>},
    {"instance", make<InstanceImageNorm>},
    {"layer_chw", make<ChwImageNorm>},
    {"layer_2d", make<Layer2dImageNorm>},
};

}  // namespace

std::vector<std::string> image_norm_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kNorms) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<ImageNorm> make_image_norm(const std::string& name, const ImageNormPlace& place,
                                           ParameterStore& parameters) {
  std::string names;
  for (const Entry& entry : kNorms) {
    if (name == entry.name) return entry.make(place, parameters);
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw UsageError("norm = '" + name + "': must be one of " + names);
}

}  // namespace equinorm::lab
