#include "planning/search_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "common/read_number.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::planning {
namespace {

constexpr std::array<std::string_view, 7> kKeys = {"K",      "H",    "gamma", "gap",
                                                   "weight", "race", "ms"};

double number_of(const std::string& key, std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  const auto value = read_number<double>(text);
  if (!value || !std::isfinite(*value)) {
    throw UserError("search: " + key + "=" + std::string(text) + " is no number");
  }
  return *value;
}

int whole(const std::string& key, double value) {
  if (std::trunc(value) != value || std::abs(value) > 1e9) {
    throw UserError("search: " + key + " is a whole number of at most 1e9");
  }
  return static_cast<int>(value);
}

}  // namespace

std::vector<std::string> validate(const SearchConfig& c) {
  std::vector<std::string> problems;
  if (c.futures < 1 || c.futures > 100'000) problems.emplace_back("K: must be in 1..100000");
  if (c.horizon < 1 || c.horizon > 100'000) problems.emplace_back("H: must be in 1..100000");
  if (!(c.discount > 0 && c.discount <= 1)) {
    problems.emplace_back("gamma: must be above 0 and at most 1");
  }
  if (!(c.gap >= 0)) problems.emplace_back("gap: must be >= 0");
  if (!(c.weight >= 0 && c.weight <= 1)) problems.emplace_back("weight: must be from 0 to 1");
  if (!(c.race > 0)) problems.emplace_back("race: must be > 0");
  if (!(c.seconds >= 0 && c.seconds <= 3600)) problems.emplace_back("ms: must be in 0..3600000");
  return problems;
}

bool is_search_key(std::string_view name) { return std::ranges::find(kKeys, name) != kKeys.end(); }

SearchConfig parse_search(std::string_view text, SearchConfig config) {
  if (text.ends_with(',')) throw UserError("search: no setting stands behind the last comma");
  std::set<std::string> said;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view setting = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t equals = setting.find('=');
    const std::string key(setting.substr(0, equals));
    if (equals == std::string_view::npos && is_search_key(key)) {
      throw UserError("search: " + key + " needs a value, as in " + key + "=1");
    }
    if (!said.insert(key).second) throw UserError("search: " + key + " is said twice");
    const double value =
        equals == std::string_view::npos ? 0 : number_of(key, setting.substr(equals + 1));
    if (key == "K") {
      config.futures = whole(key, value);
    } else if (key == "H") {
      config.horizon = whole(key, value);
    } else if (key == "gamma") {
      config.discount = value;
    } else if (key == "gap") {
      config.gap = value;
    } else if (key == "weight") {
      config.weight = value;
    } else if (key == "race") {
      config.race = value;
    } else if (key == "ms") {
      config.seconds = value * 1e-3;
    } else {
      throw UserError("search: there is no setting \"" + key + "\"" + did_you_mean(key, kKeys));
    }
  }
  if (const auto problems = validate(config); !problems.empty()) {
    throw UserError("search: " + problems.front());
  }
  return config;
}

}  // namespace pacml::planning
