// The stated bounds, in the one place that documentation, tests and `equinorm check` read, and
// errors measured against the truth oracle.
//
// The one trap: errors have two units, see docs/numerics.md section 6. A bound is the sum of parts
// in either.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/execution.hpp"

namespace equinorm::conformance {

enum class Output : std::uint8_t { y, dx, dgamma, dbeta };

const char* name_of(Output output);  ///< "y", "dx", "dgamma", "dbeta"

/// |error| <= output_ulp output ulp + scale_ulp scale ulp, as in docs/numerics.md section 6.
struct Bound {
  double output_ulp;
  double scale_ulp;
};

/// The bound of an output of the problem, guaranteed for every finite input.
Bound bound_of(Output output, const Problem& problem);

/// dgamma and dbeta where `segment` columns share a parameter: the sums of a row count too.
Bound segment_bound_of(Output output, const Problem& problem, std::int64_t segment);

/// What is measured, not guaranteed: over the kinds of input for which is_typical() holds and rows
/// of at least kTypicalColumns, y or dx stays within so many row ulp in standard accuracy.
double typical_row_ulp(Output output, DType compute);
inline constexpr std::int64_t kTypicalColumns = 64;
bool is_typical(Family family);

/// "4 scale ulp", "0.5 output ulp + 4 scale ulp"
std::string describe(const Bound& bound);

/// The worst errors of one output.
struct Errors {
  Output output = Output::y;
  double scale_ulp = 0;   ///< in scale ulp, less the output ulp that the bound grants
  double output_ulp = 0;  ///< in ulp of the output's type at the exact value
  double row_ulp = 0;     ///< y, dx: in spacings of C at the row's size, less the same
  double share = 0;       ///< of the bound; at most 1 where the bound holds
};

#if EQUINORM_HAS_TRUTH
/// Errors of the outputs that are there against exact results; rows have `cols` columns.
std::vector<Errors> measure(const Types& types, std::int64_t cols,
                            const std::function<Bound(Output)>& bound, const Outputs& outputs,
                            const truth::Forward& forward, const truth::Backward& backward);

/// The exact results of a problem, to hold any number of outputs against.
class Yardstick {
 public:
  Yardstick(const Problem& problem, const Inputs& inputs);

  /// Errors of the outputs that are there: y, or dx, dgamma and dbeta.
  [[nodiscard]] std::vector<Errors> measure(const Outputs& outputs) const;

 private:
  Problem problem_;
  truth::Forward forward_;
  truth::Backward backward_;
};
#endif

/// Takes the larger of each number.
void merge(const Errors& errors, std::vector<Errors>& worst);

}  // namespace equinorm::conformance
