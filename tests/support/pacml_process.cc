#include "tests/support/pacml_process.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include "common/config/dump.h"
#include "tests/support/catch.h"

namespace pacml::testing {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> words_of(const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& launcher) {
  std::vector<std::string> words = launcher;
  words.push_back(pacml_path());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

std::string pacml_path() {
  const char* build = std::getenv("PACML_BINARY_DIR");
  REQUIRE(build != nullptr);
  return std::string(build) + "/bin/pacml";
}

Pacml::Pacml(const std::vector<std::string>& arguments, const std::vector<std::string>& launcher)
    : Program(words_of(arguments, launcher)) {}

Outcome pacml(const std::vector<std::string>& arguments, const std::vector<std::string>& launcher) {
  return run(words_of(arguments, launcher));
}

// ---- Workplace ----

Workplace::Workplace(const apps::TrainConfig& config) {
  std::ofstream(config_file()) << dump_config(config);
}

Workplace::~Workplace() {
  if (std::uncaught_exceptions() == 0) return;
  // The test has failed and the folder goes: how each role's log ends may say why.
  constexpr std::size_t kEnd = 2'000;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder_ / "run" / "logs", absent)) {
    const std::string log = text_of(entry.path());
    std::cerr << "==> " << entry.path().filename().string() << "\n"
              << log.substr(log.size() - std::min(log.size(), kEnd)) << '\n';
  }
}

std::vector<nlohmann::json> Workplace::metrics() const {
  std::istringstream text(text_of(folder_ / "run" / "metrics.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line) && !text.eof();) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

std::int64_t Workplace::latest(const std::string& key) const {
  const auto lines = metrics();
  return lines.empty() ? 0 : lines.back().value(key, std::int64_t{0});
}

void Workplace::wait_for_decisions(std::int64_t count) const {
  wait_until(std::to_string(count) + " decisions are learned from",
             [&] { return latest("decisions") >= count; });
}

std::string Workplace::log(const std::string& role) const {
  return text_of(folder_ / "run" / "logs" / (role + ".log"));
}

std::vector<std::string> Workplace::checkpoints() const {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder_ / "run" / "checkpoints", absent)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("checkpoint-")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace pacml::testing
