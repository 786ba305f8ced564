// Run configs as JSON and as names of run directories.
#include "lab/run_config_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "../temporary_directory.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

RunConfig unusual_config() {
  RunConfig config;
  config.task = "text";
  config.source = "/data/a.txt";
  config.source_sha256 = "abc";
  config.learning_rate = 0.1 + 0.2;
  config.clip = 1e-300;
  config.seed = 0xFFFFFFFFFFFFFFFF;
  return config;
}

TEST(RunConfigJson, RoundTripsEveryField) {
  const nlohmann::json json = unusual_config();
  const auto back = nlohmann::json::parse(json.dump()).get<RunConfig>();
  EXPECT_EQ(nlohmann::json(back), json);
  EXPECT_EQ(back.learning_rate, 0.1 + 0.2);
  EXPECT_EQ(back.seed, 0xFFFFFFFFFFFFFFFF);
}

TEST(RunConfigJson, WithAMissingFieldIsAnErrorThatNamesIt) {
  nlohmann::json json = unusual_config();
  json.erase("warmup");
  EXPECT_THAT(message_of<InputError>([&] { json.get<RunConfig>(); }),
              testing::HasSubstr("'warmup' is missing"));
}

TEST(RunConfigJson, WithAMistypedFieldIsAnErrorThatNamesIt) {
  nlohmann::json json = unusual_config();
  json["depth"] = "six";
  EXPECT_THAT(message_of<InputError>([&] { json.get<RunConfig>(); }),
              testing::HasSubstr("'depth' = \"six\""));
}

TEST(RunConfigJson, WithAnUnknownFieldIsAnError) {
  nlohmann::json json = unusual_config();
  json["momentum"] = 0.9;
  EXPECT_THROW(json.get<RunConfig>(), InputError);
}

TEST(RunId, BeginsWithWhatAPersonLooksFor) {
  RunConfig config;
  config.norm = "rms";
  config.learning_rate = 0.003;
  config.seed = 7;
  EXPECT_THAT(run_id(config), testing::StartsWith("fashion-mnist-rms-pre-lr0.003-s7-"));
}

TEST(RunId, ChangesWithEveryFieldThatDecidesTheCurve) {
  const nlohmann::json base = unusual_config();
  std::set<std::string> ids = {run_id(base.get<RunConfig>())};
  std::size_t changed = 0;
  for (const auto& [name, value] : base.items()) {
    if (name == "source" || name == "training_version") continue;
    nlohmann::json other = base;
    if (value.is_string()) {
      other[name] = value.get<std::string>() + "x";
    } else if (value.is_number_float()) {
      other[name] = value.get<double>() + 0.5;
    } else {
      other[name] = value.get<std::uint64_t>() / 2 + 1000;
    }
    ids.insert(run_id(other.get<RunConfig>()));
    ++changed;
  }
  EXPECT_EQ(ids.size(), changed + 1);
}

TEST(RunId, DoesNotDependOnWhereTheDataLies) {
  RunConfig config = unusual_config();
  const std::string id = run_id(config);
  config.source = "/elsewhere/a.txt";
  EXPECT_EQ(run_id(config), id);
}

}  // namespace
}  // namespace equinorm::lab
