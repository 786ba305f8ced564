// The "layers" events of whole runs: what they hold, and that without them nothing is observed.
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lab/training/instruments.hpp"
#include "tiny_tasks.hpp"

namespace equinorm::lab {
namespace {

using Json = nlohmann::json;

Json layers_event(const std::filesystem::path& run, int step) {
  for (const Json& event : events_of(run)) {
    if (event.at("event") == "layers" && event.at("step") == step) return event;
  }
  ADD_FAILURE() << "no layers at step " << step;
  return {};
}

std::string other_lines(const std::filesystem::path& run) {
  std::string lines;
  for (const Json& event : events_of(run)) {
    if (event.at("event") != "layers") lines += event.dump() + "\n";
  }
  return lines;
}

bool all_null(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& value) { return value.is_null(); });
}

bool all_numbers(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& value) { return value.is_number(); });
}

TEST(UpdateRatio, ComparesTheUpdateWithTheWeightsBefore) {
  const at::Tensor qkv = at::tensor({3.0F, 4.0F});
  const at::Tensor gamma = at::ones({4});
  const at::Tensor beta = at::zeros({1});
  const std::vector<Parameter> parameters = {
      {"layers.0.qkv.weight", ParameterKind::qkv, 0, qkv},
      {"layers.0.norm1.gamma", ParameterKind::gamma, 0, gamma},
      {"layers.0.norm1.beta", ParameterKind::beta, 0, beta}};
  const auto before = copy_values(parameters);
  qkv[0] += 0.5;
  gamma.sub_(0.25);
  beta.fill_(1);
  const auto json = Json::parse(update_ratios_by_layer(parameters, before, 1).dump());
  const Json& layer = json.at("layers").at(0);
  EXPECT_EQ(layer.at("qkv"), 0.1);     // 0.5 / 5
  EXPECT_EQ(layer.at("gamma"), 0.25);  // 0.5 / 2
  EXPECT_TRUE(layer.at("beta").is_null());
  EXPECT_TRUE(layer.at("fc1").is_null());
  EXPECT_EQ(json.at("total"), std::sqrt(0.25 + 0.25 + 1) / std::sqrt(29));
}

TEST(GammaDrift, IsTheRootMeanSquareOverTheGainsOfALayer) {
  const at::Tensor first = at::ones({2});
  const at::Tensor second = at::ones({2});
  const std::vector<Parameter> parameters = {
      {"layers.0.norm1.gamma", ParameterKind::gamma, 0, first},
      {"layers.0.norm2.gamma", ParameterKind::gamma, 0, second},
      {"layers.0.norm2.alpha", ParameterKind::gamma, 0, at::ones({1})},
      {"layers.1.qkv.bias", ParameterKind::qkv, 1, at::ones({1})}};
  const auto start = copy_values(parameters);
  first.add_(at::tensor({1.0F, -1.0F}));
  second.add_(at::tensor({0.0F, 1.0F}));
  parameters[2].value.fill_(9);
  const std::vector<double> drift = gamma_drift(parameters, start, 2);
  EXPECT_EQ(drift.at(0), std::sqrt(3.0 / 4));
  EXPECT_TRUE(std::isnan(drift.at(1)));
}

TEST(NormAlphas, AreMeansOverTheNormsOfALayer) {
  const std::vector<Parameter> parameters = {
      {"layers.0.norm1.alpha", ParameterKind::gamma, 0, at::full({1}, 0.25)},
      {"layers.0.norm2.alpha", ParameterKind::gamma, 0, at::full({1}, 0.75)},
      {"layers.0.norm2.gamma", ParameterKind::gamma, 0, at::full({1}, 9.0)},
      {"layers.1.norm1.gamma", ParameterKind::gamma, 1, at::full({1}, 9.0)},
      {"final_norm.alpha", ParameterKind::final_norm, -1, at::full({1}, 9.0)}};
  const std::vector<double> alphas = norm_alphas(parameters, 2);
  EXPECT_EQ(alphas.at(0), 0.5);
  EXPECT_TRUE(std::isnan(alphas.at(1)));
}

TEST(Instruments, SayOfTheFirstStepWhatAdamMustDo) {
  const TemporaryDirectory directory;
  const RunConfig config = tiny_config(directory);
  train(config, directory.path() / "run");
  const Json event = layers_event(directory.path() / "run", 1);
  // Adam's first step moves every gain by the learning rate but for eps / |gradient|, from 1.
  const double rate = config.learning_rate / config.warmup;
  for (int layer = 0; layer < config.depth; ++layer) {
    EXPECT_NEAR(event["update_ratio"]["layers"][layer]["gamma"].get<double>(), rate, 1e-3 * rate);
    EXPECT_NEAR(event["gamma_drift"][layer].get<double>(), rate, 1e-3 * rate);
    EXPECT_EQ(event["attention_entropy"][layer].size(), 2U);
  }
  EXPECT_GT(event["logsumexp"], 0);
}

