// The stated bounds, in the one place that documentation, tests and `equinorm check` read, and
// errors measured against the truth oracle.
//
// The one trap: errors have two units, see docs/numerics.md section 6. A bound is the sum of parts
// in either.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/execution.hpp"

namespace equinorm::conformance {

enum class Output : std::uint8_t {
  y,
  dx,
  dgamma,
  dbeta,
  h,  ///< of fused_norm; so on below
  dresidual,
  dscale,
  dshift,
  dgate,
  int8,    ///< y from 8 bits, in units of the row's scale
  fp8,     ///< likewise
  dalpha,  ///< of blended_norm and dynamic_tanh
};

const char* name_of(Output output);  ///< "y", "dx", ...

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
  double scale_ulp = 0;     ///< in scale ulp, less the output ulp that the bound grants
  double output_ulp = 0;    ///< in ulp of the output's type at the exact value
  double row_ulp = 0;       ///< y, dx: in spacings of C at the row's size, less the same
  double share = 0;         ///< of the bound; at most 1 where the bound holds
  double bound = HUGE_VAL;  ///< the least bound it was held against, in scale ulp
};

/// p of docs/numerics.md section 6: roundings between an element and the sum of its lane; and w.
int roundings_in_reduction(std::int64_t cols, bool in_f64);
double depth_of(std::int64_t cols, bool in_f64);
/// Additions between a term of a sum over rows and the sum, where each is in f64 row by row.
double additions_in_rows(std::int64_t rows);

#if EQUINORM_HAS_TRUTH
/// One output and its exact results. Element i has scale[i / elements_per_scale], and so for size.
struct Part {
  Output output;
  DType type;
  const std::vector<std::uint64_t>& bits;
  const std::vector<truth::Value>& exact;
  const std::vector<truth::Value>& scale;
  const std::vector<truth::Value>& size;
  std::int64_t elements_per_scale;
  /// Where the scale is 2^limit or more partial results may overflow, and no bound is stated.
  std::int64_t limit = INT64_MAX;
};
/// error / granted; infinity where an error is held against nothing.
double share_of(double error, double granted);
inline constexpr std::int64_t kSumLimit = 1023;  ///< of sums in f64
Errors measure(DType compute, const Bound& bound, const Part& part);

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
