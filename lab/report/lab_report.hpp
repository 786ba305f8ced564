// The report of a lab: every claim with its verdict, then every experiment with its numbers. One
// HTML file that needs nothing else, neither network nor folder.
//
// The same runs give the same bytes, whoever ran which shard: nothing of time, place or command
// line goes in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/evidence/lab_results.hpp"
#include "lab/report/figure.hpp"
#include "lab/report/table.hpp"

namespace equinorm::lab {

[[nodiscard]] std::string render_lab_report(const LabResults& lab);

/// Writes OUT/report.html, atomically; throws InputError.
void write_lab_report(const std::filesystem::path& out_dir, const LabResults& lab);

namespace report {

/// Every arm at every point: metric, best rate, failures, further columns.
[[nodiscard]] Table cells_table(const ExperimentResults& results);

/// A table that a declaration asks for, with the numbers behind it.
struct DeclaredTable {
  std::string id;
  std::string claim;  ///< that it stands beside, or ""
  Table table;
  std::string csv;
};

/// The tables of a declaration, from the results of whichever experiment they show.
[[nodiscard]] std::vector<DeclaredTable> declared_tables(const Declaration& declaration,
                                                         const std::vector<ExperimentResults>& all);

/// Every run of an experiment as CSV.
[[nodiscard]] std::string runs_csv(const ExperimentResults& results);

/// The figures that the declaration asks for; those without a single point are left out.
[[nodiscard]] std::vector<Figure> lab_figures(const ExperimentResults& results);

/// "+-" and "-" as a typesetter writes them, "(n = 3)" in one piece.
[[nodiscard]] std::string typeset(std::string text);

}  // namespace report

}  // namespace equinorm::lab
