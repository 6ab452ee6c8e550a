#include <iostream>
#include <string>

#include "apps/commands/commands.h"
#include "common/transport/key_files.h"

namespace pacml::apps {
namespace {

class KeygenCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"keygen",
            "keys, with which the processes of a run know and understand one another alone",
            {{"keygen keys", "a folder for --keys: of the learner, of replay shards, of actors"},
             {"keygen keys --client laptop",
              "one key more, so that it can be taken back alone; for security.client=laptop"}}};
  }
  void declare(Options& options) override {
    options.argument("DIR", &folder_, "folder to make; never overwritten");
    options.option("--client NAME", &client_,
                   "adds NAME.key, and its line in allowed_clients, to a folder that is there");
  }
  [[nodiscard]] int run() override {
    if (client_) {
      transport::add_client_key(folder_, *client_);
      std::cout << "added " << *client_ << " to " << folder_ << "; its host needs " << *client_
                << ".key and server.pub\n";
      return 0;
    }
    transport::create_key_folder(folder_);
    std::cout << "made " << folder_ << "; give it to every role with --keys " << folder_ << "\n"
              << "  learner and replay shards need  server.key, server.pub, allowed_clients\n"
              << "  hosts of actors need            actor.key, server.pub\n"
              << "  *.key are secret: whoever has one can join\n";
    return 0;
  }

 private:
  std::string folder_;
  std::optional<std::string> client_;
};

}  // namespace

std::unique_ptr<Command> make_keygen_command() { return std::make_unique<KeygenCommand>(); }

}  // namespace pacml::apps
