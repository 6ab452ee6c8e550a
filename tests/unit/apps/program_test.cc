#include "apps/cli/program.h"

#include <sstream>
#include <stdexcept>

#include "common/try_again.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;
using Words = std::vector<std::string>;

namespace {

// Does what its one argument says.
class Obedient final : public Command {
 public:
  [[nodiscard]] CommandText text() const override { return {"obey", "does as it is told", {}}; }
  void declare(Options& options) override { options.argument("WHAT", &what_, "succeed, ..."); }
  [[nodiscard]] int run() override {
    if (what_ == "mend") throw UserError("a.yaml:3: no such key");
    if (what_ == "wait") throw TryAgainError("the port is still taken");
    if (what_ == "break") throw std::logic_error("index out of range");
    return what_ == "seven" ? 7 : 0;
  }

 private:
  std::string what_;
};

struct Outcome {
  int code = 0;
  std::string out, err;
  Words delegated;
};

Outcome run(const Words& arguments) {
  Outcome outcome;
  Program program{.name = "tool",
                  .summary = "a tool",
                  .version = "tool 1.0",
                  .commands = {},
                  .delegations = {{"learn", "", "learns elsewhere"}, {"obey", "elsewhere", ""}},
                  .delegate = [&](const Words& words) {
                    outcome.delegated = words;
                    return 5;
                  }};
  program.commands.push_back(std::make_unique<Obedient>());
  std::ostringstream out;
  std::ostringstream err;
  outcome.code = run_program(program, arguments, out, err);
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

}  // namespace

TEST_CASE("a program that cannot be prepared says so as a command does") {
  Program program{.name = "tool",
                  .summary = "a tool",
                  .version = "tool 1.0",
                  .commands = {},
                  .delegations = {},
                  .delegate = {},
                  .prepare = [] { throw UserError("there is no room"); }};
  std::ostringstream out;
  std::ostringstream err;
  CHECK(run_program(program, {"--version"}, out, err) == 2);
  CHECK(out.str().empty());
  CHECK(err.str() == "tool: there is no room\n");
}

TEST_CASE("a command's exit code is the program's") {
  CHECK(run({"obey", "succeed"}).code == 0);
  CHECK(run({"obey", "seven"}).code == 7);
}

TEST_CASE("output that is lost is no success") {
  Program program;
  program.name = "tool";
  program.version = "tool 1.0";
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  std::ostringstream err;
  CHECK(run_program(program, {"--version"}, out, err) == 2);
  CHECK(err.str() == "tool: what it printed is lost: standard output took it no more\n");
}

TEST_CASE("what the user can mend is one sentence and exit code 2") {
  const Outcome outcome = run({"obey", "mend"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "tool: a.yaml:3: no such key\n");
  CHECK(outcome.out.empty());
}

TEST_CASE("what may pass by itself is one sentence and exit code 75") {
  const Outcome outcome = run({"obey", "wait"});
  CHECK(outcome.code == 75);
  CHECK(outcome.err == "tool: the port is still taken\n");
}

TEST_CASE("any other exception is exit code 1, with its text") {
  const Outcome outcome = run({"obey", "break"});
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.err, Catch::Contains("index out of range"));
}

TEST_CASE("an unknown command is answered with the nearest name") {
  const Outcome outcome = run({"obye"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "tool: there is no command 'obye'; did you mean 'obey'?\n");
}

TEST_CASE("help and version go to standard output") {
  const Outcome help = run({"--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Catch::Contains("obey   does as it is told"));
  CHECK_THAT(help.out, Catch::Contains("learn  learns elsewhere"));
  CHECK(run({"--version"}).out == "tool 1.0\n");
  CHECK(run({"obey", "--help"}).code == 0);
}

TEST_CASE("no command at all is a mistake that shows the list") {
  const Outcome outcome = run({});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.out, Catch::Contains("obey"));
}

TEST_CASE("a delegated command is passed on with all its arguments, unparsed") {
  const Outcome outcome = run({"learn", "--any", "thing"});
  CHECK(outcome.code == 5);
  CHECK(outcome.delegated == Words{"learn", "--any", "thing"});
}

TEST_CASE("a command may be delegated for one first argument only") {
  CHECK(run({"obey", "elsewhere"}).code == 5);
  CHECK(run({"obey", "seven"}).code == 7);
}
