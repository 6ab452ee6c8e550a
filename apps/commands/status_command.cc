#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/cli/files.h"
#include "apps/cli/terminal.h"
#include "apps/commands/commands.h"
#include "apps/roles/ask_status.h"
#include "apps/roles/status_text.h"
#include "common/json_text.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class StatusCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"status",
            "what a learner or a replay shard is doing, and who waits for whom",
            {{"status tcp://127.0.0.1:5555", "a learner's figures"},
             {"status tcp://10.0.0.1:5560 --out status.json", "a shard's, for a program"},
             {"status tcp://10.0.0.1:5555 --keys keys", "of a run that uses keys"}}};
  }
  void declare(Options& options) override {
    options.argument("ADDRESS", &address_, "where it serves actors, e.g. tcp://HOST:5555");
    options.option("--seconds S", &seconds_, "how long to wait for an answer");
    options.option("--keys DIR", &security_.keys,
                   "folder with a client's key and server.pub, where the run uses keys");
    options.option("--client NAME", &security_.client, "whose key: NAME.key there");
    options.output("--out FILE", &out_, "write it as JSON instead of printing it");
  }
  [[nodiscard]] int run() override {
    if (!(seconds_ > 0 && seconds_ <= 86'400)) {
      throw UserError("--seconds: must be > 0 and at most 86400 (a day)");
    }
    if (security_.keys.empty() && security_.client != transport::SecurityConfig{}.client) {
      throw UserError("--client: is a key in the folder that --keys names");
    }
    const auto text = ask_status(address_, security_, Deadline::in(in_seconds(seconds_)));
    const auto status = nlohmann::json::parse(text, nullptr, false);
    if (!status.is_object()) throw UserError(address_ + ": its answer is not a status");
    if (out_) {
      write_user_file(*out_, json_text(status, 2) + "\n");
    } else {
      std::cout << status_text(status, columns_of_stdout());
    }
    return 0;
  }

 private:
  std::string address_;
  transport::SecurityConfig security_;
  double seconds_ = 5;
  std::optional<std::string> out_;
};

}  // namespace

std::unique_ptr<Command> make_status_command() { return std::make_unique<StatusCommand>(); }

}  // namespace pacml::apps
