// Runs one case: brings in its contenders, checks that they agree, times them, compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "case.hpp"
#include "tensors.hpp"
#include "timing.hpp"

namespace equinorm::bench {

struct ContenderResult {
  std::string name;
  std::string outputs;  ///< "reused" or "fresh", as Contender
  std::int64_t calls_per_round = 0;
  std::int64_t rounds = 0;
  Quartiles seconds;     ///< per call
  double gb_per_s = 0;   ///< bytes moved / median time / 1e9
  Quartiles copy_share;  ///< time of the copy / own time
  Quartiles time_ratio;  ///< own time / time of `baseline`
};

struct CaseResult {
  Case what;
  std::int64_t bytes = 0;
  std::string baseline;  ///< the Equinorm that competes on equal terms: "equinorm.torch" if built
  std::vector<ContenderResult> contenders;
  std::string fault;  ///< who computed something wrong; such a case is not timed
};

/// Whether PyTorch and the LibTorch front end are among the contenders of this build.
bool has_torch() noexcept;

/// Who competes; `tensors` must outlive them.
std::vector<Contender> contenders_of(const Case& c, const Tensors& tensors);

/// Runs each contender once and returns what is wrong, or "". The front end must give the core's
/// bits and the copy its source; PyTorch has its own numerics.
std::string find_fault(const std::vector<Contender>& contenders);

CaseResult run_case(const Case& c, double seconds);

}  // namespace equinorm::bench
