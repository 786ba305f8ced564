// The norms and fused operators that have names beside the forms of row_forms.hpp: one line each,
// with the function that computes them. `equinorm forms` and docs/forms.md read this list.
//
// n, c and s are sample, channel and position; mu and v mean and biased variance over what the text
// says, eps 1e-5 where nothing else is said. Parameters are named with their sizes.
#pragma once

namespace equinorm {

struct OperatorForm {
  const char* name;
  const char* formula;
  const char* options;
  const char* parameters;
  const char* source;
  const char* function;  ///< _forward and _backward in the core
};

// clang-format off
inline constexpr OperatorForm kOperatorForms[] = {
    {"BlendedLayerNorm", "alpha LN(x) + (1 - alpha) x",
     "any form of row norm; alpha 1", "alpha (1), gamma (cols), beta (cols)",
     "code that circulates as AdaptiveLN", "blended_norm"},
    {"AdaLN", "(1 + scale) (x - mu) / sqrt(v + eps) + shift",
     "eps 1e-06; per sample or per token, rows_per_group; any form of row norm",
     "scale (groups, cols), shift (groups, cols)", "Peebles and Xie 2023, DiT", "modulated_norm"},
    {"QKNorm", "q / |q| and k / |k| per head, g in place of 1 / sqrt(d)",
     "heads of a packed projection; spread length", "g (1), in the scores",
     "Henry 2020", "head_norm"},
    {"QKNormLearned", "LN or RMS of q and k per head, scores with 1 / sqrt(d)",
     "heads of a packed projection; any form of row norm", "gamma (width) or (heads, width), beta alike",
     "Dehghani 2023, ViT-22B; OLMo 2", "head_norm"},
    {"DyT", "gamma tanh(alpha x) + beta",
     "alpha 0.5", "alpha (1), gamma (cols), beta (cols)", "Zhu 2025", "dynamic_tanh"},
    {"BatchNorm", "gamma_c (x - mu_c) / sqrt(v_c + eps) + beta_c over samples and positions",
     "momentum 0.1, running variance unbiased; training or running statistics",
     "gamma (channels), beta (channels), running_mean, running_variance",
     "Ioffe and Szegedy 2015; PyTorch", "batch_norm"},
    {"MaskedBatchNorm", "BatchNorm over the elements that a mask keeps, 0 elsewhere",
     "mask (samples, positions)", "as BatchNorm", "code of Shen 2020", "batch_norm"},
    {"PerStepBatchNorm", "BatchNorm with statistics of each time step, later steps as the last",
     "per_position", "gamma (channels), beta (channels), running statistics (steps, channels)",
     "Cooijmans 2016", "batch_norm"},
    {"PowerNorm", "gamma x / sqrt(psi^2 + eps) + beta, psi^2 a running mean of x^2 per channel",
     "0.9 forward, 0.9 in its approximate backward pass, warm-up with the batch's psi^2",
     "gamma (channels), beta (channels), running_phi, ema_gz", "Shen 2020 and its code",
     "grouped_norm"},
    {"GroupNorm", "gamma_c (x - mu) / sqrt(v + eps) + beta_c over the channels of a group and all positions",
     "groups; any memory layout", "gamma (channels), beta (channels)", "Wu and He 2018; PyTorch",
     "group_norm"},
    {"InstanceNorm", "GroupNorm with a group per channel",
     "groups = channels; running statistics in the LibTorch front end", "gamma (channels), beta (channels)",
     "Ulyanov 2016; PyTorch", "group_norm"},
    {"LayerNorm2d", "LayerNorm over the channels of each position",
     "eps 1e-06; axes channels", "gamma (channels), beta (channels)", "ConvNeXt, Liu 2022",
     "image_layer_norm"},
    {"LayerNormCHW", "LayerNorm over channels and positions of each sample",
     "axes sample", "gamma (channels, positions), beta alike", "PyTorch; ResNet blocks in articles",
     "image_layer_norm"},
    {"ResidualNorm", "h = residual + gate dropout(x), y = norm(h); h and y",
     "any form of row norm or AdaLN; dropout by Philox (seed, offset); h in a type of its own",
     "those of the norm, gate (groups, cols)", "Transformer blocks; DiT for the gate", "fused_norm"},
    {"QuantizedNorm", "round(y / scale), scale = max|y| / 127 (int8) or / 448 (fp8 e4m3) of the row, or given",
     "int8_per_row, fp8_e4m3_per_row, int8_fixed; with ResidualNorm", "those of the norm",
     "inference engines", "fused_norm"},
};
// clang-format on

}  // namespace equinorm
