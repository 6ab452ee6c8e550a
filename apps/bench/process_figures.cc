#include "apps/bench/process_figures.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace pacml::apps {
namespace {

// Places of the fields behind the name in /proc/PID/stat (proc(5) counts from 1, and the name is
// its second).
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

}  // namespace

std::optional<ProcessFigures> figures_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  if (fields.size() <= kResidentPages) return std::nullopt;
  const auto number = [&](std::size_t field) { return std::stod(fields[field]); };
  return ProcessFigures{
      (number(kUserTicks) + number(kSystemTicks)) / static_cast<double>(::sysconf(_SC_CLK_TCK)),
      number(kResidentPages) * static_cast<double>(::sysconf(_SC_PAGESIZE))};
}

}  // namespace pacml::apps
