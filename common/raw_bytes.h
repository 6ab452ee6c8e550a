#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/bytes.h"

// Values as they lie in memory, one behind the other: how files of ours are written.

namespace pacml {

// What has the same bytes whenever it has the same value.
template <class T>
concept RawValue = std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>;

// To the end of a std::string, or of Bytes.
template <class Buffer>
void append_bytes(Buffer& buffer, std::span<const std::byte> content) {
  const std::size_t at = buffer.size();
  buffer.resize(at + content.size());
  if (!content.empty()) std::memcpy(buffer.data() + at, content.data(), content.size());
}

template <class Buffer, RawValue T>
void append_value(Buffer& buffer, const T& value) {
  append_bytes(buffer, std::as_bytes(std::span(&value, 1)));
}

// The content behind its length, which is a Length.
template <class Length, class Buffer>
void append_sized(Buffer& buffer, std::span<const std::byte> content) {
  append_value(buffer, static_cast<Length>(content.size()));
  append_bytes(buffer, content);
}

[[nodiscard]] inline std::span<const std::byte> raw_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Takes values off the front of bytes. Once they run out everything is zero or empty, and ok()
// false: a decoder checks once, where a wrong value would cost something. Thread-confined.
class RawReader {
 public:
  // Borrows the bytes.
  explicit RawReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  explicit RawReader(std::string_view text) : rest_(raw_bytes(text)) {}

  template <RawValue T>
  [[nodiscard]] T take() {
    T value{};
    if (const auto raw = take_bytes(sizeof(T)); ok_) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::span<const std::byte> take_bytes(std::uint64_t length) {
    ok_ = ok_ && length <= rest_.size();
    if (!ok_) return {};
    const auto taken = rest_.first(static_cast<std::size_t>(length));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  // What append_sized<Length> wrote.
  template <class Length>
  [[nodiscard]] std::span<const std::byte> take_sized() {
    return take_bytes(take<Length>());
  }
  template <class Length>
  [[nodiscard]] std::string_view take_text() {
    const auto taken = take_sized<Length>();
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace pacml
