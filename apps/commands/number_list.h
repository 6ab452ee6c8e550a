#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pacml::apps {

// "1,10,100", each from `least` to `most`. UserError: anything else; the sentence names the option.
[[nodiscard]] std::vector<std::size_t> parse_numbers(const std::string& option,
                                                     const std::string& text, std::size_t least,
                                                     std::size_t most);

}  // namespace pacml::apps
