#pragma once

#include <string>
#include <vector>

namespace pacml::apps {

// Rows of cells as aligned text: the first column to the left, the others to the right, two spaces
// between, a newline after each row. UTF-8 counts by characters. Pre: every row is as long as the
// first, or shorter. Pure.
[[nodiscard]] std::string align_columns(const std::vector<std::vector<std::string>>& rows);

// "0.2208"; "1.234e+06" where a plain number would be long; "-" for NaN. Pure.
[[nodiscard]] std::string format_number(double value, int decimals);

}  // namespace pacml::apps
