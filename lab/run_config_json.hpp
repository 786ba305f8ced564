// RunConfig as JSON, and the name of its run directory.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lab/run_config.hpp"

namespace equinorm::lab {

/// The fields under their C++ names; those that came later only where they differ from their
/// default, so that runs keep their names.
void to_json(nlohmann::json& json, const RunConfig& config);

/// Throws InputError for an unknown, missing or mistyped field.
void from_json(const nlohmann::json& json, RunConfig& config);

/// Every field under its C++ name, without the version.
nlohmann::json all_fields(const RunConfig& config);

/// For example "bible-rms-pre-lr0.001-s0-1f0c5a2e9b77": readable prefix, then 12 hex digits of the
/// SHA-256 of the config. `source` (a path) is left out of the hash once source_sha256 names the
/// data, so a moved file keeps its runs.
std::string run_id(const RunConfig& config);

}  // namespace equinorm::lab
