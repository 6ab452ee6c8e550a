#include "common/transport/zap_handler.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "common/thread_group.h"

namespace pacml::transport {
namespace {

constexpr const char* kEndpoint = "inproc://zeromq.zap.01";  // RFC 27
constexpr std::chrono::milliseconds kLook{1'000};            // at the list, when nobody asks
constexpr std::chrono::seconds kQuiet{5};                    // between two notes in the log
constexpr std::size_t kMostRequestParts = 16;                // of a request that is read at all

}  // namespace

ZapHandler::ZapHandler(zmq::context_t& context, const std::filesystem::path& allowed_clients)
    : allowed_(allowed_clients),
      socket_(context, zmq::socket_type::rep),
      seen_(allowed_.current()) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind(kEndpoint);
  thread_ = std::jthread([this] {
    name_this_thread("zap");
    run();
  });
}

void ZapHandler::run() {
  try {
    while (true) {
      std::array<zmq::pollitem_t, 1> items{{{socket_.handle(), 0, ZMQ_POLLIN, 0}}};
      try {
        zmq::poll(items.data(), items.size(), kLook);
        if ((items[0].revents & ZMQ_POLLIN) != 0) answer_one();
      } catch (const zmq::error_t& e) {
        if (e.num() != EINTR) throw;
      }
      static_cast<void>(look());
    }
  } catch (const zmq::error_t& e) {
    if (e.num() != ETERM) throw;
  }
  socket_.close();
}

const AllowList& ZapHandler::look() {
  const AllowList& now = allowed_.current();
  const std::scoped_lock lock(mutex_);
  if (seen_.entries() != now.entries()) seen_ = now;
  return now;
}

bool ZapHandler::allows(const CurveKeyBytes& key) const {
  const std::scoped_lock lock(mutex_);
  return seen_.find(key) != nullptr;
}

bool ZapHandler::lists(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(seen_.entries(),
                             [&](const auto& entry) { return entry.second == name; });
}

void ZapHandler::answer_one() {
  std::vector<std::string> request;
  zmq::message_t part;
  do {
    static_cast<void>(socket_.recv(part));
    if (request.size() < kMostRequestParts) request.push_back(part.to_string());
  } while (part.more());
  const ZapAnswer answer = answer_zap(request, look());
  for (std::size_t i = 0; i < answer.parts.size(); ++i) {
    const bool more = i + 1 < answer.parts.size();
    socket_.send(zmq::buffer(answer.parts[i]),
                 more ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  if (!answer.allowed) note_denied(answer);
}

void ZapHandler::note_denied(const ZapAnswer& answer) {
  const std::uint64_t count = ++denied_;
  // Whoever is refused tries again and again.
  const TimePoint now = steady().now();
  if (now < next_note_) return;
  next_note_ = now + kQuiet;
  spdlog::warn("a connection from {} was denied: the key {} is not in {} ({} denied so far)",
               answer.address.empty() ? "here" : answer.address,
               answer.key ? encode_curve_key(*answer.key) : "that it did not show",
               allowed_.path().string(), count);
}

}  // namespace pacml::transport
