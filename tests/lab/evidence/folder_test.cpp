// What is said about a lab's folder that somebody has edited.
#include "lab/evidence/lab_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up.hpp"

namespace equinorm::lab {
namespace {

using testing::declaration_text;
using ::testing::EndsWith;

/// What loading says when experiments/M1.json holds `json`.
std::string complaint(const std::string& json) {
  const TemporaryDirectory folder;
  store_experiment(folder.path(), {parse_declaration(declaration_text(), "M1.toml"), {}});
  write_atomically(folder.path() / "experiments" / "M1.json", json);
  return message_of<InputError>([&] { static_cast<void>(load_experiments(folder.path())); });
}

std::string with_seeds(const std::string& seeds) {
  return R"({"tier": "quick", "source_sha256": {}, "seeds": )" + seeds + "}";
}

TEST(LabFolder, NamesTheFileTheKeyAndTheRuleOfAWrongNumberOfSeeds) {
  for (const std::string seeds : {"-1", "0", "1001", "1.5", "\"three\"", "[]"}) {
    EXPECT_THAT(complaint(with_seeds(seeds)),
                EndsWith("experiments/M1.json: seeds = " + seeds +
                         ": must be null or a whole number from 1 to 1000"));
  }
}

TEST(LabFolder, NamesAWrongTierAndWrongChecksums) {
  EXPECT_THAT(complaint(R"({"tier": "qick", "source_sha256": {}, "seeds": null})"),
              EndsWith("tier = \"qick\": must be one of smoke, quick, standard, full. Did you mean "
                       "quick?"));
  EXPECT_THAT(complaint(R"({"tier": 3, "source_sha256": {}, "seeds": null})"),
              EndsWith("tier = 3: must be one of smoke, quick, standard, full"));
  EXPECT_THAT(complaint(R"({"tier": "quick", "source_sha256": {"bible": 1}, "seeds": null})"),
              EndsWith("source_sha256 = {\"bible\":1}: must be an object of texts"));
}

}  // namespace
}  // namespace equinorm::lab
