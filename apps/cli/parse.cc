#include "apps/cli/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "common/read_number.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

[[noreturn]] void refuse(const std::string& name, const char* wanted, const std::string& word) {
  throw UserError(name + " needs " + wanted + ", not '" + word + "'");
}

template <class Number>
Number to_number(const std::string& name, const std::string& word) {
  constexpr bool kWhole = std::is_integral_v<Number>;
  const auto value = read_number<Number>(word);
  bool good = value.has_value();
  if constexpr (!kWhole) good = good && std::isfinite(*value);
  if (!good) refuse(name, kWhole ? "a whole number" : "a number", word);
  return *value;
}

void assign(const std::string&, const std::string& word, std::string& target) { target = word; }
void assign(const std::string& name, const std::string& word, std::int64_t& target) {
  target = to_number<std::int64_t>(name, word);
}
void assign(const std::string& name, const std::string& word, double& target) {
  target = to_number<double>(name, word);
}
template <class T>
void assign(const std::string& name, const std::string& word, std::optional<T>& target) {
  assign(name, word, target.emplace());
}

// The default, for the help text; empty where there is none to show.
template <class T>
std::string default_of(const T& target) {
  if constexpr (std::is_same_v<T, std::string>) return target;
  if constexpr (std::is_arithmetic_v<T>) {
    std::string text = std::to_string(target);
    if (std::is_floating_point_v<T>) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  }
  return {};
}

void declare(CLI::App& app, const OptionSpec& spec) {
  CLI::Option* option = std::visit(
      [&](auto* target) -> CLI::Option* {
        using Target = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, bool>) {
          return app.add_flag(spec.name, *target, spec.help);
        } else if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
          // An option takes one value each time; words without dashes are all of one argument.
          return app.add_option(spec.name, *target, spec.help)
              ->allow_extra_args(!spec.name.starts_with("--"));
        } else {
          const std::string shown = spec.required ? "" : default_of(*target);
          return app.add_option_function<std::string>(
              spec.name,
              [target, name = spec.name](const auto& word) { assign(name, word, *target); },
              shown.empty() ? spec.help : spec.help + " (default " + shown + ")");
        }
      },
      spec.target);
  option->required(spec.required);
  // An empty placeholder would print the C++ type's.
  option->type_name(spec.placeholder.empty() ? " " : spec.placeholder);
}

// CLI11 would take an unknown option's value for an argument and blame that, and would take the
// next option for a value that was forgotten.
void check_option_words(const std::string& command, const Options& options,
                        const std::vector<std::string>& arguments) {
  std::vector<std::string> known{"--help"};
  std::vector<std::string> with_value;
  for (const OptionSpec& spec : options.specs()) {
    if (!spec.name.starts_with("--")) continue;
    known.push_back(spec.name);
    if (!std::holds_alternative<bool*>(spec.target)) with_value.push_back(spec.name);
  }
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(known, name) == known.end()) {
      throw UserError(command + " has no option " + name + did_you_mean(name, known));
    }
    const bool value_follows = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
    const bool needs_next = name == word && std::ranges::find(with_value, name) != with_value.end();
    if (needs_next && !value_follows) throw UserError(command + ": " + name + " needs a value");
    const bool is_empty = needs_next ? arguments[i + 1].empty() : word == name + "=";
    const bool takes_value = std::ranges::find(with_value, name) != with_value.end();
    if (takes_value && is_empty) throw UserError(command + ": " + name + " needs a value, not ''");
  }
}

std::string examples_of(const std::string& title, const CommandText& text) {
  if (text.examples.empty()) return {};
  const std::string program = title.substr(0, title.find(' '));
  std::string lines = "Examples:\n";
  for (const Example& example : text.examples) {
    lines += "  " + program + " " + example.line + "\n      " + example.meaning + "\n";
  }
  return lines;
}

}  // namespace

std::optional<std::string> parse_options(const std::string& title, const CommandText& text,
                                         const Options& options,
                                         const std::vector<std::string>& arguments) {
  CLI::App app(text.summary, title);
  app.set_help_flag("-h,--help", "this text");
  app.get_formatter()->column_width(28);
  app.footer(examples_of(title, text));
  for (const OptionSpec& spec : options.specs()) declare(app, spec);

  check_option_words(text.name, options, arguments);
  // CLI11 takes the words from the back.
  std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ExtrasError&) {
    throw UserError(text.name + " does not take '" + join(app.remaining(), " ") + "'; see " +
                    title + " --help");
  } catch (const CLI::RequiredError& error) {
    throw UserError(text.name + ": " + error.what() + "; see " + title + " --help");
  } catch (const CLI::ParseError& error) {
    throw UserError(text.name + ": " + error.what());
  }
  return std::nullopt;
}

}  // namespace pacml::apps
