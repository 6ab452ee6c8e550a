#include "apps/roles/ask_status.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "apps/roles/encryption.h"
#include "common/result.h"
#include "common/transport/dealer.h"
#include "common/try_again.h"
#include "common/wire/codec.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::milliseconds kLook{100};  // for a refusal, while waiting
constexpr std::chrono::seconds kAskAgain{1};

// The answer, without waiting for a server that will never give one. A question goes with whom it
// was put to: a process that ended, or a learner that was only trying whether it may bind.
Result<wire::Frame> ask(transport::Dealer& server, Deadline deadline) {
  while (true) {
    static_cast<void>(server.send(wire::encode(wire::GetStatus{}), deadline));
    const Deadline again = Deadline::in(kAskAgain);
    do {
      auto frame = server.receive(std::min({deadline, again, Deadline::in(kLook)}));
      const auto trouble = server.trouble();
      if (frame || deadline.expired() || (trouble && trouble->lasting)) return frame;
    } while (!again.expired());
  }
}

}  // namespace

std::string ask_status(const std::string& address, const transport::SecurityConfig& security,
                       Deadline deadline) {
  transport::Context context(1, encryption_of(security, Party::kClient));
  transport::Dealer server(context, transport::Endpoint::parse(address), {},
                           transport::Dealer::Handshakes::kWatched);
  while (true) {
    const auto frame = ask(server, deadline);
    if (!frame) {
      const auto trouble = server.trouble();
      const std::string sentence = address + ": no learner or replay shard answers there";
      // Also one that is not sure to last: it broke off every handshake that there was time for.
      if (trouble) throw UserError(sentence + ": " + trouble->reason);
      throw TryAgainError(sentence);
    }
    const auto message = wire::decode(*frame);
    if (!message) throw UserError(address + ": " + message.error().detail);
    if (const auto* status = std::get_if<wire::Status>(&*message)) return status->text;
  }
}

}  // namespace pacml::apps
