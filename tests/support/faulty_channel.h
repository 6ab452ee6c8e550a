#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "common/rng.h"
#include "common/transport/channel.h"

// Any client channel, made unreliable: what a bad network or a dying peer does to frames on their
// way to the server.

namespace pacml::testing {

enum class Fault { kNone, kDrop, kDuplicate, kDelay, kTruncate, kFlipBit, kDisconnect };

// How often each fault strikes, out of 100; the rest passes.
struct FaultPlan {
  std::uint64_t drop = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t delay = 0;  // behind the next frame
  std::uint64_t truncate = 0;
  std::uint64_t flip_bit = 0;
  std::uint64_t disconnect = 0;  // the send fails, the frame is untouched
};

class FaultyClient final : public transport::FrameClient {
 public:
  // The seed makes a failure replay.
  FaultyClient(transport::FrameClient& inner, FaultPlan plan, Seed seed)
      : inner_(inner), plan_(plan), rng_(seed) {}

  Result<void> send(wire::Frame&& frame, Deadline deadline) override {
    switch (next()) {
      case Fault::kDrop:
        ++lost_;
        frame.parts.clear();
        return {};
      case Fault::kDisconnect:
        return fail(Errc::kDisconnected, "injected");
      case Fault::kDelay:
        delayed_.push_back(std::exchange(frame, {}));
        return {};
      case Fault::kDuplicate: {
        wire::Frame copy = frame;
        if (auto sent = inner_.send(std::move(copy), deadline); !sent) return sent;
        break;
      }
      case Fault::kTruncate:
        ++damaged_;
        damage(frame, [&](Bytes& part) { part.resize(rng_.below(part.size())); });
        break;
      case Fault::kFlipBit:
        ++damaged_;
        damage(frame, [&](Bytes& part) {
          part[rng_.below(part.size())] ^= std::byte(1U << rng_.below(8));
        });
        break;
      case Fault::kNone:
        break;
    }
    if (auto sent = inner_.send(std::move(frame), deadline); !sent) return sent;
    return flush(deadline);
  }
  Result<wire::Frame> receive(Deadline deadline) override { return inner_.receive(deadline); }
  void wake() override { inner_.wake(); }

  // Sends what was delayed.
  Result<void> flush(Deadline deadline) {
    while (!delayed_.empty()) {
      if (auto sent = inner_.send(std::move(delayed_.front()), deadline); !sent) return sent;
      delayed_.pop_front();
    }
    return {};
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  Fault next() {
    std::uint64_t draw = rng_.below(100);
    const auto strikes = [&](std::uint64_t share) {
      if (draw < share) return true;
      draw -= share;
      return false;
    };
    if (strikes(plan_.drop)) return Fault::kDrop;
    if (strikes(plan_.duplicate)) return Fault::kDuplicate;
    if (strikes(plan_.delay)) return Fault::kDelay;
    if (strikes(plan_.truncate)) return Fault::kTruncate;
    if (strikes(plan_.flip_bit)) return Fault::kFlipBit;
    if (strikes(plan_.disconnect)) return Fault::kDisconnect;
    return Fault::kNone;
  }
  template <class Change>
  void damage(wire::Frame& frame, Change change) {
    Bytes& part = frame.parts[rng_.below(frame.parts.size())];
    if (!part.empty()) change(part);
  }

  transport::FrameClient& inner_;
  FaultPlan plan_;
  Rng rng_;
  std::deque<wire::Frame> delayed_;
  std::uint64_t lost_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace pacml::testing
