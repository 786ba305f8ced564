// The forms of row norm that have names: one line each, with the constants that the source gives.
// This list drives the kernels' tests, the norms of `equinorm compare`, `equinorm forms` and
// docs/forms.md.
//
// Where an article, a paper and its code differ, each has a name of its own. gamma is the gain, w
// the weight as a model stores it; mu and v are mean and biased variance of the row, s its unbiased
// standard deviation, r the root of mean(x^2).
#pragma once

#include "equinorm/row_norm.hpp"

namespace equinorm {

struct NamedForm {
  const char* name;
  RowForm form;
  bool bias;  ///< the source adds beta
  const char* formula;
  const char* source;
};

// clang-format off
inline constexpr NamedForm kRowForms[] = {
    {"LayerNorm", {}, true,
     "gamma (x - mu) / sqrt(v + eps) + beta", "Ba 2016; PyTorch"},
    {"LayerNormSimple", {.gain = Gain::none}, false,
     "(x - mu) / sqrt(v + eps)", "Xu 2019; DiT, OLMo 1"},
    {"DetachNorm", {.gain = Gain::none, .detach_mean = true, .detach_spread = true}, false,
     "(x - mu) / sqrt(v + eps), mu and v constant in the backward pass", "Xu 2019"},
    {"DetachMean", {.gain = Gain::none, .detach_mean = true}, false,
     "(x - mu) / sqrt(v + eps), mu constant in the backward pass", "Xu 2019"},
    {"DetachVar", {.gain = Gain::none, .detach_spread = true}, false,
     "(x - mu) / sqrt(v + eps), v constant in the backward pass", "Xu 2019"},
    {"RMSNorm", {.centered = false}, false,
     "gamma x / sqrt(r^2 + eps)", "LLaMA, T5"},
    {"RMSNormOnePlus", {.centered = false, .gain = Gain::one_plus, .eps = 1e-6}, false,
     "(1 + w) x / sqrt(r^2 + eps)", "Gemma"},
    {"RmsNormPaper", {.centered = false, .eps = 0}, false,
     "gamma x / r", "Zhang and Sennrich 2019"},
    {"RmsNormOfficial", {.centered = false, .spread = Spread::added, .eps = 1e-8}, true,
     "gamma x / (r + eps) + beta", "code of Zhang and Sennrich 2019"},
    {"RmsNormPartial", {.centered = false, .spread = Spread::added, .eps = 1e-8, .part = 0.0625}, true,
     "gamma x / (r + eps) + beta, r over the first 6.25 % of the columns",
     "pRMSNorm in the code of Zhang and Sennrich 2019"},
    {"RmsNormClamp", {.centered = false, .spread = Spread::clamped, .eps = 1e-8}, false,
     "gamma x / max(r, eps)", "code that circulates in articles"},
    {"RmsNormPlain", {.centered = false, .gain = Gain::none}, false,
     "x / sqrt(r^2 + eps)", "code that circulates in articles"},
    {"AdaNorm", {.gain = Gain::adaptive}, false,
     "C (1 - k y) y, y = (x - mu) / sqrt(v + eps), the factor constant in the backward pass",
     "Xu 2019"},
    {"AdaNormOfficial", {.spread = Spread::added, .unbiased = true, .gain = Gain::adaptive}, false,
     "C (1 - k y) y, y = (x - mu) / (s + eps), the factor constant in the backward pass",
     "code of Xu 2019"},
    {"ScaledStandardize", {.spread = Spread::added, .unbiased = true, .gain = Gain::scalar, .eps = 1e-6}, false,
     "alpha (x - mu) / (s + eps), alpha a number", "code that circulates as AdaNorm"},
    {"ScaleNorm", {.centered = false, .spread = Spread::length, .gain = Gain::scalar, .eps = 0}, false,
     "g x / |x|, g a number", "Nguyen and Salazar 2019"},
};
// clang-format on

}  // namespace equinorm
