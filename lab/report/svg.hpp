// Writes one inline SVG: elements, escaping, numbers. Knows nothing of plots.
//
// The one trap: ids are global in an HTML page, so every id inside is prefixed with the figure's.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace equinorm::lab::report {

/// & < > " ' as entities; control characters that XML forbids become '?'.
[[nodiscard]] std::string escape(std::string_view text);

/// At most two decimals, no trailing zeros, no "-0"; "0" for a NaN or an infinity.
[[nodiscard]] std::string coordinate(double value);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

class Svg {
 public:
  /// `title` names the picture to screen readers, `description` says what it shows.
  Svg(double width, double height, std::string id, std::string_view title,
      std::string_view description);

  /// Without title and id, hidden from screen readers: for what the text beside it says already.
  [[nodiscard]] static Svg decoration(double width, double height, std::string_view css);

  void open(std::string_view name, Attributes attributes = {});
  void close(std::string_view name);
  void element(std::string_view name, Attributes attributes);
  /// Text content is escaped; `css` is a class of report.css.
  void text(double x, double y, std::string_view css, std::string_view content,
            Attributes attributes = {});

  /// "<figure id>-<name>", unique in the page.
  [[nodiscard]] std::string id(std::string_view name) const;
  [[nodiscard]] std::string reference(std::string_view name) const;  ///< "url(#<id>)"

  /// Closes the picture and returns it.
  [[nodiscard]] std::string finish();

 private:
  Svg() = default;
  void write_tag(std::string_view name, Attributes attributes);
  std::string id_;
  std::string out_;
};

}  // namespace equinorm::lab::report
