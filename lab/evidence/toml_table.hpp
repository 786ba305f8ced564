// A TOML table that says where it stands: every complaint names file, line, key, value and rule.
//
// The one trap: a key that nobody has asked for is an error, so ask for all of them and then call
// refuse_unknown().
#pragma once

#include <toml++/toml.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace equinorm::lab {

class TomlTable {
 public:
  /// `name`: how the table is called in complaints, "" for the whole file.
  TomlTable(const toml::table& table, std::string file, std::string name)
      : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

  [[nodiscard]] bool has(const std::string& key) const { return table_->contains(key); }

  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& fallback);
  std::optional<double> number(const std::string& key);
  std::optional<int> integer(const std::string& key, int low, int high);
  bool flag_or(const std::string& key, bool fallback);
  std::vector<std::string> texts(const std::string& key);
  std::vector<double> numbers(const std::string& key);
  /// Plain values by key: texts, numbers, booleans.
  nlohmann::json values(const std::string& key);
  /// Lists of plain values by key, in the order of the file.
  std::vector<std::pair<std::string, std::vector<nlohmann::json>>> lists(const std::string& key);
  std::optional<TomlTable> table(const std::string& key);
  std::vector<TomlTable> tables(const std::string& key);

  /// The plain values of this table itself, but for `taken`.
  nlohmann::json own_values(const std::set<std::string>& taken);

  /// One of `choices`, the first one where the key is absent.
  std::string choice(const std::string& key, const std::vector<std::string>& choices);

  [[nodiscard]] int line() const { return static_cast<int>(table_->source().begin.line); }
  [[nodiscard]] int line_of(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> keys() const;

  [[noreturn]] void fail(const std::string& key, const std::string& rule) const;
  [[noreturn]] void fail_here(const std::string& rule) const;
  void refuse_unknown() const;

 private:
  const toml::node* find(const std::string& key);
  nlohmann::json plain(const std::string& key, const toml::node& node) const;

  const toml::table* table_;
  std::string file_;
  std::string name_;
  std::set<std::string> asked_;
};

/// Throws InputError "file:line: what is wrong".
[[nodiscard]] toml::table parse_toml(const std::string& text, const std::string& file);

}  // namespace equinorm::lab
