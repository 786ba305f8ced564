// A comparison on disk: compare.json and the run directories, read into plain structs. Runs are
// written elsewhere, by the training (lab/training) and the runner (runner.hpp).
//
// The one trap: a run without result.json is not done, whatever else its directory holds, and is
// never loaded as one. null in a file becomes NaN here (or an empty optional where absence means
// something).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/experiment/job.hpp"
#include "lab/experiment/statistics.hpp"
#include "lab/run_config.hpp"
#include "lab/train.hpp"

namespace equinorm::lab {

struct TrainPoint {
  int step = 0;
  double loss = 0;
  double grad_norm = 0;  ///< before clipping
  bool clipped = false;
  double learning_rate = 0;
};

struct EvalPoint {
  int step = 0;
  double loss = 0;
  std::optional<double> accuracy;  ///< share of right classes or next characters
};

/// Gradient norms of one Transformer layer, by parameter kind; NaN for a kind it has not.
struct LayerGradients {
  double qkv = 0;
  double out = 0;
  double fc1 = 0;
  double fc2 = 0;
  double gamma = 0;
  double beta = 0;
  double total = 0;
};

/// Instruments of a "layers" event with a number per layer, besides gradients and activations.
inline constexpr const char* kLayerInstruments[] = {
    "outlier_dimensions", "smallest_row_variance", "eps_share",    "rows_near_eps",
    "batch_mean_gap",     "batch_variance_gap",    "max_logit",    "collapsed_heads",
    "gamma_drift",        "attention_entropy",     "update_ratio", "alpha",
};

struct LayerSample {
  int step = 0;
  double embedding_grad_norm = 0;
  double final_norm_grad_norm = kNotANumber;  ///< NaN when the arm has no final norm
  double head_grad_norm = 0;
  std::vector<LayerGradients> layers;
  std::vector<double> activation_rms;  ///< per layer
  std::vector<double> activation_max;  ///< per layer
  std::vector<double> branch_ratio;    ///< branch over stream, per layer
  /// kLayerInstruments by name, NaN where a layer has none: of attention_entropy the mean over
  /// heads, of update_ratio the total. Older runs lack them.
  std::map<std::string, std::vector<double>> by_layer;
  double update_ratio = kNotANumber;  ///< of all parameters
  double growth_exponent = kNotANumber;
  double logsumexp = kNotANumber;
};

/// One finished run.
struct Run {
  std::string id;
  std::filesystem::path dir;
  RunConfig config;
  RunResult result;  ///< NaN for null
  RunTiming timing;
  std::vector<TrainPoint> train;
  std::vector<EvalPoint> evals;
  std::vector<LayerSample> layers;
};

/// One run whose process died: no result, and no failure of the model either.
struct RunError : Crash {
  RunConfig config;
};

/// A norm at a placement, or neither: see make_arm.
struct Arm {
  std::string norm;
  std::string placement;

  /// "layer-pre", "layer-deepnorm", ...; "none", "rezero" or "tfixup" without a norm.
  [[nodiscard]] std::string name() const;
  bool operator==(const Arm&) const = default;
};

/// The arm of a norm and a placement. Placements without a norm are one arm each whatever the norm;
/// the norm "none" is one arm whatever the placement, the same as placement "none", and is stored
/// as placement "pre".
[[nodiscard]] Arm make_arm(const std::string& norm, const std::string& placement);

/// What was asked for: compare.json.
struct CompareRequest {
  std::string command;  ///< command line that reproduces it
  std::vector<std::string> tasks;
  std::vector<Arm> arms;
  std::vector<double> learning_rates;
  std::vector<std::uint64_t> seeds;
  std::vector<RunConfig> settings;   ///< per task, what all its runs share; other fields default
  std::string baseline;              ///< name of the arm that the others are compared with
  std::vector<std::string> run_ids;  ///< in the order in which they are started
  std::map<std::string, std::string> environment;
};

/// Everything under OUT that belongs to the request. runs are in the order of the request.
struct Comparison {
  std::filesystem::path dir;
  CompareRequest request;
  std::vector<Run> runs;                ///< finished
  std::vector<RunError> errors;         ///< crashed
  std::vector<std::string> unfinished;  ///< ids that have neither
};

/// Writes OUT/compare.json, atomically; throws InputError.
void save_request(const std::filesystem::path& out_dir, const CompareRequest& request);

/// Writes error.json of a run, atomically; throws InputError.
void save_error(const std::filesystem::path& run_dir, const Crash& crash);

/// Reads error.json of a run; throws InputError.
[[nodiscard]] Crash load_crash(const std::filesystem::path& run_dir);

[[nodiscard]] bool is_finished(const std::filesystem::path& run_dir);

/// Reads one finished run; throws InputError naming the file and what is wrong with it.
[[nodiscard]] Run load_run(const std::filesystem::path& run_dir);

/// Reads OUT/compare.json and the runs it names; throws InputError. `errors` are crashes known to
/// the caller, which the disk may have had no room for.
[[nodiscard]] Comparison load_comparison(const std::filesystem::path& out_dir,
                                         const std::vector<RunError>& errors = {});

}  // namespace equinorm::lab
