#include "lab/report/svg.hpp"

#include <fmt/format.h>

#include <cmath>

namespace equinorm::lab::report {

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        const bool allowed = byte >= 0x20 || c == '\t' || c == '\n' || c == '\r';
        out += allowed ? c : '?';
      }
    }
  }
  return out;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

Svg::Svg(double width, double height, std::string id, std::string_view title,
         std::string_view description)
    : id_(std::move(id)) {
  open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"viewBox", fmt::format("0 0 {} {}", coordinate(width), coordinate(height))},
               {"role", "img"},
               {"aria-labelledby", fmt::format("{} {}", this->id("title"), this->id("desc"))}});
  out_ += fmt::format("<title id=\"{}\">{}</title>", this->id("title"), escape(title));
  out_ += fmt::format("<desc id=\"{}\">{}</desc>", this->id("desc"), escape(description));
}

Svg Svg::decoration(double width, double height, std::string_view css) {
  Svg svg;
  svg.open("svg", {{"class", std::string(css)},
                   {"viewBox", fmt::format("0 0 {} {}", coordinate(width), coordinate(height))},
                   {"aria-hidden", "true"}});
  return svg;
}

void Svg::write_tag(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    out_ += fmt::format(" {}=\"{}\"", key, escape(value));
  }
}

void Svg::open(std::string_view name, Attributes attributes) {
  write_tag(name, attributes);
  out_ += '>';
}

void Svg::close(std::string_view name) { out_ += fmt::format("</{}>", name); }

void Svg::element(std::string_view name, Attributes attributes) {
  write_tag(name, attributes);
  out_ += "/>";
}

void Svg::text(double x, double y, std::string_view css, std::string_view content,
               Attributes attributes) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\"", coordinate(x), coordinate(y), css);
  for (const auto& [key, value] : attributes) {
    out_ += fmt::format(" {}=\"{}\"", key, escape(value));
  }
  out_ += fmt::format(">{}</text>", escape(content));
}

std::string Svg::id(std::string_view name) const { return fmt::format("{}-{}", id_, name); }

std::string Svg::reference(std::string_view name) const {
  return fmt::format("url(#{})", id(name));
}

std::string Svg::finish() {
  close("svg");
  return std::move(out_);
}

}  // namespace equinorm::lab::report