TEST(Instruments, TellNormsOfRowsFromNormsOverABatch) {
  const TemporaryDirectory directory;
  for (const std::string norm :
       {"none", "layer", "rms", "ScaleNorm", "DyT", "batch", "PerStepBatchNorm", "PowerNorm"}) {
    SCOPED_TRACE(norm);
    RunConfig config = tiny_config(directory);
    config.norm = norm;
    train(config, directory.path() / norm);
    const Json event = layers_event(directory.path() / norm, 4);
    const bool rows = norm == "layer" || norm == "rms" || norm == "ScaleNorm";
    const bool batch = norm == "batch" || norm == "PerStepBatchNorm" || norm == "PowerNorm";
    for (const char* name : {"smallest_row_variance", "eps_share", "rows_near_eps"}) {
      EXPECT_EQ(event.at(name).size(), 2U);
      EXPECT_TRUE(rows ? all_numbers(event.at(name)) : all_null(event.at(name))) << name;
    }
    EXPECT_TRUE(batch ? all_numbers(event["batch_variance_gap"])
                      : all_null(event["batch_variance_gap"]));
    const bool has_mean = batch && norm != "PowerNorm";
    EXPECT_TRUE(has_mean ? all_numbers(event["batch_mean_gap"])
                         : all_null(event["batch_mean_gap"]));
    EXPECT_TRUE(norm == "none" ? all_null(event["gamma_drift"])
                               : all_numbers(event["gamma_drift"]));
    EXPECT_TRUE(norm == "DyT" ? all_numbers(event["alpha"]) : all_null(event["alpha"]));
    EXPECT_TRUE(all_numbers(event["max_logit"]));
  }
}

TEST(Instruments, SeeEveryTaskAndModelAsFarAsItHasLayersAndLogits) {
  struct Subject {
    std::string task;
    std::string model;
    std::size_t layers;
    std::size_t heads_of_last;
    bool logits;
  };
  for (const Subject& subject :
       {Subject{"masked-bible", "transformer", 2, 2, true},
        Subject{"translation", "transformer", 4, 4, true}, Subject{"idx", "resnet", 0, 0, true},
        Subject{"packages", "lstm", 0, 0, true}, Subject{"text", "lstm", 0, 0, true},
        Subject{"digits", "transformer", 2, 2, false},
        Subject{"adding", "transformer", 2, 2, false}}) {
    SCOPED_TRACE(subject.task);
    const TemporaryDirectory directory;
    train(tiny_task(directory, subject.task, subject.model), directory.path() / "run");
    const Json event = layers_event(directory.path() / "run", 4);
    EXPECT_EQ(event["logsumexp"].is_number(), subject.logits);
    EXPECT_TRUE(event["update_ratio"]["total"].is_number());
    ASSERT_EQ(event["attention_entropy"].size(), subject.layers);
    if (subject.layers > 0) {
      EXPECT_EQ(event["attention_entropy"].back().size(), subject.heads_of_last);
      EXPECT_TRUE(all_numbers(event["smallest_row_variance"]));
    }
  }
}

// Names of all operators that run on this thread while it lives.
class OperatorRecorder {
 public:
  OperatorRecorder()
      : handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback([](const at::RecordFunction& called) {
              names().insert(called.name());
              return std::unique_ptr<at::ObserverContext>();
            }).scopes({at::RecordScope::FUNCTION}))) {
    names().clear();
  }
  ~OperatorRecorder() { at::removeCallback(handle_); }
  OperatorRecorder(const OperatorRecorder&) = delete;
  OperatorRecorder& operator=(const OperatorRecorder&) = delete;

  static std::multiset<std::string>& names() {
    static std::multiset<std::string> all;
    return all;
  }

 private:
  at::CallbackHandle handle_;
};

TEST(Instruments, ObserveAndWriteNothingWhereTheyAreOff) {
  const TemporaryDirectory directory;
  for (const char* norm : {"layer", "batch"}) {
    RunConfig config = tiny_config(directory);
    config.norm = norm;
    const auto operators = [&](int every) {
      config.instrument_every = every;
      const OperatorRecorder recorder;
      train(config, directory.path() / std::to_string(every));
      return recorder.names();
    };
    const auto on = operators(4);
    const auto off = operators(0);
    // Only the instruments use these, copies aside.
    for (const char* name : {"aten::logsumexp", "aten::median", "aten::triu", "aten::log"}) {
      EXPECT_EQ(off.count(name), 0U) << name;
    }
    EXPECT_GT(on.count("aten::logsumexp"), 0U);
    EXPECT_LT(off.count("aten::clone"), on.count("aten::clone"));
    for (const nlohmann::json& event : events_of(directory.path() / "0")) {
      EXPECT_NE(event.at("event"), "layers");
    }
    EXPECT_EQ(other_lines(directory.path() / "0"), other_lines(directory.path() / "4"));
    EXPECT_EQ(content_of(directory.path() / "0/result.json"),
              content_of(directory.path() / "4/result.json"));
  }
}

}  // namespace
}  // namespace equinorm::lab
