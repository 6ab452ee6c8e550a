#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace pacml::apps {

// Names are a user's, figures a peer's: what would move a terminal's cursor, or worse, is '?'.
// Pure.
[[nodiscard]] std::string shown(std::string text);

// Rows of cells as aligned text: the first column to the left, the others to the right, two spaces
// between, a newline after each row, each cell as shown(). UTF-8 counts by characters. Columns that
// `width` has no room for follow below, after an empty line and beside the first column again. Pre:
// every row is as long as the first, or shorter. Pure.
[[nodiscard]] std::string align_columns(
    const std::vector<std::vector<std::string>>& rows,
    std::size_t width = std::numeric_limits<std::size_t>::max());

// "0.2208"; "1.234e+06" where a plain number would be long; "-" for NaN. Pure.
[[nodiscard]] std::string format_number(double value, int decimals);

}  // namespace pacml::apps
