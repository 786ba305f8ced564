// The files under template/, embedded at build time.
#pragma once

#include <string_view>

namespace equinorm::lab::report {

std::string_view page_template() noexcept;
std::string_view lab_page_template() noexcept;
std::string_view table_template() noexcept;
std::string_view figure_template() noexcept;
std::string_view style_sheet() noexcept;

}  // namespace equinorm::lab::report
