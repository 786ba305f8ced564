// Every task and model: runs that repeat to the last byte, that learn, and that say what they must.
#include "lab/training/learner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "lab/error.hpp"
#include "lab/training/lstm_learner.hpp"
#include "tiny_tasks.hpp"

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

struct Subject {
  std::string task;
  std::string model;
  std::vector<std::string> metrics;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {"masked-bible", "transformer", {}},
      // No metrics of lengths that the tiny pairs lack.
      {"translation", "transformer", {"bleu", "chrf", "loss_to_12", "statistics_gap"}},
      {"idx", "resnet", {"parameters"}},
      {"packages", "lstm", {"macro_f1"}},
      {"text", "lstm", {}},
      {"digits",
       "transformer",
       {"classifier_accuracy", "noise_error", "parameters", "sample_accuracy"}},
      {"adding", "lstm", {"squared_error"}},
      {"adding", "transformer", {"squared_error"}}};
  return all;
}

TEST(Learners, RepeatARunToTheLastByteAndChangeWithTheSeed) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.task + " " + subject.model);
    const TemporaryDirectory directory;
    RunConfig config = tiny_task(directory, subject.task, subject.model);
    const auto metrics = [&](const char* name) {
      const RunOutcome outcome = train(config, directory.path() / name);
      EXPECT_TRUE(std::isfinite(outcome.result.final_loss));
      return content_of(directory.path() / name / "metrics.jsonl");
    };
    const std::string first = metrics("first");
    EXPECT_EQ(metrics("second"), first);
    EXPECT_EQ(content_of(directory.path() / "second" / "result.json"),
              content_of(directory.path() / "first" / "result.json"));
    config.seed = 1;
    EXPECT_NE(metrics("third"), first);
  }
}

TEST(Learners, GiveEveryParameterAGradientInTheFirstSteps) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.task + " " + subject.model);
    const TemporaryDirectory directory;
    RunConfig config = tiny_task(directory, subject.task, subject.model);
    config.dropout = 0;
    config.batch = 16;
    const auto learner = make_learner(config, {});
    learner->prepare();
    ForwardContext context;
    context.training = true;
    // The second step is behind output layers and gates that start at zero.
    learner->loss(1, context).backward();
    {
      const at::NoGradGuard no_grad;
      for (const Parameter& p : learner->parameters()) {
        if (p.value.grad().defined()) p.value.add_(p.value.grad(), -0.1);
        p.value.mutable_grad() = at::Tensor();
      }
    }
    learner->loss(2, context).backward();
    for (const Parameter& p : learner->parameters()) {
      ASSERT_TRUE(p.value.grad().defined()) << p.name;
      EXPECT_GT(p.value.grad().abs().max().item<double>(), 0) << p.name;
    }
  }
}

TEST(Learners, WriteTheirMetrics) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.task + " " + subject.model);
    const TemporaryDirectory directory;
    const RunOutcome outcome =
        train(tiny_task(directory, subject.task, subject.model), directory.path() / "run");
    std::vector<std::string> names;
    for (const auto& [name, value] : outcome.result.metrics) {
      names.push_back(name);
      EXPECT_TRUE(std::isfinite(value)) << name;
    }
    EXPECT_EQ(names, subject.metrics);
  }
}

TEST(Learners, LearnTheirTinyDataFarBelowThePlateau) {
  const std::pair<const char*, int> tasks[] = {
      {"translation", 80}, {"packages", 40}, {"masked-bible", 800}, {"digits", 150}};
  for (const auto& [task, steps] : tasks) {
    const TemporaryDirectory directory;
    RunConfig config = tiny_task(directory, task);
    config.dropout = 0;
    config.width = 32;
    config.ffn = 64;
    config.batch = 16;
    config.steps = steps;
    config.eval_every = steps;
    const RunResult result = train(config, directory.path() / "run").result;
    EXPECT_EQ(result.failure, "") << task;
    EXPECT_LT(result.final_loss, result.plateau / 2) << task;
  }
}

TEST(Learners, RefuseANormThatTheModelLacks) {
  const TemporaryDirectory directory;
  RunConfig config = tiny_task(directory, "packages");
  config.norm = "layer";
  EXPECT_THAT(message_of<UsageError>([&] { validate(config); }),
              testing::AllOf(HasSubstr("norm = \"layer\""), HasSubstr("ba2016")));
  config = tiny_task(directory, "digits");
  config.conditioning = "ada_ln_zero";
  validate(config);
  config.norm = "rms";
  EXPECT_THAT(message_of<UsageError>([&] { validate(config); }), HasSubstr("ada_ln_zero"));
  config = tiny_task(directory, "translation");
  config.dropout_place = "norm_input";
  EXPECT_THAT(message_of<UsageError>([&] { validate(config); }), HasSubstr("dropout_place"));
  config = tiny_task(directory, "adding");
  config.model = "resnet";
  EXPECT_THAT(message_of<UsageError>([&] { validate(config); }),
              testing::AllOf(HasSubstr("model = \"resnet\""), HasSubstr("lstm, transformer")));
  RunConfig resnet;
  resnet.model = "resnet";
  resnet.norm = "batch";
  resnet.depth = 9;
  EXPECT_THAT(message_of<UsageError>([&] { validate(resnet); }), HasSubstr("depth = 9"));
}

TEST(MacroF1, IsTheMeanOverTheClassesThatAreThere) {
  // Class 0: 1 of 2 found, 1 answer too many; class 1: 1 of 2 found; class 2 is only answered.
  EXPECT_DOUBLE_EQ(macro_f1({0, 2, 0, 1}, {0, 0, 1, 1}), (2.0 / 4 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(macro_f1({1, 1}, {1, 1}), 1);
}

}  // namespace
}  // namespace equinorm::lab
