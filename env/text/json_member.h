#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/config/named_enum.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::env {

// UserError: an object has a key that is none of these, which would go unread; `of` says whose.
// What is no object has none.
template <class Keys>
void require_known_keys(const nlohmann::json& object, const Keys& keys, const std::string& of) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      throw UserError(of + " has an unknown \"" + key + "\"" + did_you_mean(key, keys));
    }
  }
}

// A value of a JSON document and where it stands in it, for error messages. Borrows the value. What
// is not as it is asked for is a UserError that names the place.
class JsonMember {
 public:
  static constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

  JsonMember(const nlohmann::json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const char* key) const {
    return value_->is_object() && value_->contains(key);
  }
  [[nodiscard]] JsonMember operator[](const std::string& key) const {
    const auto it = value_->is_object() ? value_->find(key) : value_->end();
    if (!value_->is_object() || it == value_->end()) {
      throw UserError(path_ + ": it has no \"" + key + "\"");
    }
    return {*it, path_ + "." + key};
  }
  [[nodiscard]] double number() const {
    if (!value_->is_number()) fail("a number");
    return value_->get<double>();
  }
  [[nodiscard]] std::int64_t whole(std::int64_t least = 0, std::int64_t most = kMostInt) const {
    const double v = value_->is_number() ? value_->get<double>() : std::nan("");
    if (!(v >= static_cast<double>(least) && v <= static_cast<double>(most)) ||
        v != std::floor(v)) {
      fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<std::int64_t>(v);
  }
  [[nodiscard]] int integer(int least = 0) const { return static_cast<int>(whole(least)); }
  // true, false, or a number that is 0 where it is false.
  [[nodiscard]] bool flag() const {
    if (value_->is_boolean()) return value_->get<bool>();
    return number() != 0;
  }
  [[nodiscard]] std::string text() const {
    if (!value_->is_string()) fail("a text");
    return value_->get<std::string>();
  }
  template <NamedEnum Enum>
  [[nodiscard]] Enum name() const {
    if (const auto value = value_named<Enum>(text())) return *value;
    fail("one of " + join(names_of<Enum>()));
  }
  template <class F>
  void for_each(F f) const {
    if (!value_->is_array()) fail("a list");
    for (std::size_t i = 0; i < value_->size(); ++i) {
      f(JsonMember((*value_)[i], path_ + "[" + std::to_string(i) + "]"));
    }
  }
  template <class F>
  void for_each_key(F f) const {
    if (!value_->is_object()) fail("an object");
    for (const auto& [key, value] : value_->items()) f(key, JsonMember(value, path_ + "." + key));
  }
  [[nodiscard]] std::size_t size() const {
    if (!value_->is_array()) fail("a list");
    return value_->size();
  }
  [[nodiscard]] JsonMember at(std::size_t i) const {
    if (i >= size()) throw UserError(path_ + ": it has only " + std::to_string(size()) + " parts");
    return {(*value_)[i], path_ + "[" + std::to_string(i) + "]"};
  }
  [[nodiscard]] const nlohmann::json& value() const { return *value_; }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    // A list or an object may be large.
    throw UserError(path_ + ": expected " + expected + ", found " +
                    (value_->is_structured() ? "an " + std::string(value_->type_name())
                                             : json_text(*value_).substr(0, 60)));
  }

  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace pacml::env
