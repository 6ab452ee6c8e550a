#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"
#include "common/transport/channel.h"

namespace pacml::learner {

// A few texts under names, kept by the leader of a group of replicas, for them to find one another:
// who is there (membership.h), and at which addresses (gloo_group.h).
class Board {
 public:
  virtual ~Board() = default;
  // Replaces what was there. kTimeout: the leader does not answer. kOverLimit: too much is there.
  [[nodiscard]] virtual Result<void> put(const std::string& key, const std::string& value) = 0;
  // nullopt: nothing is there. kTimeout: the leader does not answer.
  [[nodiscard]] virtual Result<std::optional<std::string>> get(const std::string& key) = 0;
};

// Memory is bounded by their product.
struct BoardLimits {
  std::size_t keys = 4096;
  std::size_t key_bytes = 256;
  std::size_t value_bytes = std::size_t{1} << 16;
};

// The board itself. Thread-safe.
class LocalBoard final : public Board {
 public:
  // Borrows the clock.
  explicit LocalBoard(const BoardLimits& limits = {}, const Clock& clock = steady())
      : limits_(limits), clock_(&clock) {}
  Result<void> put(const std::string& key, const std::string& value) override;
  Result<std::optional<std::string>> get(const std::string& key) override;

  // What was put within the last `age`, and still is there.
  [[nodiscard]] std::optional<std::string> fresh(const std::string& key, Duration age) const;
  void erase_all(std::string_view prefix);

 private:
  struct Entry {
    std::string value;
    TimePoint put;
  };
  BoardLimits limits_;
  const Clock* clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // under mutex_
};

// Answers other processes until `stop`. What does not decode is not answered, nor, where there are
// keys, whoever has not shown that of the servers, which learners have.
void serve_board(LocalBoard& board, transport::FrameServer& server, const std::stop_token& stop);

// The board of another process. Thread-confined, as is the transport that it borrows.
class RemoteBoard final : public Board {
 public:
  explicit RemoteBoard(transport::FrameClient& leader,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(1'000))
      : leader_(&leader), patience_(patience) {}
  Result<void> put(const std::string& key, const std::string& value) override;
  Result<std::optional<std::string>> get(const std::string& key) override;

 private:
  struct Answer {
    std::string verb;
    std::string value;
  };
  [[nodiscard]] Result<Answer> ask(std::string_view verb, const std::string& key,
                                   const std::string& value);

  transport::FrameClient* leader_;
  std::chrono::milliseconds patience_;
  std::uint64_t requests_ = 0;
};

}  // namespace pacml::learner
