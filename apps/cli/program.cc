#include "apps/cli/program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iomanip>
#include <iostream>
#include <string_view>
#include <utility>

#include "apps/cli/first_process.h"
#include "apps/cli/outputs.h"
#include "apps/cli/parse.h"
#include "apps/cli/standard_streams.h"
#include "common/exit_codes.h"
#include "common/result.h"
#include "common/text.h"
#include "common/try_again.h"

namespace pacml::apps {
namespace {

using Row = std::pair<std::string, std::string>;  // a command's name and summary

std::vector<Row> command_list(const Program& program) {
  std::vector<Row> rows;
  for (const auto& command : program.commands) {
    const CommandText text = command->text();
    rows.emplace_back(text.name, text.summary);
  }
  for (const Delegation& delegation : program.delegations) {
    if (!delegation.summary.empty()) rows.emplace_back(delegation.command, delegation.summary);
  }
  return rows;
}

void print_rows(const std::vector<Row>& rows, std::ostream& out) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.first.size());
  for (const auto& [name, summary] : rows) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << name << "  " << summary
        << "\n";
  }
}

void print_overview(const Program& program, std::ostream& out) {
  out << program.name << ": " << program.summary << "\n\nUsage: " << program.name
      << " COMMAND [ARGUMENTS]\n\nCommands:\n";
  print_rows(command_list(program), out);
  if (!program.names.rows.empty()) {
    out << "\n" << program.names.title << ":\n";
    print_rows(program.names.rows, out);
  }
  out << "\n" << program.name << " COMMAND --help explains one, with examples.\n";
}

bool is_delegated(const Program& program, const std::vector<std::string>& arguments) {
  return std::ranges::any_of(program.delegations, [&](const Delegation& d) {
    return d.command == arguments[0] &&
           (d.first_argument.empty() || (arguments.size() > 1 && arguments[1] == d.first_argument));
  });
}

int dispatch(const Program& program, const std::vector<std::string>& arguments, std::ostream& out) {
  if (arguments.empty()) {
    print_overview(program, out);
    return kExitUserMustMend;
  }
  const std::string& name = arguments[0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_overview(program, out);
    return 0;
  }
  if (name == "--version") {
    out << program.version << "\n";
    return 0;
  }
  if (is_delegated(program, arguments)) return program.delegate(arguments);

  // Two words name a command where there is one of that name: "bench load" goes before "bench".
  const std::string two_words = arguments.size() > 1 ? name + " " + arguments[1] : name;
  const auto named = [&](const std::string& words) {
    return std::ranges::find_if(program.commands,
                                [&](const auto& command) { return command->text().name == words; });
  };
  const auto longer = named(two_words);
  const auto found = longer != program.commands.end() ? longer : named(name);
  if (found != program.commands.end()) {
    const auto& command = *found;
    const CommandText text = command->text();
    Options options;
    command->declare(options);
    const auto words = std::ranges::count(text.name, ' ') + 1;
    const std::vector<std::string> rest(arguments.begin() + words, arguments.end());
    if (const auto help = parse_options(program.name + " " + text.name, text, options, rest)) {
      out << *help;
      return 0;
    }
    check_outputs(options, program.refuse_output);
    return command->run();
  }
  std::vector<std::string> names;
  for (const Row& row : command_list(program)) names.push_back(row.first);
  throw UserError("there is no command '" + name + "'" + did_you_mean(name, names));
}

}  // namespace

int run_program(const Program& program, const std::vector<std::string>& arguments,
                std::ostream& out, std::ostream& err) {
  hold_standard_streams();
  end_first_process_by_signals();
  try {
    if (program.prepare) program.prepare();
    const int code = dispatch(program, arguments, out);
    if (code != 0 || out.flush()) return code;
    // Who reads no further, as `head` does, misses nothing.
    if (&out == &std::cout && ::write(STDOUT_FILENO, "\n", 1) < 0 && errno == EPIPE) return code;
    throw UserError("what it printed is lost: standard output took it no more");
  } catch (const TryAgainError& error) {
    err << program.name << ": " << error.what() << "\n";
    return kExitTryAgain;
  } catch (const UserError& error) {
    err << program.name << ": " << error.what() << "\n";
    return kExitUserMustMend;
  } catch (const std::exception& error) {
    err << program.name << ": unexpected failure, please report it: " << error.what() << "\n";
    return kExitBug;
  }
}

}  // namespace pacml::apps
