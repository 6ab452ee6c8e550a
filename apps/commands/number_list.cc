#include "apps/commands/number_list.h"

#include <charconv>

#include "common/result.h"

namespace pacml::apps {

std::vector<std::size_t> parse_numbers(const std::string& option, const std::string& text,
                                       std::size_t least, std::size_t most) {
  std::vector<std::size_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::size_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    const bool separated = behind == end || *behind == ',';
    if (error != std::errc{} || !separated || number < least || number > most) {
      throw UserError(option + ": \"" + text + "\" is not a list of numbers in " +
                      std::to_string(least) + ".." + std::to_string(most) + " like 1,10,100");
    }
    numbers.push_back(number);
    if (behind == end) return numbers;
    at = behind + 1;
  }
}

}  // namespace pacml::apps
