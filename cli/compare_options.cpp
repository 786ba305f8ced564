#include "compare_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <thread>

#include "command.hpp"
#include "lab/models/norm_names.hpp"
#include "lab/models/placement.hpp"
#include "lab/nearest.hpp"

namespace equinorm::cli {
namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::int64_t kMillion = 1'000'000;

/// A setting that is a whole number of RunConfig.
struct IntSetting {
  const char* option;
  int lab::RunConfig::*field;
  std::int64_t low;
  std::int64_t high;
};

constexpr IntSetting kIntSettings[] = {
    {"--steps", &lab::RunConfig::steps, 1, kMillion},
    {"--depth", &lab::RunConfig::depth, 1, 200},
    {"--width", &lab::RunConfig::width, 1, 8192},
    {"--heads", &lab::RunConfig::heads, 1, 256},
    {"--ffn", &lab::RunConfig::ffn, 1, 65536},
    {"--context", &lab::RunConfig::context, 2, 8192},
    {"--batch", &lab::RunConfig::batch, 1, 65536},
    {"--warmup", &lab::RunConfig::warmup, 0, kMillion},
    {"--eval-every", &lab::RunConfig::eval_every, 1, kMillion},
    {"--instrument-every", &lab::RunConfig::instrument_every, 0, kMillion},
};

[[noreturn]] void reject(const std::string& option, const std::string& value,
                         const std::string& rule) {
  throw UsageError(fmt::format("{} = '{}': {}", option, value, rule));
}

const std::string* given(const Texts& texts, const std::string& option) {
  const auto text = texts.find(option);
  if (text == texts.end()) return nullptr;
  if (text->second.empty()) reject(option, "", "must not be empty");
  return &text->second;
}

template <class Number>
bool read_number(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

std::int64_t parse_int(const std::string& option, const std::string& text, std::int64_t low,
                       std::int64_t high) {
  std::int64_t value = 0;
  if (!read_number(text, value) || value < low || value > high) {
    reject(option, text, fmt::format("must be a whole number from {} to {}", low, high));
  }
  return value;
}

double parse_real(const std::string& option, const std::string& text, const std::string& rule,
                  bool (*allowed)(double)) {
  double value = 0;
  if (!read_number(text, value) || !std::isfinite(value) || !allowed(value)) {
    reject(option, text, rule);
  }
  return value;
}

/// The parts between commas; none may be empty or come twice.
std::vector<std::string> parse_list(const std::string& option, const std::string& text) {
  std::vector<std::string> parts;
  std::set<std::string> seen;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty()) reject(option, text, "must be a list like a,b without empty parts");
    if (!seen.insert(parts.back()).second) {
      reject(option, text, fmt::format("must not name '{}' twice", parts.back()));
    }
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> parse_choices(const Texts& texts, const std::string& option,
                                       const std::vector<std::string>& choices,
                                       std::vector<std::string> fallback) {
  const std::string* text = given(texts, option);
  if (text == nullptr) return fallback;
  std::vector<std::string> parts = parse_list(option, *text);
  for (const std::string& part : parts) {
    if (std::find(choices.begin(), choices.end(), part) == choices.end()) {
      reject(option, part, lab::one_of("must be one of", part, choices));
    }
  }
  return parts;
}

std::vector<double> parse_rates(const Texts& texts) {
  const std::string* text = given(texts, "--lr");
  if (text == nullptr) return {1e-3, 3e-3};
  std::vector<double> rates;
  for (const std::string& part : parse_list("--lr", *text)) {
    const double rate = parse_real("--lr", part, "must be above 0 and at most 10",
                                   [](double value) { return value > 0 && value <= 10; });
    if (std::find(rates.begin(), rates.end(), rate) != rates.end()) {
      reject("--lr", *text, fmt::format("must not name {} twice", rate));
    }
    rates.push_back(rate);
  }
  return rates;
}

std::vector<std::uint64_t> parse_seeds(const Texts& texts) {
  constexpr std::int64_t kGreatest = std::int64_t{1} << 62;
  std::int64_t first = 0;
  if (const std::string* text = given(texts, "--seed")) {
    first = parse_int("--seed", *text, 0, kGreatest);
  }
  std::int64_t count = 3;
  if (const std::string* text = given(texts, "--seeds")) {
    if (text->find(',') != std::string::npos) {
      if (given(texts, "--seed") != nullptr) {
        reject("--seeds", *text, "must be a count where --seed is given, not a list");
      }
      std::vector<std::uint64_t> seeds;
      for (const std::string& part : parse_list("--seeds", *text)) {
        const auto seed = static_cast<std::uint64_t>(parse_int("--seeds", part, 0, kGreatest));
        if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
          reject("--seeds", *text, fmt::format("must not name {} twice", seed));
        }
        seeds.push_back(seed);
      }
      return seeds;
    }
    count = parse_int("--seeds", *text, 1, 1000);
  }
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < count; ++i) seeds.push_back(static_cast<std::uint64_t>(first + i));
  return seeds;
}

lab::RunConfig parse_settings(const Texts& texts) {
  lab::RunConfig settings;
  settings.steps = 200;
  settings.depth = 3;
  settings.batch = 16;
  settings.context = 32;
  settings.eval_every = 25;
  for (const IntSetting& setting : kIntSettings) {
    if (const std::string* text = given(texts, setting.option)) {
      settings.*setting.field =
          static_cast<int>(parse_int(setting.option, *text, setting.low, setting.high));
    }
  }
  if (const std::string* text = given(texts, "--qk-norm")) {
    const auto& choices = lab::qk_norm_names();
    if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
      reject("--qk-norm", *text, lab::one_of("must be one of", *text, choices));
    }
    settings.qk_norm = *text;
  }
  // A short run still gets to its full rate, and a narrow model the usual ratio.
  if (given(texts, "--warmup") == nullptr) settings.warmup = settings.steps / 10;
  if (given(texts, "--ffn") == nullptr) settings.ffn = 4 * settings.width;
  if (const std::string* text = given(texts, "--dropout")) {
    settings.dropout = parse_real("--dropout", *text, "must be at least 0 and below 1",
                                  [](double value) { return value >= 0 && value < 1; });
  }
  if (const std::string* text = given(texts, "--clip")) {
    settings.clip = parse_real("--clip", *text, "must be at least 0 (0: no clipping)",
                               [](double value) { return value >= 0; });
  }
  return settings;
}

