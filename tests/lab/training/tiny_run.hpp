// Real training runs that take milliseconds.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "../temporary_directory.hpp"
#include "lab/train.hpp"

namespace equinorm::lab {

/// A text that repeats a sentence with a growing number, some 4,000 characters.
inline std::string tiny_text() {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "the norm of row " + std::to_string(i) + " does not change it;\n";
  }
  return text;
}

inline RunConfig tiny_config(const TemporaryDirectory& directory) {
  RunConfig config;
  config.task = "text";
  config.source = directory.write("text.txt", tiny_text()).string();
  config.depth = 2;
  config.width = 16;
  config.heads = 2;
  config.ffn = 32;
  config.context = 16;
  config.batch = 4;
  config.steps = 12;
  config.warmup = 3;
  config.learning_rate = 1e-2;
  config.eval_every = 5;
  config.instrument_every = 4;
  return config;
}

inline std::vector<nlohmann::json> events_of(const std::filesystem::path& run_dir) {
  std::vector<nlohmann::json> events;
  std::istringstream lines(content_of(run_dir / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) events.push_back(nlohmann::json::parse(line));
  return events;
}

}  // namespace equinorm::lab
