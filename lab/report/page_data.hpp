// Tables and figures as data of a template, and a page made of them.
//
// The one trap: mustache.hpp costs the compiler much, so only files that make pages include this.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>

#include "lab/report/figure.hpp"
#include "lab/report/table.hpp"

namespace equinorm::lab::report {

[[nodiscard]] kainjow::mustache::data to_data(const Table& table);
[[nodiscard]] kainjow::mustache::data to_data(const Figure& figure);

/// Fills a page template; adds the style sheet and the partials `table` and `figure`.
[[nodiscard]] std::string render_page(std::string_view page_template_text,
                                      kainjow::mustache::data content);

}  // namespace equinorm::lab::report
