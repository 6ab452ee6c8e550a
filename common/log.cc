#include "common/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "common/result.h"
#include "common/text.h"

namespace pacml {
namespace {

spdlog::level::level_enum parse_level(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 6> kLevels = {{
      {"trace", spdlog::level::trace},
      {"debug", spdlog::level::debug},
      {"info", spdlog::level::info},
      {"warn", spdlog::level::warn},
      {"error", spdlog::level::err},
      {"off", spdlog::level::off},
  }};
  std::vector<std::string> known;
  for (const auto& [known_name, level] : kLevels) {
    if (name == known_name) return level;
    known.emplace_back(known_name);
  }
  throw UserError("unknown log level '" + name + "'" + did_you_mean(name, known));
}

constexpr std::size_t kOlderFiles = 3;

// '%' begins a field in spdlog's patterns.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%') out += '%';
    out += c;
  }
  return out;
}

}  // namespace

void set_up_logging(const LogSetup& setup) {
  const auto level = parse_level(setup.level);
  std::vector<spdlog::sink_ptr> sinks;
  if (setup.to_stderr) sinks.push_back(std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  if (!setup.file.empty()) {
    std::error_code absent;
    if (std::filesystem::is_fifo(setup.file, absent)) {
      throw UserError("cannot write the log " + setup.file.string() + ": it is a pipe");
    }
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          setup.file.string(), setup.file_bytes, kOlderFiles));
    } catch (const spdlog::spdlog_ex& e) {
      throw UserError("cannot write the log " + setup.file.string() + ": " + e.what());
    }
  }
  auto logger = std::make_shared<spdlog::logger>(setup.role, sinks.begin(), sinks.end());
  std::string pattern = "%Y-%m-%d %H:%M:%S.%e %^%-5l%$ " + escaped(setup.role);
  if (!setup.run_id.empty()) pattern += " " + escaped(setup.run_id);
  logger->set_pattern(pattern + ": %v");
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace pacml
