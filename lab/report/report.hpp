// The report of a comparison: one HTML file that needs nothing else, neither network nor folder.
//
// The same comparison gives the same bytes. The one trap: `summary` must be of `comparison`.
#pragma once

#include <optional>
#include <string>

#include "lab/experiment/run_store.hpp"
#include "lab/experiment/summary.hpp"
#include "lab/report/numerics_data.hpp"

namespace equinorm::lab {

/// The page as text, with a panel of the numerics where there are any.
[[nodiscard]] std::string render_report(const Comparison& comparison, const Summary& summary,
                                        const std::optional<report::Numerics>& numerics);

/// Writes report.html into the comparison's directory, with numerics.json from there if it exists.
/// Throws InputError when a file can't be read or written.
void write_report(const Comparison& comparison, const Summary& summary);

}  // namespace equinorm::lab
