#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/config/seconds.h"
#include "common/ids.h"

// A configuration with a field of every kind.

namespace pacml::testing {

enum class Colour { kRed, kDarkBlue };
constexpr auto enum_names(Colour) {
  return std::to_array<EnumName<Colour>>({{"red", Colour::kRed}, {"dark_blue", Colour::kDarkBlue}});
}

struct InnerConfig {
  int size = 3;
  double rate = 0.5;
  bool operator==(const InnerConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, InnerConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("size", c.size);
  v("rate", c.rate);
}

inline std::vector<std::string> validate(const InnerConfig& c) {
  std::vector<std::string> problems;
  if (c.size < 0) problems.emplace_back("size must be at least 0");
  if (c.rate > 1) problems.emplace_back("rate must be at most 1");
  return problems;
}

struct SampleConfig {
  bool flag = false;
  int count = 1;
  std::uint8_t small = 2;
  std::int64_t wide = -3;
  std::uint64_t unsigned_wide = 4;
  double number = 1.5;
  Seconds pause = 0.25;
  std::string text = "plain";
  Colour colour = Colour::kRed;
  Seed seed{7};
  std::vector<double> list = {1, 2};
  std::array<int, 2> pair = {1, 2};
  std::optional<int> maybe;
  std::map<std::string, int> table = {{"a", 1}};
  InnerConfig inner;
  std::vector<InnerConfig> inners;
  std::map<std::string, InnerConfig> named;
  bool operator==(const SampleConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SampleConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("flag", c.flag);
  v("count", c.count);
  v("small", c.small);
  v("wide", c.wide);
  v("unsigned_wide", c.unsigned_wide);
  v("number", c.number);
  v("pause", c.pause);
  v("text", c.text);
  v("colour", c.colour);
  v("seed", c.seed);
  v("list", c.list);
  v("pair", c.pair);
  v("maybe", c.maybe);
  v("table", c.table);
  v("inner", c.inner);
  v("inners", c.inners);
  v("named", c.named);
}

}  // namespace pacml::testing
