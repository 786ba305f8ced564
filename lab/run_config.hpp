// What one training run is: everything that decides its curve, and nothing else. Equal configs give
// equal curves to the last digit; the run directory's name is a hash of this.
#pragma once

#include <cstdint>
#include <string>

namespace equinorm::lab {

/// One run = task x norm x placement x learning rate x seed, with the model and training settings.
struct RunConfig {
  std::string task = "fashion-mnist";  ///< one of task_names()
  std::string model;                   ///< one of model_names(task); empty: the first of them
  std::string source;         ///< the user's own file or directory; empty: the packaged data
  std::string source_sha256;  ///< of the data that was read, so changed data is a new run

  std::string norm = "layer";     ///< one of norms_of(config)
  std::string placement = "pre";  ///< one of placement_names()
  std::string qk_norm = "none";   ///< one of qk_norm_names()
  int depth = 4;                  ///< layers; of a ResNet as its name counts them: 8, 14, ...
  int width = 64;                 ///< model width d; channels of a ResNet's first stage
  int heads = 4;
  int ffn = 256;     ///< hidden width of the feed-forward network
  int context = 64;  ///< tokens per sample of a text task (images: 28 rows)
  double dropout = 0.1;
  /// Where dropout acts: "branch" (on the embedding and on each branch), "norm_input" (on what a
  /// norm reads) or "norm_output" (on what it gives).
  std::string dropout_place = "branch";
  /// Constants of the placement that take effect: "all", "residual" (alpha alone), "weights" (the
  /// scale of the initial weights alone).
  std::string placement_parts = "all";
  /// Start of every gain: "usual" (the placement's), "zero", "half", "uniform" (in 0 to 1),
  /// "normal" (N(0, 2/width), as Kaiming's rule would have it).
  std::string gain_start = "usual";
  /// Gains and biases of norms: "learned", "frozen" at their start, "removed" after training.
  std::string affine = "learned";
  double eps = -1;  ///< of the norms, where they are norms of rows; below 0: the norm's own
  /// "fused": a norm of rows is one operation that computes in f32; "composed": it is several of
  /// LibTorch's, each with a result of its own.
  std::string norm_kernel = "fused";
  /// What training and evaluation compute in; weights and Adam stay in f32. "bf16_autocast":
  /// PyTorch's mixed precision. "bf16", "fp16": the result of every operation is rounded.
  /// "bf16_storage", "fp16_storage": only what modules give and read is.
  std::string precision = "fp32";
  /// Start of a dynamic loss scale; 0: the loss is not scaled. Steps whose gradients are not finite
  /// are left out and halve it.
  double loss_scale = 0;

  /// Padded tokens in norms over a batch, of tasks that have them: "masked" or "counts".
  std::string padding = "masked";
  std::string direction = "forward";  ///< of translation; "backward": from the target's language
  int max_words = 0;                  ///< translation: train on sources of at most so many; 0: all
  std::string order = "conv_norm_act";  ///< of a ResNet's block, one of block_order_names()
  int groups = 8;                       ///< of a ResNet's norm "group"
  double initial_gain = 0;              ///< gamma_0 of an LSTM's norms; 0: the form's own
  /// How a diffusion model learns of time and class: one of conditioning_names().
  std::string conditioning = "added";

  int train_samples = 0;  ///< images to train on, the first ones; 0: all
  int batch = 32;
  int steps = 300;
  int warmup = 30;              ///< steps of linear learning-rate warm-up
  double learning_rate = 1e-3;  ///< Adam, constant after warm-up
  double clip = 0;              ///< gradient norm limit; 0: off
  std::uint64_t seed = 0;

  int eval_every = 50;        ///< steps between evaluations
  int instrument_every = 25;  ///< steps between instrument samples; 0: off
  /// Also measure the change of the outputs by the first update, and attention's scores at the end.
  bool probes = false;
  double target = 0;  ///< accuracy (images) or loss in nats (text) for steps-to-target
};

}  // namespace equinorm::lab
