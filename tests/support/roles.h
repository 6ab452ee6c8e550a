#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/pacml_process.h"

// The roles of a run, started one by one, as on several hosts.

namespace pacml::testing {

// `pacml learner` in a workplace's run folder.
class Learner {
 public:
  explicit Learner(const Workplace& place, const std::string& bind = "tcp://127.0.0.1:*",
                   std::vector<std::string> options = {})
      : place_(&place), process_(words(place, bind, std::move(options))) {
    // Each life adds a line; ours is there when there is one more than before.
    wait_until("the learner serves actors", [this] {
      REQUIRE(process_.runs());
      return addresses().size() > before_;
    });
  }
  [[nodiscard]] std::string address() const { return addresses().back(); }
  [[nodiscard]] Pacml& process() { return process_; }

 private:
  std::vector<std::string> words(const Workplace& place, const std::string& bind,
                                 std::vector<std::string> options) {
    place_ = &place;
    before_ = addresses().size();
    options.insert(options.begin(),
                   {"learner", place.config_file(), "--run", place.run(), "--bind", bind});
    return options;
  }
  [[nodiscard]] std::vector<std::string> addresses() const {
    static const std::string kBefore = "serving actors at ";
    std::vector<std::string> found;
    std::istringstream log(place_->log("learner"));
    for (std::string line; std::getline(log, line) && !log.eof();) {
      const auto at = line.find(kBefore);
      if (at != std::string::npos) found.push_back(line.substr(at + kBefore.size()));
    }
    return found;
  }

  const Workplace* place_;
  std::size_t before_ = 0;
  Pacml process_;
};

inline std::vector<std::string> actor_words(const Workplace& place, const std::string& address,
                                            int id, std::vector<std::string> options = {}) {
  options.insert(options.begin(),
                 {"actor", place.config_file(), "--learner", address, "--id", std::to_string(id)});
  return options;
}

}  // namespace pacml::testing
