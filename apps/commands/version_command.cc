#include "apps/commands/version_command.h"

#include <iostream>
#include <utility>

#include "apps/cli/version.h"

namespace pacml::apps {
namespace {

class VersionCommand final : public Command {
 public:
  explicit VersionCommand(std::function<int()> more) : more_(std::move(more)) {}
  [[nodiscard]] CommandText text() const override {
    return {"version",
            "the release, the revision it was built from, and the libraries that it computes with",
            {{"version", "prints two lines"}}};
  }
  void declare(Options&) override {}
  [[nodiscard]] int run() override {
    std::cout << "pacml " << version() << '\n' << std::flush;  // before another program goes on
    return more_();
  }

 private:
  std::function<int()> more_;
};

}  // namespace

std::unique_ptr<Command> make_version_command(std::function<int()> more) {
  return std::make_unique<VersionCommand>(std::move(more));
}

}  // namespace pacml::apps
