#include "lab/evidence/json_declaration.hpp"

#include <toml++/toml.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lab/error.hpp"
#include "lab/experiment/json_file.hpp"

namespace equinorm::lab {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file) {}

  [[nodiscard]] toml::table table(const Json& object, const std::string& name) const {
    toml::table result;
    for (const auto& [key, value] : object.items()) {
      const std::string full = name.empty() ? key : name + "." + key;
      put(value, full,
          [&](auto&& node) { result.insert(key, std::forward<decltype(node)>(node)); });
    }
    return result;
  }

 private:
  [[nodiscard]] toml::array array(const Json& list, const std::string& name) const {
    toml::array result;
    for (const Json& value : list) {
      put(value, name, [&](auto&& node) { result.push_back(std::forward<decltype(node)>(node)); });
    }
    return result;
  }

  template <class Put>
  void put(const Json& value, const std::string& name, Put&& put_node) const {
    if (value.is_object()) {
      put_node(table(value, name));
    } else if (value.is_array()) {
      put_node(array(value, name));
    } else if (value.is_string()) {
      put_node(value.get<std::string>());
    } else if (value.is_boolean()) {
      put_node(value.get<bool>());
    } else if (value.is_number_float()) {
      put_node(value.get<double>());
    } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) {
      fail(name, value, "must be at most 2^63 - 1");
    } else if (value.is_number_integer()) {
      put_node(value.get<std::int64_t>());
    } else {
      fail(name, value, "must be a text, a number, true, false, a list or an object");
    }
  }

  [[noreturn]] void fail(const std::string& name, const Json& value,
                         const std::string& rule) const {
    throw InputError(file_ + ": " + name + " = " + value.dump() + ": " + rule);
  }

  const std::string& file_;
};

}  // namespace

std::string toml_of_json(const std::string& text, const std::string& file) {
  const Json json = with_place(file, [&] { return Json::parse(text); });
  if (!json.is_object()) throw InputError(file + ": must be a JSON object");
  std::ostringstream toml;
  toml << Converter(file).table(json, "") << "\n";
  return toml.str();
}

}  // namespace equinorm::lab
