#include "apps/launch/template_text.h"

#include <algorithm>
#include <stdexcept>

namespace pacml::apps {
namespace {

constexpr std::string_view kMark = "#? ";

bool is_name(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

// The text, line by line; the last one may lack its newline.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

class Filling {
 public:
  explicit Filling(const TemplateValues& given) : given_(given) {}

  void add(std::string_view line) {
    const std::size_t mark = line.rfind(kMark);
    if (mark == std::string_view::npos) return substitute(line);
    std::string_view condition = line.substr(mark + kMark.size());
    condition.remove_suffix(condition.ends_with('\n') ? 1 : 0);
    const bool negated = condition.starts_with('!');
    condition.remove_prefix(negated ? 1 : 0);
    if (given_.conditions.contains(condition) == negated) return;
    std::string_view kept = line.substr(0, mark);
    while (kept.ends_with(' ')) kept.remove_suffix(1);
    substitute(kept);
    out_ += '\n';
  }

  // Unused values would be settings without effect.
  std::string finish(std::string_view whole) && {
    for (const auto& [name, value] : given_.values) {
      if (whole.find("@" + name + "@") == std::string_view::npos) {
        throw std::logic_error("no line of the template has @" + name + "@");
      }
    }
    return std::move(out_);
  }

 private:
  void substitute(std::string_view line) {
    while (true) {
      const std::size_t at = line.find('@');
      if (at == std::string_view::npos) break;
      out_ += line.substr(0, at);
      line.remove_prefix(at + 1);
      const auto* end = std::ranges::find_if_not(line, is_name);
      const auto name = line.substr(0, static_cast<std::size_t>(end - line.begin()));
      if (name.empty() || end == line.end() || *end != '@') {
        out_ += '@';
        continue;
      }
      const auto value = given_.values.find(name);
      if (value == given_.values.end()) {
        throw std::logic_error("a template names @" + std::string(name) + "@, which has no value");
      }
      out_ += value->second;
      line.remove_prefix(name.size() + 1);
    }
    out_ += line;
  }

  const TemplateValues& given_;
  std::string out_;
};

}  // namespace

std::string fill_template(std::string_view text, const TemplateValues& values) {
  Filling filling(values);
  for (std::string_view rest = text; !rest.empty();) filling.add(next_line(rest));
  return std::move(filling).finish(text);
}

std::string shell_word(std::string_view text) {
  const auto is_safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:,+=@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_safe)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string indented(std::string_view text, int columns) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line != "\n") out.append(static_cast<std::size_t>(columns), ' ');
    out += line;
  }
  return out;
}

}  // namespace pacml::apps
