#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "core_contenders.hpp"
#include "tensors.hpp"
#if EQUINORM_BENCH_TORCH
#include "torch_contenders.hpp"
#endif

namespace equinorm::bench {

std::vector<Contender> contenders_of(const Case& c, const Tensors& tensors) {
  std::vector<Contender> all;
  if (info_of(c.op).in_core) all.push_back(core_contender(c, tensors));
#if EQUINORM_BENCH_TORCH
  for (auto& contender : torch_contenders(c, tensors)) all.push_back(std::move(contender));
#endif
  all.push_back(copy_contender(c));
  return all;
}

namespace {

std::size_t index_of(const std::vector<Contender>& contenders, const std::string& name) {
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].name == name) return i;
  }
  return 0;
}

}  // namespace

std::string find_fault(const std::vector<Contender>& contenders) {
  std::vector<std::byte> core;
  for (const auto& contender : contenders) {
    contender.call();
    const auto got = contender.result();
    if (contender.name == "equinorm") core = got;
    if (contender.name == "equinorm.torch" && !core.empty() && got != core) {
      return "equinorm.torch and equinorm differ in bits";
    }
    const auto zero = [](std::byte b) { return b == std::byte{0}; };
    if (contender.name == "copy" && !std::all_of(got.begin(), got.end(), zero)) {
      return "the copy differs from its source";
    }
  }
  return "";
}

bool has_torch() noexcept { return EQUINORM_BENCH_TORCH != 0; }

CaseResult run_case(const Case& c, double seconds) {
  CaseResult result{c, bytes_moved(c), has_torch() ? "equinorm.torch" : "equinorm", {}, ""};
  const Tensors tensors = make_tensors(c);
  const auto contenders = contenders_of(c, tensors);
  result.fault = find_fault(contenders);
  if (!result.fault.empty()) return result;
  const auto timings = time_alternating(contenders, seconds);
  const Timing& copy = timings[index_of(contenders, "copy")];
  const Timing& baseline = timings[index_of(contenders, result.baseline)];
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    ContenderResult line{contenders[i].name,
                         contenders[i].outputs,
                         timings[i].calls_per_round,
                         static_cast<std::int64_t>(timings[i].seconds.size()),
                         quartiles(timings[i].seconds),
                         0,
                         ratio(copy, timings[i]),
                         ratio(timings[i], baseline)};
    line.gb_per_s = static_cast<double>(result.bytes) / line.seconds.median / 1e9;
    result.contenders.push_back(line);
  }
  return result;
}

}  // namespace equinorm::bench
