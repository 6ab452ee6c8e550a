#include <iostream>

#include "apps/cli/version.h"
#include "apps/commands/commands.h"

namespace pacml::apps {
namespace {

class VersionCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"version",
            "the release and the revision it was built from",
            {{"version", "prints one line"}}};
  }
  void declare(Options&) override {}
  [[nodiscard]] int run() override {
    std::cout << "pacml " << version() << "\n";
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> make_version_command() { return std::make_unique<VersionCommand>(); }

}  // namespace pacml::apps
