#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

// A strict reader of Prometheus' text format 0.0.4, as far as counters and gauges go: written from
// the format's description, and of nothing that writes it.

namespace pacml::testing {

struct Sample {
  std::map<std::string, std::string> labels;
  double value = 0;
};

struct Metric {
  std::string help;
  std::string type;
  std::map<std::string, Sample> samples;  // by their labels as written
};

class ExpositionParser {
 public:
  // The metrics by name; none, and what is wrong in `error`, where the text is not in the format.
  std::optional<std::map<std::string, Metric>> parse(const std::string& text) {
    if (text.empty() || text.back() != '\n') return fail("the last line does not end");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && !read(line)) return std::nullopt;
    }
    for (const auto& [name, metric] : metrics_) {
      if (metric.samples.empty()) return fail(name + " has no sample");
      if (metric.type.empty() || metric.help.empty()) return fail(name + " is not described");
    }
    return metrics_;
  }
  std::string error;

 private:
  std::nullopt_t fail(const std::string& why) {
    error = why;
    return std::nullopt;
  }
  bool wrong(const std::string& why, const std::string& line) {
    error = why + ": " + line;
    return false;
  }

  static bool is_name(const std::string& text, bool colons) {
    if (text.empty()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      const bool digit = c >= '0' && c <= '9';
      if (!letter && !(digit && i > 0) && !(c == ':' && colons)) return false;
    }
    return true;
  }

  bool read(const std::string& line) {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) return read_description(line);
    if (line.starts_with("#")) return true;
    return read_sample(line);
  }

  bool read_description(const std::string& line) {
    const std::string rest = line.substr(7);
    const auto space = rest.find(' ');
    if (space == std::string::npos) return wrong("half a description", line);
    const std::string name = rest.substr(0, space);
    if (!is_name(name, true)) return wrong("no name", line);
    if (name != current_ && !seen_.insert(name).second) return wrong("told in two places", line);
    current_ = name;
    auto& metric = metrics_[name];
    auto& member = line[2] == 'H' ? metric.help : metric.type;
    if (!member.empty() || !metric.samples.empty()) return wrong("described too late", line);
    member = rest.substr(space + 1);
    if (line[2] == 'T' && member != "counter" && member != "gauge") return wrong("no type", line);
    return true;
  }

  bool read_sample(const std::string& line) {
    const auto name_end = line.find_first_of("{ ");
    const std::string name = line.substr(0, name_end);
    if (name_end == std::string::npos || name != current_) return wrong("undescribed", line);
    Sample sample;
    std::size_t at = name_end;
    if (line[at] == '{' && !read_labels(line, at, sample)) return false;
    if (at >= line.size() || line[at] != ' ') return wrong("no value", line);
    const char* const begin = line.c_str() + at + 1;
    char* end = nullptr;
    sample.value = std::strtod(begin, &end);
    if (end == begin || *end != '\0') return wrong("no number", line);
    const auto labels = line.substr(name_end, at - name_end);
    if (!metrics_[name].samples.emplace(labels, sample).second) return wrong("told twice", line);
    return true;
  }

  // From the '{' at `at` to behind the '}'.
  bool read_labels(const std::string& line, std::size_t& at, Sample& sample) {
    for (++at; line[at] != '}';) {
      const auto equals = line.find('=', at);
      if (equals == std::string::npos) return wrong("half a label", line);
      const std::string name = line.substr(at, equals - at);
      if (!is_name(name, false)) return wrong("no label", line);
      at = equals + 1;
      if (line[at++] != '"') return wrong("no quote", line);
      std::string value;
      for (; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] != '\\') {
          value += line[at];
          continue;
        }
        ++at;
        if (line[at] != '\\' && line[at] != '"' && line[at] != 'n') return wrong("escape", line);
        value += line[at] == 'n' ? '\n' : line[at];
      }
      if (at >= line.size()) return wrong("no end of a label", line);
      ++at;
      if (!sample.labels.emplace(name, value).second) return wrong("a label twice", line);
      if (line[at] == ',') ++at;
    }
    ++at;
    return true;
  }

  std::map<std::string, Metric> metrics_;
  std::set<std::string> seen_;
  std::string current_;
};

}  // namespace pacml::testing
