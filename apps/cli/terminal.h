#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace pacml::apps {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The terminal that standard output is.
struct Terminal {
  std::function<TerminalSize()> size;  // as it is now: people resize theirs
  bool colours = false;                // unless NO_COLOR is set (no-color.org)
  bool unicode = false;                // whether its locale says UTF-8
};

// nullopt: it is none, or one that cannot move its cursor (TERM=dumb).
[[nodiscard]] std::optional<Terminal> terminal_of_stdout();

// Columns of the terminal that standard output is, as it is now; where it is none, what reads it
// sets no limit.
[[nodiscard]] std::size_t columns_of_stdout();

}  // namespace pacml::apps
