#include "apps/launch/site.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "common/config/reader.h"
#include "common/read_number.h"

namespace pacml::apps {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

bool is_label_character(char c, std::string_view others) {
  return is_letter(c) || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
}

// A name as DNS has it (RFC 1123), short enough to append to.
bool is_label(const std::string& name) {
  return !name.empty() && name.size() <= 40 && name.front() != '-' && name.back() != '-' &&
         std::ranges::all_of(name, [](char c) { return is_label_character(c, "-"); });
}

// One line, one word: it stands in a directive of a batch file.
bool is_one_word(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

}  // namespace

std::vector<std::string> validate(const RoleResources& config) {
  std::vector<std::string> problems;
  if (config.cpus < 1 || config.cpus > 1024) problems.emplace_back("cpus: must be in 1..1024");
  if (config.memory_mib < 64 || config.memory_mib > (1 << 24)) {
    problems.emplace_back("memory_mib: must be in 64..16777216");
  }
  return problems;
}

std::vector<std::string> validate(const SshSite& config) {
  std::vector<std::string> problems;
  if (config.silence_seconds < 4 || config.silence_seconds > 3600) {
    problems.emplace_back("silence_seconds: must be in 4..3600");
  }
  return problems;
}

std::optional<std::int64_t> seconds_of_slurm_time(std::string_view text) {
  std::int64_t seconds = 0;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  if (has_days) {
    const auto days = read_number<std::uint32_t>(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = std::int64_t{*days} * 86'400;
    text.remove_prefix(dash + 1);
  }
  // Hours come first behind days and where there are three; minutes else.
  const auto colons = std::ranges::count(text, ':');
  if (colons > 2) return std::nullopt;
  std::int64_t unit = has_days || colons == 2 ? 3'600 : 60;
  for (bool more = true; more; unit /= 60) {
    const std::size_t colon = text.find(':');
    const auto value = read_number<std::uint32_t>(text.substr(0, colon));
    if (!value) return std::nullopt;
    seconds += *value * unit;
    more = colon != std::string_view::npos;
    text.remove_prefix(more ? colon + 1 : text.size());
  }
  return seconds;
}

std::vector<std::string> validate(const SlurmSite& config) {
  std::vector<std::string> problems;
  if (!is_one_word(config.partition)) problems.emplace_back("partition: must be one word");
  if (!seconds_of_slurm_time(config.time_limit)) {
    problems.emplace_back("time_limit: must be as Slurm has it, such as 30, 24:00:00 or 7-0");
  }
  if (config.warning_seconds < 0 || config.warning_seconds > 65535) {
    problems.emplace_back("warning_seconds: must be in 0..65535");
  }
  if (config.ask_seconds < 1 || config.ask_seconds > 3600) {
    problems.emplace_back("ask_seconds: must be in 1..3600");
  }
  for (const std::string& option : config.options) {
    if (!option.starts_with("--") || !is_one_word(option)) {
      problems.emplace_back("options: must be words such as --account=NAME, not '" + option + "'");
    }
  }
  return problems;
}

std::vector<std::string> validate(const KubernetesSite& config) {
  std::vector<std::string> problems;
  for (const auto& [key, name] : {std::pair<std::string, const std::string&>{"name", config.name},
                                  {"namespace", config.name_space},
                                  {"keys_secret", config.keys_secret},
                                  {"token_secret", config.token_secret}}) {
    if (!is_label(name)) {
      problems.push_back(key + ": must be 1 to 40 of a-z, 0-9 and -, with - only inside");
    }
  }
  // Services are called after it, whose names begin with a letter (RFC 1035).
  if (is_label(config.name) && !is_letter(config.name.front())) {
    problems.emplace_back("name: must begin with a letter");
  }
  if (config.image.empty() || !is_one_word(config.image)) {
    problems.emplace_back("image: must be one word, such as registry.example/pacml:1.0");
  }
  if (!config.storage_class.empty() && !std::ranges::all_of(config.storage_class, [](char c) {
        return is_label_character(c, "-.");
      })) {
    problems.emplace_back("storage_class: must be of a-z, 0-9, - and .");
  }
  if (config.storage_gib < 1) problems.emplace_back("storage_gib: must be at least 1");
  if (config.stop_seconds < 0) problems.emplace_back("stop_seconds: must be at least 0");
  return problems;
}

std::vector<std::string> validate(const Site& config) {
  std::vector<std::string> problems;
  const std::int64_t highest = 65535 - 2 - kPortsOfShards;
  if (config.port < 0 || config.port > highest) {
    problems.push_back("port: must be in 0.." + std::to_string(highest) +
                       "; the ports above it are used as well");
  }
  if (config.http_port < 0 || config.http_port > 65535) {
    problems.emplace_back("http_port: must be in 0..65535");
  }
  if (config.port != 0) {
    if (auto problem = clash_of_ports(config.http_port, config.port); !problem.empty()) {
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

std::string clash_of_ports(std::int64_t http_port, std::int64_t port, std::int64_t behind) {
  const std::int64_t highest = port + behind;
  if (http_port < port || http_port > highest) return {};
  return "http_port: must not be in " + std::to_string(port) + ".." + std::to_string(highest) +
         ", which roles listen at (port)";
}

Site load_site(const std::string& path, const std::vector<std::string>& overrides) {
  constexpr std::string_view kOption = "--site-set";
  return read_config<Site>(path.empty()
                               ? ConfigSource::from_text("(defaults)", "", overrides, kOption)
                               : ConfigSource::from_file(path, overrides, kOption));
}

}  // namespace pacml::apps
