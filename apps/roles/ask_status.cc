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

}  // namespace

std::string ask_status(const std::string& address, const transport::SecurityConfig& security,
                       Deadline deadline) {
  transport::Context context(1, encryption_of(security, Party::kClient));
  transport::Dealer server(context, transport::Endpoint::parse(address), {},
                           transport::Dealer::Handshakes::kWatched);
  // A question goes with whom it was put to: a process that ended, or a learner that was only
  // trying whether it may bind.
  Deadline again = Deadline::now();
  while (true) {
    if (again.expired()) {
      static_cast<void>(server.send(wire::encode(wire::GetStatus{}), deadline));
      again = Deadline::in(kAskAgain);
    }
    const auto frame = server.receive(std::min({deadline, again, Deadline::in(kLook)}));
    if (frame) {
      const auto message = wire::decode(*frame);
      if (!message) throw UserError(address + ": " + message.error().detail);
      if (const auto* status = std::get_if<wire::Status>(&*message)) return status->text;
    }
    const auto trouble = server.trouble();
    const bool is_refused = trouble && trouble->lasting;
    if (!deadline.expired() && !is_refused) continue;
    const std::string sentence = address + ": no learner or replay shard answers there";
    // Also one that is not sure to last: it broke off every handshake that there was time for.
    if (trouble) throw UserError(sentence + ": " + trouble->reason);
    throw TryAgainError(sentence);
  }
}

}  // namespace pacml::apps
