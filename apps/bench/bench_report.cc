#include "apps/bench/bench_report.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/cli/text_table.h"
#include "apps/cli/version.h"
#include "common/json_text.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

nlohmann::json machine(const std::string& math) {
  return {{"cpu", cpu_model()},      {"cores", std::thread::hardware_concurrency()},
          {"compiler", __VERSION__},
#ifdef NDEBUG
          {"build", "release"},
#else
          {"build", "debug"},
#endif
          {"pacml", version()},      {"math", math}};
}

// "1.53 ms", "240371 /s", "22.7 MB", "0.224".
std::string readable(const std::string& name, double value) {
  const auto with = [](const char* format, double v) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), format, v);
    return std::string(text.data());
  };
  if (std::isnan(value)) return "-";
  if (name.find("per_second") != std::string::npos) return with("%.0f /s", value);
  if (name.find("bytes_per") != std::string::npos) return with("%.1f B", value);
  if (name.find("bytes") != std::string::npos) return with("%.1f MB", value / 1e6);
  if (name.find("seconds") != std::string::npos) {
    if (value < 1e-3) return with("%.2f us", value * 1e6);
    return value < 1 ? with("%.2f ms", value * 1e3) : with("%.2f s", value);
  }
  return with("%.4g", value);
}

}  // namespace

std::string format_report(const BenchReport& report) {
  std::string text;
  for (const auto& [name, figures] : report) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [figure, value] : figures) {
      rows.push_back({"  " + figure, readable(figure, value)});
    }
    text += name + "\n" + align_columns(rows);
  }
  return text;
}

std::string report_to_json(const BenchReport& report, const std::string& math) {
  nlohmann::ordered_json document;
  for (const auto& [name, figures] : report) {
    auto& entry = document[name];
    for (const auto& [figure, value] : figures) entry[figure] = value;
    entry["machine"] = machine(math);
  }
  return json_text(document, 2) + "\n";
}

void add_json_report(const std::string& text, BenchReport& report) {
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!document.is_object()) throw UserError("a benchmark wrote no report");
  for (const auto& [name, entry] : document.items()) {
    bench::Figures figures;
    for (const auto& [figure, value] : entry.items()) {
      if (value.is_number()) figures.emplace_back(figure, value.get<double>());
    }
    report.emplace_back(name, std::move(figures));
  }
}

}  // namespace pacml::apps
