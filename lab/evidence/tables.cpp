#include "lab/evidence/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lab/error.hpp"
#include "lab/evidence/known_metrics.hpp"
#include "lab/evidence/place_in.hpp"

namespace equinorm::lab {
namespace {

[[noreturn]] void fail(const Declaration& declaration, const TableSpec& table, const char* key,
                       const std::string& value, const std::string& rule) {
  throw InputError(fmt::format("{}: table.{} = {}: {}",
                               place_in(declaration.file, table.lines.at(key)), key, value, rule));
}

const Declaration& source_of(const Declaration& declaration, const TableSpec& table,
                             const std::vector<const Declaration*>& known) {
  if (table.from.empty()) return declaration;
  const auto found = std::find_if(known.begin(), known.end(), [&](const Declaration* other) {
    return other->id == table.from && !other->arms.empty();
  });
  if (found != known.end()) return **found;
  fail(declaration, table, "from", "'" + table.from + "'",
       "must be an experiment with runs that comes with the program or is run together with this "
       "one");
}

void require_known(const Declaration& declaration, const TableSpec& table, const char* key,
                   const std::vector<std::string>& names, const std::set<std::string>& known) {
  for (const std::string& name : names) {
    if (known.count(name) == 0) {
      fail(declaration, table, key, "'" + name + "'",
           fmt::format("must be of {}", fmt::join(known, ", ")));
    }
  }
}

}  // namespace

std::vector<std::string> sources_of(const Declaration& declaration) {
  std::vector<std::string> ids;
  for (const TableSpec& table : declaration.tables) {
    const bool new_one = std::find(ids.begin(), ids.end(), table.from) == ids.end();
    if (!table.from.empty() && new_one) ids.push_back(table.from);
  }
  return ids;
}

void check_tables(const Declaration& declaration, const std::vector<const Declaration*>& known,
                  const RunKinds& kinds) {
  for (const TableSpec& table : declaration.tables) {
    const Declaration& source = source_of(declaration, table, known);
    std::set<std::string> arms;
    for (const ArmSpec& arm : source.arms) arms.insert(arm.name);
    require_known(declaration, table, "arms", table.arms, arms);
    require_known(declaration, table, "columns", table.columns, metrics_of(source, kinds));
    for (const auto& [field, value] : table.at) {
      const std::string rule = wrong_setting(source, field, value);
      if (!rule.empty()) fail(declaration, table, "at", describe_point(table.at), rule);
    }
  }
}

}  // namespace equinorm::lab
