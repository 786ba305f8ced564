// Placements: where a Transformer's norms stand around its sublayers, what the residual stream is
// multiplied by, and which initial weights belong to it. Data only; residual_connection.hpp and the
// layers act on it. No LibTorch here, so that the command line and the report can list them.
//
// The one trap: a constant of DeepNorm or T-Fixup depends on the shape of the whole model, not on
// the stack it is used in.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace equinorm::lab {

/// Layers of a model; 0 where it has no such stack.
struct ModelShape {
  int encoder_layers = 0;
  int decoder_layers = 0;
};

enum class Stack { encoder, decoder };

/// Numbers that one stack of a model takes from its shape.
struct StackConstants {
  double residual = 1;    ///< alpha: the stream is multiplied by it before a branch is added
  double weights = 1;     ///< scale of the initial feed-forward, value and output weights
  double embeddings = 1;  ///< scale of the initial embedding
};

/// Which branches end in a norm.
enum class BranchNorm { none, attention, every };

/// What a sublayer x, f(x) -> sum multiplies before it adds.
enum class ResidualScale {
  constant,  ///< StackConstants::residual * x + f
  profiled,  ///< omega * x + f, omega a learned vector whose start one batch decides (Admin)
  gated,     ///< x + a * f, a a learned number that starts at 0 (ReZero)
};

enum class Initialization {
  uniform,  ///< Xavier uniform; embeddings of ids N(0, 1)
  normal,   ///< Xavier normal with the scale as gain; embeddings as above
  small,    ///< Xavier uniform; embeddings of ids with the standard deviation width^-1/2
};

struct Placement {
  const char* name;
  const char* title;  ///< in the report: "Pre-Norm"
  const char* formula;
  const char* source;

  bool norm_before = false;  ///< a sublayer reads norm(x)
  bool norm_sum = false;     ///< the stream behind a sublayer is norm(sum)
  BranchNorm norm_branch = BranchNorm::none;
  bool norm_hidden = false;     ///< a norm behind the first feed-forward matrix and its ReLU
  bool norm_embedding = false;  ///< a norm on the embedding, positions included
  bool norm_final = false;      ///< a norm behind the last layer
  bool head_scale = false;      ///< a learned number per attention head, 1 at the start
  bool layer_input = false;     ///< a layer's input is added once more to its last sum
  double gain = 1;              ///< initial gain of its norms, times what is usual for the norm
  ResidualScale residual_scale = ResidualScale::constant;
  Initialization initialization = Initialization::uniform;
  StackConstants (*constants)(Stack, ModelShape) = nullptr;  ///< null: all 1
};

/// In the order of docs/forms.md.
[[nodiscard]] std::span<const Placement> placements();

[[nodiscard]] const std::vector<std::string>& placement_names();

/// Null for a name that is not in placement_names().
[[nodiscard]] const Placement* find_placement(const std::string& name);

/// Throws UsageError for a name that is not in placement_names().
[[nodiscard]] const Placement& placement_named(const std::string& name);

/// False where the choice of a norm makes no difference.
[[nodiscard]] bool has_norm(const Placement& placement);

/// The constants of one stack of a model of that shape.
[[nodiscard]] StackConstants constants_of(const Placement& placement, Stack stack,
                                          ModelShape shape);

}  // namespace equinorm::lab
