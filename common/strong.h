#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace pacml {

// A number with a meaning. No implicit conversions and no arithmetic, so that an actor's number
// cannot be passed for a policy version. Immutable value type.
template <class Tag, class Rep>
class Strong {
 public:
  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep get() const { return value_; }
  friend constexpr auto operator<=>(Strong, Strong) = default;

 private:
  Rep value_{};
};

}  // namespace pacml

template <class Tag, class Rep>
struct std::hash<pacml::Strong<Tag, Rep>> {
  std::size_t operator()(pacml::Strong<Tag, Rep> value) const noexcept {
    return std::hash<Rep>{}(value.get());
  }
};
