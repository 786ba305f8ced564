#include "lab/training/resnet_learner.hpp"

#include <utility>

#include "lab/error.hpp"
#include "lab/models/resnet.hpp"
#include "lab/training/task_learner.hpp"

namespace equinorm::lab {
namespace {

ResNetOptions model_options(const RunConfig& config, const Task& task) {
  if (task.tokens() != task.features()) throw UsageError("model = \"resnet\": needs square images");
  ResNetOptions options;
  options.norm = config.norm;
  options.order = config.order;
  options.blocks = (config.depth - 2) / 6;
  options.width = config.width;
  options.size = task.tokens();
  options.outputs = task.outputs();
  options.groups = config.groups;
  options.seed = derive_seed(config.seed, "weights");
  return options;
}

class ResNetLearner final : public TaskLearner {
 public:
  ResNetLearner(const RunConfig& config, std::shared_ptr<const Dataset> dataset)
      : TaskLearner(make_task(config, std::move(dataset)), config.batch),
        model_(model_options(config, task())) {}

  [[nodiscard]] const std::vector<Parameter>& parameters() const override {
    return model_.parameters().all();
  }
  std::map<std::string, double> final_metrics() override {
    return {{"parameters", count_parameters()}};
  }

 private:
  at::Tensor outputs(const Batch& batch, const ForwardContext& context) override {
    return model_.forward(batch.input.unsqueeze(1), context.training);
  }

  ResNet model_;
};

}  // namespace

std::unique_ptr<Learner> make_resnet_learner(const RunConfig& config,
                                             std::shared_ptr<const Dataset> dataset) {
  return std::make_unique<ResNetLearner>(config, std::move(dataset));
}

const std::vector<std::string>& resnet_norms() {
  static const std::vector<std::string> names = image_norm_names();
  return names;
}

void check_resnet(const RunConfig& config) {
  if (config.depth < 8 || config.depth % 6 != 2) {
    throw UsageError("depth = " + std::to_string(config.depth) +
                     ": must be 8, 14, 20, ... for a ResNet");
  }
  static_cast<void>(block_order(config.order));
  if (config.groups < 1 || config.width % config.groups != 0) {
    throw UsageError("groups = " + std::to_string(config.groups) +
                     ": must divide width = " + std::to_string(config.width));
  }
}

}  // namespace equinorm::lab
