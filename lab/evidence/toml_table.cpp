#include "lab/evidence/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "lab/error.hpp"
#include "lab/evidence/place_in.hpp"
#include "lab/nearest.hpp"

namespace equinorm::lab {
namespace {

std::string shown(const toml::node& node) {
  std::ostringstream text;
  if (const auto* array = node.as_array()) {
    text << *array;
  } else {
    node.visit([&text](const auto& value) { text << value; });
  }
  std::string line;  // long lists come as several
  std::istringstream words(text.str());
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

const toml::node* TomlTable::find(const std::string& key) {
  asked_.insert(key);
  return table_->get(key);
}

void TomlTable::fail(const std::string& key, const std::string& rule) const {
  const toml::node* node = table_->get(key);
  const std::string name = name_.empty() ? key : name_ + "." + key;
  const std::string place = place_in(file_, line_of(key));
  if (node == nullptr || node->is_table()) {
    throw InputError(fmt::format("{}: {}: {}", place, name, rule));
  }
  throw InputError(fmt::format("{}: {} = {}: {}", place, name, shown(*node), rule));
}

void TomlTable::fail_here(const std::string& rule) const {
  throw InputError(fmt::format("{}: {}: {}", place_in(file_, line()), name_, rule));
}

int TomlTable::line_of(const std::string& key) const {
  const toml::node* node = table_->get(key);
  return node == nullptr ? line() : static_cast<int>(node->source().begin.line);
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, node] : *table_) all.emplace_back(key.str());
  return all;
}

nlohmann::json TomlTable::plain(const std::string& key, const toml::node& node) const {
  if (const auto value = node.value_exact<std::string>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return *value;
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<double>(); value && std::isfinite(*value)) return *value;
  fail(key, "must be a text, a finite number, true or false");
}

std::string TomlTable::text(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) fail(key, "is missing");
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) fail(key, "must be a text that is not empty");
  return *value;
}

std::string TomlTable::text_or(const std::string& key, const std::string& fallback) {
  return find(key) == nullptr ? fallback : text(key);
}

std::optional<double> TomlTable::number(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value)) fail(key, "must be a finite number");
  return value;
}

std::optional<int> TomlTable::integer(const std::string& key, int low, int high) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < low || *value > high) {
    fail(key, fmt::format("must be a whole number from {} to {}", low, high));
  }
  return static_cast<int>(*value);
}

bool TomlTable::flag_or(const std::string& key, bool fallback) {
  const toml::node* node = find(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<bool>();
  if (!value) fail(key, "must be true or false");
  return *value;
}

std::vector<std::string> TomlTable::texts(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<std::string> all;
  const toml::array* array = node->as_array();
  if (array == nullptr) fail(key, "must be a list of texts");
  for (const toml::node& element : *array) {
    const auto value = element.value_exact<std::string>();
    if (!value || value->empty()) fail(key, "must be a list of texts");
    all.push_back(*value);
  }
  return all;
}

std::vector<double> TomlTable::numbers(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<double> all;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty()) fail(key, "must be a list of numbers");
  for (const toml::node& element : *array) {
    const auto value = element.is_number() ? element.value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value)) fail(key, "must be a list of finite numbers");
    all.push_back(*value);
  }
  return all;
}

nlohmann::json TomlTable::values(const std::string& key) {
  const auto inner = table(key);
  if (!inner) return nlohmann::json::object();
  return TomlTable(*inner).own_values({});
}

nlohmann::json TomlTable::own_values(const std::set<std::string>& taken) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, node] : *table_) {
    const std::string key(name.str());
    if (taken.count(key) > 0) continue;
    asked_.insert(key);
    all[key] = plain(key, node);
  }
  return all;
}

std::vector<std::pair<std::string, std::vector<nlohmann::json>>> TomlTable::lists(
    const std::string& key) {
  std::vector<std::pair<std::string, std::vector<nlohmann::json>>> all;
  const auto inner = table(key);
  if (!inner) return all;
  for (const auto& [name, node] : *inner->table_) {
    const toml::array* array = node.as_array();
    const std::string field(name.str());
    if (array == nullptr || array->empty()) inner->fail(field, "must be a list of values");
    std::vector<nlohmann::json> values;
    for (const toml::node& element : *array) values.push_back(inner->plain(field, element));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
          values.begin() + static_cast<std::ptrdiff_t>(i)) {
        inner->fail(field, "must not name a value twice");
      }
    }
    all.emplace_back(field, std::move(values));
  }
  // toml++ sorts keys; the order of the file is the author's.
  std::stable_sort(all.begin(), all.end(), [&inner](const auto& a, const auto& b) {
    return inner->line_of(a.first) < inner->line_of(b.first);
  });
  return all;
}

std::optional<TomlTable> TomlTable::table(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) fail(key, "must be a table");
  return TomlTable(*node->as_table(), file_, name_.empty() ? key : name_ + "." + key);
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  if (array == nullptr) fail(key, "must be a list of tables, [[" + key + "]]");
  std::vector<TomlTable> all;
  for (const toml::node& element : *array) {
    if (!element.is_table()) fail(key, "must be a list of tables, [[" + key + "]]");
    all.emplace_back(*element.as_table(), file_, name_.empty() ? key : name_ + "." + key);
  }
  return all;
}

std::string TomlTable::choice(const std::string& key, const std::vector<std::string>& choices) {
  const std::string value = text_or(key, choices.front());
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    fail(key, one_of("must be one of", value, choices));
  }
  return value;
}

void TomlTable::refuse_unknown() const {
  for (const auto& [name, node] : *table_) {
    const std::string key(name.str());
    if (asked_.count(key) > 0) continue;
    fail(key, one_of("is not known here; known are", key, {asked_.begin(), asked_.end()}));
  }
}

toml::table parse_toml(const std::string& text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto line = static_cast<int>(error.source().begin.line);
    throw InputError(place_in(file, line) + ": " + std::string(error.description()));
  }
}

}  // namespace equinorm::lab
