#include "print.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace equinorm::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoTorch =
    "built without LibTorch: PyTorch and the LibTorch front end are absent";

std::string value_of(const std::map<std::string, std::string>& environment, const char* key) {
  const auto found = environment.find(key);
  return found == environment.end() ? "unknown" : found->second;
}

std::string spread(const Quartiles& q) {
  return fmt::format("{:.2f} [{:.2f} {:.2f}]", q.median, q.lower, q.upper);
}

Json json_of(const Quartiles& q) {
  return {{"lower", q.lower}, {"median", q.median}, {"upper", q.upper}};
}

Json json_of(const ContenderResult& line) {
  return {{"name", line.name},
          {"outputs", line.outputs},
          {"calls_per_round", line.calls_per_round},
          {"rounds", line.rounds},
          {"seconds", json_of(line.seconds)},
          {"gb_per_s", line.gb_per_s},
          {"copy_share", json_of(line.copy_share)},
          {"time_ratio", json_of(line.time_ratio)}};
}

Json json_of(const CaseResult& result) {
  Json contenders = Json::array();
  for (const auto& line : result.contenders) contenders.push_back(json_of(line));
  return {{"op", info_of(result.what.op).name},
          {"peer", info_of(result.what.op).peer},
          {"direction", name_of(result.what.direction)},
          {"dtype", equinorm::name_of(result.what.dtype)},
          {"rows", result.what.rows},
          {"cols", result.what.cols},
          {"threads", result.what.threads},
          {"bytes", result.bytes},
          {"baseline", result.baseline},
          {"fault", result.fault.empty() ? Json() : Json(result.fault)},
          {"contenders", contenders}};
}

}  // namespace

std::string text_header(const std::map<std::string, std::string>& environment) {
  std::string text =
      fmt::format("{}, {} cores, {}; equinorm {}, numerics {}; torch {}; {}\n",
                  value_of(environment, "machine.cpu"), value_of(environment, "machine.cores"),
                  value_of(environment, "isa.chosen"), value_of(environment, "version"),
                  value_of(environment, "numerics_version"), value_of(environment, "build.torch"),
                  value_of(environment, "build.compiler"));
  if (!has_torch()) text += fmt::format("{}\n", kNoTorch);
  text += fmt::format(
      "Median [quartiles] per call. share: of the copy's bandwidth. time: relative to {} in the\n"
      "same round, so 2 took twice as long. outputs: written to the same memory each call\n"
      "(reused) or newly allocated (fresh).\n",
      has_torch() ? "equinorm.torch" : "equinorm");
  return text;
}

std::string text_of(const CaseResult& result) {
  const Case& c = result.what;
  std::string text =
      fmt::format("\n{} {} {} {}x{}, {} thread{}, {:.2f} MB moved\n", info_of(c.op).name,
                  name_of(c.direction), equinorm::name_of(c.dtype), c.rows, c.cols, c.threads,
                  c.threads == 1 ? "" : "s", static_cast<double>(result.bytes) / 1e6);
  if (!result.fault.empty()) return text + fmt::format("  WRONG: {}\n", result.fault);
  text += fmt::format("  {:<15}{:<8}{:>30}{:>8}{:>20}{:>20}\n", "", "outputs", "microseconds",
                      "GB/s", "share", "time");
  for (const auto& line : result.contenders) {
    const Quartiles us{line.seconds.lower * 1e6, line.seconds.median * 1e6,
                       line.seconds.upper * 1e6};
    text +=
        fmt::format("  {:<15}{:<8}{:>30}{:>8.2f}{:>20}{:>20}\n", line.name, line.outputs,
                    spread(us), line.gb_per_s, spread(line.copy_share), spread(line.time_ratio));
  }
  return text;
}

std::string json_of(const std::map<std::string, std::string>& environment, double seconds,
                    const std::vector<CaseResult>& results) {
  Json cases = Json::array();
  for (const auto& result : results) cases.push_back(json_of(result));
  Json document = {{"environment", environment},
                   {"seconds_per_case", seconds},
                   {"absent", has_torch() ? Json() : Json(kNoTorch)},
                   {"cases", cases}};
  return document.dump(2) + "\n";
}

}  // namespace equinorm::bench