bool is_image_task(const std::string& task) { return task == "fashion-mnist" || task == "idx"; }

double parse_target(const Texts& texts, const std::vector<lab::RunConfig>& tasks,
                    const std::string& task) {
  const std::string* text = given(texts, "--target");
  if (text == nullptr) return is_image_task(task) ? 0.7 : 2.5;
  for (const lab::RunConfig& other : tasks) {
    if (is_image_task(other.task) != is_image_task(task)) {
      reject("--target", *text,
             "must be given for tasks of one kind: images count accuracy, texts count loss");
    }
  }
  if (is_image_task(task)) {
    return parse_real("--target", *text, "must be an accuracy above 0 and at most 1",
                      [](double value) { return value > 0 && value <= 1; });
  }
  return parse_real("--target", *text, "must be a loss above 0",
                    [](double value) { return value > 0; });
}

std::vector<lab::RunConfig> parse_tasks(const Texts& texts) {
  const lab::RunConfig settings = parse_settings(texts);
  const std::string* file = given(texts, "--text");
  const std::string* images = given(texts, "--idx");
  std::vector<std::string> fallback;
  if (file == nullptr && images == nullptr) fallback.push_back("fashion-mnist");
  std::vector<lab::RunConfig> tasks;
  const auto add = [&](const std::string& task, const std::string& source) {
    tasks.push_back(settings);
    tasks.back().task = task;
    tasks.back().source = source;
  };
  for (const auto& task : parse_choices(texts, "--task", {"fashion-mnist", "bible"}, fallback)) {
    add(task, "");
  }
  if (file != nullptr) add("text", *file);
  if (images != nullptr) add("idx", *images);
  for (lab::RunConfig& task : tasks) task.target = parse_target(texts, tasks, task.task);
  return tasks;
}

}  // namespace

const std::vector<OptionText>& compare_option_texts() {
  static const std::vector<OptionText> texts = {
      {"--task", "LIST",
       "of fashion-mnist,bible; in addition to --text and --idx (default without those: "
       "fashion-mnist)"},
      {"--text", "FILE", "a text of your own: predict its next character"},
      {"--idx", "DIR", "labelled images of your own: the four IDX files of MNIST, .gz or not"},
      {"--norm", "LIST",
       "of none,batch,layer,rms (default: these) and the names that 'equinorm forms' lists"},
      {"--placement", "LIST",
       "of pre,post (default: these) and the others that 'equinorm forms' lists"},
      {"--qk-norm", "NAME",
       "norm of queries and keys in every arm, one of none,rms,layer,l2 (default none)"},
      {"--lr", "LIST", "learning rates; the best one per arm is reported (default 0.001,0.003)"},
      {"--seeds", "N",
       "number of seeds, or a list like 3,5,8 (default 3, the fewest that "
       "can show a difference)"},
      {"--seed", "N", "first seed (default 0)"},
      {"--steps", "N", "training steps per run (default 200)"},
      {"--depth", "N", "Transformer layers (default 3)"},
      {"--width", "N", "width of the model (default 64)"},
      {"--heads", "N", "attention heads; they divide the width (default 4)"},
      {"--ffn", "N", "hidden width of the feed-forward network (default 4 x width)"},
      {"--context", "N", "characters per sample of a text task (default 32)"},
      {"--dropout", "P", "dropout probability (default 0.1)"},
      {"--batch", "N", "samples per step (default 16)"},
      {"--warmup", "N", "steps of linear learning-rate warm-up (default a tenth of the steps)"},
      {"--clip", "X", "limit of the gradient norm, 0 for none (default 0)"},
      {"--eval-every", "N", "steps between evaluations (default 25)"},
      {"--instrument-every", "N",
       "steps between samples of the layers, at least 2, or 0 for none (default 25)"},
      {"--target", "X",
       "what steps-to-target waits for: accuracy (default 0.7), of texts loss "
       "(default 2.5)"},
      {"--jobs", "N", "runs side by side, one thread each (default: the number of cores)"},
      {"--out", "DIR", "where everything goes; a second start resumes (default out/compare)"},
      {"--cache", "DIR", "cache of prepared data (default ~/.cache/equinorm)"},
  };
  return texts;
}

CompareOptions parse_compare_options(const Texts& texts) {
  CompareOptions options;
  options.plan.tasks = parse_tasks(texts);
  options.plan.arms = lab::plan_arms(
      parse_choices(texts, "--norm", lab::norm_names(), {"none", "batch", "layer", "rms"}),
      parse_choices(texts, "--placement", lab::placement_names(), {"pre", "post"}));
  options.plan.learning_rates = parse_rates(texts);
  options.plan.seeds = parse_seeds(texts);
  const std::string* out = given(texts, "--out");
  options.out = out == nullptr ? "out/compare" : *out;
  if (const std::string* cache = given(texts, "--cache")) options.cache = *cache;
  options.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (const std::string* jobs = given(texts, "--jobs")) {
    options.jobs = static_cast<int>(parse_int("--jobs", *jobs, 1, 1024));
  }
  return options;
}

}  // namespace equinorm::cli
