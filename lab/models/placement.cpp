// The table of placements and the constants that depend on a model's shape.
//
// Not here: how a model acts on an entry. The one trap: `norm` in a formula is the norm that the
// user chose, also where the source names LayerNorm or RMSNorm.
#include "lab/models/placement.hpp"

#include <algorithm>
#include <cmath>

#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

// Wang et al. 2022, table 1; N and M are the layers of encoder and decoder.
StackConstants deepnorm_constants(Stack stack, ModelShape shape) {
  const double n = shape.encoder_layers;
  const double m = shape.decoder_layers;
  if (stack == Stack::encoder) {
    if (shape.decoder_layers == 0) return {std::pow(2 * n, 0.25), std::pow(8 * n, -0.25), 1};
    const double layers = std::pow(n, 4) * m;
    return {0.81 * std::pow(layers, 1.0 / 16), 0.87 * std::pow(layers, -1.0 / 16), 1};
  }
  if (shape.encoder_layers == 0) return {std::pow(2 * m, 0.25), std::pow(8 * m, -0.25), 1};
  return {std::pow(3 * m, 0.25), std::pow(12 * m, -0.25), 1};
}

// Huang et al. 2020, section 3.2; N are the layers of the stack.
StackConstants tfixup_constants(Stack stack, ModelShape shape) {
  const double n = stack == Stack::encoder ? shape.encoder_layers : shape.decoder_layers;
  const double nine = std::pow(9 * n, -0.25);
  return {1, stack == Stack::encoder ? 0.67 * std::pow(n, -0.25) : nine, nine};
}

constexpr Placement kPlacements[] = {
    {.name = "post",
     .title = "Post-Norm",
     .formula = "x = norm(x + f(x))",
     .source = "Vaswani 2017",
     .norm_sum = true},
    {.name = "pre",
     .title = "Pre-Norm",
     .formula = "x = x + f(norm(x)), final norm",
     .source = "Xiong 2020",
     .norm_before = true,
     .norm_final = true},
    {.name = "pre_no_final",
     .title = "Pre-Norm without final norm",
     .formula = "x = x + f(norm(x))",
     .source = "diagrams that circulate in articles",
     .norm_before = true},
    {.name = "deepnorm",
     .title = "DeepNorm",
     .formula =
         "x = norm(alpha x + f(x)); Xavier normal, feed-forward, value and output times beta",
     .source = "Wang 2022",
     .norm_sum = true,
     .initialization = Initialization::normal,
     .constants = deepnorm_constants},
    {.name = "sandwich",
     .title = "Sandwich",
     .formula = "x = x + norm(f(norm(x)))",
     .source = "CogView, Ding 2021",
     .norm_before = true,
     .norm_branch = BranchNorm::every},
    {.name = "peri",
     .title = "Peri-LN",
     .formula = "x = x + norm(f(norm(x))), norm on the embedding, final norm",
     .source = "Kim 2025",
     .norm_before = true,
     .norm_branch = BranchNorm::every,
     .norm_embedding = true,
     .norm_final = true},
    {.name = "output",
     .title = "Output norm",
     .formula = "x = x + norm(f(x))",
     .source = "OLMo 2, there with RMSNorm",
     .norm_branch = BranchNorm::every},
    {.name = "normformer",
     .title = "NormFormer",
     .formula = "pre; norm behind attention, a scale per head, norm behind the first feed-forward "
                "matrix and its ReLU",
     .source = "Shleifer 2021",
     .norm_before = true,
     .norm_branch = BranchNorm::attention,
     .norm_hidden = true,
     .norm_final = true,
     .head_scale = true},
    {.name = "rezero",
     .title = "ReZero",
     .formula = "x = x + a f(x), a = 0 at the start, no norm",
     .source = "Bachlechner 2020",
     .residual_scale = ResidualScale::gated},
    {.name = "admin",
     .title = "Admin",
     .formula = "x = norm(omega x + f(x)); omega from one batch: 1, then sqrt(Var(omega x) + "
                "Var(f(x))) of the sublayer before",
     .source = "Liu 2020",
     .norm_sum = true,
     .residual_scale = ResidualScale::profiled},
    {.name = "tfixup",
     .title = "T-Fixup",
     .formula = "x = x + f(x), no norm; feed-forward, value and output times 0.67 N^-1/4 (encoder) "
                "or (9 N)^-1/4 (decoder), embeddings N(0, d^-1/2) times (9 N)^-1/4",
     .source = "Huang 2020",
     .initialization = Initialization::small,
     .constants = tfixup_constants},
    {.name = "b2t",
     .title = "B2T",
     .formula = "x = norm(x + f(x)); the last sum of a layer also adds the layer's input",
     .source = "Takase 2022",
     .norm_sum = true,
     .layer_input = true},
    {.name = "gain_half",
     .title = "Post-Norm, gain 0.5",
     .formula = "x = norm(x + f(x)), gains start at 0.5",
     .source = "code that circulates as DeepNorm",
     .norm_sum = true,
     .gain = 0.5},
    {.name = "none", .title = "no norm", .formula = "x = x + f(x)", .source = "He 2016"},
};

}  // namespace

std::span<const Placement> placements() { return kPlacements; }

const std::vector<std::string>& placement_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Placement& placement : kPlacements) all.emplace_back(placement.name);
    return all;
  }();
  return names;
}

const Placement* find_placement(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kPlacements), std::end(kPlacements),
                   [&](const Placement& placement) { return name == placement.name; });
  return found == std::end(kPlacements) ? nullptr : found;
}

const Placement& placement_named(const std::string& name) {
  if (const Placement* found = find_placement(name)) return *found;
  std::string names;
  for (const std::string& known : placement_names()) names += (names.empty() ? "" : ", ") + known;
  throw UsageError("placement = '" + name + "': must be one of " + names);
}

bool has_norm(const Placement& placement) {
  return placement.norm_before || placement.norm_sum || placement.norm_branch != BranchNorm::none ||
         placement.norm_hidden || placement.norm_embedding || placement.norm_final;
}

StackConstants constants_of(const Placement& placement, Stack stack, ModelShape shape) {
  return placement.constants == nullptr ? StackConstants{} : placement.constants(stack, shape);
}

}  // namespace equinorm::lab
