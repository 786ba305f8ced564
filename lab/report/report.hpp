// The report of a comparison: one HTML file that needs nothing else, neither network nor folder.
//
// The same comparison gives the same bytes. The one trap: `summary` must be of `comparison`.
#pragma once

#include <string>

#include "lab/experiment/run_store.hpp"
#include "lab/experiment/summary.hpp"

namespace equinorm::lab {

/// The page as text. `numerics_json` is the text of numerics.json, empty when there is none.
/// Throws InputError when it is malformed.
[[nodiscard]] std::string render_report(const Comparison& comparison, const Summary& summary,
                                        const std::string& numerics_json);

/// Writes report.html into the comparison's directory, with numerics.json from there if it exists.
/// Throws InputError when a file can't be read or written.
void write_report(const Comparison& comparison, const Summary& summary);

}  // namespace equinorm::lab
