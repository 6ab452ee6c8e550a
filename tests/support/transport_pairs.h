#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/transport/dealer.h"
#include "common/transport/in_process.h"
#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "common/transport/subscriber.h"
#include "tests/support/key_folder.h"
#include "tests/support/temp_dir.h"

// Every transport behind one interface, for tests that must hold on all of them. A new one passes
// by being added to the contract's list.

namespace pacml::testing {

inline constexpr int kPairQueue = 4;  // frames per peer and direction

struct InProcessPair {
  static constexpr bool kDeliversAtOnce = true;  // what was sent can be received, without a wait
  explicit InProcessPair(int queue = kPairQueue) : hub(static_cast<std::size_t>(queue)) {}
  std::unique_ptr<transport::FrameServer> make_server() { return hub.make_server(); }
  std::unique_ptr<transport::FrameClient> connect() { return hub.connect(); }
  std::unique_ptr<transport::FramePublisher> make_publisher() { return hub.make_publisher(); }
  std::unique_ptr<transport::FrameSubscriber> subscribe() { return hub.subscribe(); }
  void stop() { hub.stop(); }

  transport::InProcessHub hub;
};

// Over ZeroMQ; `server_at` and `publisher_at` become the real endpoints once bound.
class ZmqPair {
 public:
  ZmqPair(const std::string& server_at, const std::string& publisher_at, int queue,
          std::optional<transport::Encryption> encryption = {})
      : context_(1, std::move(encryption)),
        server_at_(transport::Endpoint::parse(server_at)),
        publisher_at_(transport::Endpoint::parse(publisher_at)) {
    config_.queue_messages = queue;
  }
  std::unique_ptr<transport::FrameServer> make_server() {
    auto router = std::make_unique<transport::Router>(context_, server_at_, config_);
    server_at_ = router->endpoint();
    return router;
  }
  std::unique_ptr<transport::FrameClient> connect() {
    return std::make_unique<transport::Dealer>(context_, server_at_, config_);
  }
  std::unique_ptr<transport::FramePublisher> make_publisher() {
    auto publisher = std::make_unique<transport::Publisher>(context_, publisher_at_, config_);
    publisher_at_ = publisher->endpoint();
    return publisher;
  }
  std::unique_ptr<transport::FrameSubscriber> subscribe() {
    return std::make_unique<transport::Subscriber>(context_, publisher_at_, config_);
  }
  void stop() { context_.stop(); }

 private:
  transport::SocketConfig config_;
  transport::Context context_;
  transport::Endpoint server_at_;
  transport::Endpoint publisher_at_;
};

struct ZmqInprocPair : ZmqPair {
  static constexpr bool kDeliversAtOnce = true;
  explicit ZmqInprocPair(int queue = kPairQueue)
      : ZmqPair("inproc://server", "inproc://publisher", queue) {}
};

struct ZmqTcpPair : ZmqPair {
  static constexpr bool kDeliversAtOnce = false;
  explicit ZmqTcpPair(int queue = kPairQueue)
      : ZmqPair("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", queue) {}
};

// Client and server in one context, as in a learner that has replay shards.
struct ZmqCurvePair : private KeyFolder, ZmqPair {
  static constexpr bool kDeliversAtOnce = false;
  explicit ZmqCurvePair(int queue = kPairQueue)
      : ZmqPair("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", queue, KeyFolder::server()) {}
};

struct IpcFolder {
  TempDir folder;
  [[nodiscard]] std::string at(const std::string& name) const {
    return "ipc://" + (folder / name).string();
  }
};
struct ZmqIpcPair : private IpcFolder, ZmqPair {
  static constexpr bool kDeliversAtOnce = false;
  explicit ZmqIpcPair(int queue = kPairQueue) : ZmqPair(at("server"), at("publisher"), queue) {}
};

}  // namespace pacml::testing
