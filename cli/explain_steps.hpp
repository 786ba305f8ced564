// The three steps of LayerNorm and RMSNorm on one row, with every intermediate number.
//
// Results, and the factor 1 / sqrt(variance + eps), come from the library's kernels. Mean, variance
// and mean square are computed here in long double from the row that the kernels saw.
#pragma once

#include <string>
#include <vector>

#include "equinorm/types.hpp"

namespace equinorm::cli {

struct ExplainRequest {
  std::vector<double> x;
  std::vector<double> gain;  ///< empty: 1
  std::vector<double> bias;  ///< empty: 0; LayerNorm only
  DType dtype = DType::f64;
  double eps = 1e-5;
};

struct Steps {
  double mean = 0;      ///< LayerNorm only
  double variance = 0;  ///< LayerNorm: biased variance; RMSNorm: mean square
  double rstd = 0;      ///< as the kernel saved it
  std::vector<double> normalized;
  std::vector<double> y;
  bool exact_path = false;
};

/// A common wrong answer for this row, or a caution when `values` is empty.
struct Pitfall {
  std::string text;
  std::vector<double> values;
};

struct Explanation {
  std::vector<double> x;  ///< after rounding to the element type
  bool rounded = false;   ///< whether that changed a number
  Steps layer_norm;
  Steps rms_norm;
  std::vector<Pitfall> pitfalls;
};

/// Throws equinorm::Error when the library refuses an argument.
Explanation explain_row(const ExplainRequest& request);

/// explain_pitfalls.cpp: what commonly goes wrong with exactly these numbers.
std::vector<Pitfall> find_pitfalls(const Explanation& explanation, const ExplainRequest& request);

}  // namespace equinorm::cli
