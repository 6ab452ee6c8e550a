#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "common/clock.h"
#include "common/transport/allow_list.h"
#include "common/transport/zap.h"

// Internal to common/transport.

namespace pacml::transport {

// Decides for the sockets of one context who may connect: a thread that answers ZeroMQ's questions
// out of an allow-list, which it follows as it changes. Thread-safe.
class ZapHandler {
 public:
  // Before the first socket of the context. UserError: the list, as AllowListFile.
  ZapHandler(zmq::context_t& context, const std::filesystem::path& allowed_clients);
  ZapHandler(const ZapHandler&) = delete;
  ZapHandler& operator=(const ZapHandler&) = delete;
  // Pre: the context is shut down, which ends the thread.
  ~ZapHandler() = default;

  // Whether the list has that key, as of about a second ago. Thread-safe.
  [[nodiscard]] bool allows(const CurveKeyBytes& key) const;
  // ... any key of that holder. Thread-safe.
  [[nodiscard]] bool lists(const std::string& name) const;
  // Handshakes that were refused, so far.
  [[nodiscard]] std::uint64_t denied() const { return denied_; }

 private:
  void run();
  void answer_one();
  void note_denied(const ZapAnswer& answer);
  // The list as it is now, which the other threads see from now on.
  const AllowList& look();

  AllowListFile allowed_;  // the thread's, as the next two
  TimePoint next_note_;
  zmq::socket_t socket_;
  std::atomic<std::uint64_t> denied_{0};
  mutable std::mutex mutex_;
  AllowList seen_;  // under mutex_
  // An exception here ends the process: nobody could connect any more, and nobody would know why.
  std::jthread thread_;
};

}  // namespace pacml::transport
