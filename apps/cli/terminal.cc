#include "apps/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <string>

namespace pacml::apps {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

TerminalSize size_of_stdout() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

// POSIX: the first of these that is set decides.
bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = variable(name);
  }
  std::ranges::transform(locale, locale.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

}  // namespace

std::optional<Terminal> terminal_of_stdout() {
  const std::string kind = variable("TERM");
  if (::isatty(STDOUT_FILENO) == 0 || kind.empty() || kind == "dumb") return std::nullopt;
  return Terminal{size_of_stdout, variable("NO_COLOR").empty(), locale_is_utf8()};
}

std::size_t columns_of_stdout() {
  return ::isatty(STDOUT_FILENO) == 0 ? std::numeric_limits<std::size_t>::max()
                                      : size_of_stdout().columns;
}

}  // namespace pacml::apps
