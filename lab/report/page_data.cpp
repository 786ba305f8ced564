#include "lab/report/page_data.hpp"

#include <stdexcept>

#include "lab/report/csv.hpp"
#include "lab/report/template.hpp"

namespace equinorm::lab::report {
namespace {

// A path or a checksum, which must not decide how wide its column is.
bool has_long_word(const std::string& text) {
  std::size_t length = 0;
  for (const char c : text) {
    length = c == ' ' ? 0 : length + 1;
    if (length > 28) return true;
  }
  return false;
}

}  // namespace

using kainjow::mustache::data;

data to_data(const Table& table) {
  data result;
  result.set("caption", table.caption);
  result.set("note", table.note);
  result.set("has_note", !table.note.empty());
  data header{data::type::list};
  for (const std::string& title : table.header) header.push_back(data{"title", title});
  result.set("header", header);
  data rows{data::type::list};
  for (const std::vector<std::string>& cells : table.rows) {
    data row;
    row.set("head", cells.at(0));
    data rest{data::type::list};
    for (std::size_t i = 1; i < cells.size(); ++i) {
      data cell;
      cell.set("label", table.header.at(i));
      cell.set("text", cells[i]);
      cell.set("long", has_long_word(cells[i]) ? data::type::bool_true : data::type::bool_false);
      rest.push_back(cell);
    }
    row.set("cells", rest);
    rows.push_back(row);
  }
  result.set("rows", rows);
  return result;
}

data to_data(const Figure& figure) {
  data result;
  result.set("id", figure.id);
  result.set("title", figure.title);
  result.set("caption", figure.caption);
  result.set("csv_name", figure.csv_name);
  result.set("csv", data_uri(figure.csv));
  result.set("command", figure.command);
  result.set("has_command", !figure.command.empty());
  data legend{data::type::list};
  for (const LegendEntry& entry : figure.legend) {
    data item;
    item.set("swatch", entry.swatch);
    item.set("name", entry.name);
    legend.push_back(item);
  }
  result.set("legend", legend);
  result.set("has_legend", !figure.legend.empty());
  result.set("has_scale", !figure.scale.empty());
  result.set("scale", figure.scale);
  // Two by two looks better than three and one.
  result.set("layout", figure.panels.size() % 3 == 0 || figure.panels.size() > 4 ? "" : " pairs");
  data panels{data::type::list};
  for (const std::string& svg : figure.panels) panels.push_back(data{"svg", svg});
  result.set("panels", panels);
  return result;
}

std::string render_page(std::string_view page_template_text, kainjow::mustache::data content) {
  namespace mustache = kainjow::mustache;
  mustache::mustache page{std::string(page_template_text)};
  if (!page.is_valid()) throw std::logic_error("report template: " + page.error_message());
  content.set("style", std::string(style_sheet()));
  content.set("table", mustache::partial{[] { return std::string(table_template()); }});
  content.set("figure", mustache::partial{[] { return std::string(figure_template()); }});
  return page.render(content);
}

}  // namespace equinorm::lab::report
