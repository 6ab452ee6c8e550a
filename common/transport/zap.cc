#include "common/transport/zap.h"

#include <cstring>

namespace pacml::transport {
namespace {

// Where the parts of a request stand.
enum Part { kVersion, kRequest, kDomain, kAddress, kIdentity, kMechanism, kCredentials, kParts };

constexpr const char* kZapVersion = "1.0";

std::vector<std::string> reply(std::string request, const char* status, std::string why,
                               std::string user = {}) {
  return {kZapVersion, std::move(request), status, std::move(why), std::move(user), ""};
}

}  // namespace

std::string user_text(const KeyUser& user) { return encode_curve_key(user.key) + user.name; }

std::optional<KeyUser> parse_user(std::string_view text) {
  constexpr std::size_t kKeyLength = 40;
  if (text.size() < kKeyLength) return std::nullopt;
  const auto key = decode_curve_key(text.substr(0, kKeyLength));
  if (!key) return std::nullopt;
  return KeyUser{*key, std::string(text.substr(kKeyLength))};
}

ZapAnswer answer_zap(std::span<const std::string> request, const AllowList& allowed) {
  ZapAnswer answer;
  if (request.size() < kParts || request[kVersion] != kZapVersion) {
    const bool has_id = request.size() > kRequest;
    answer.parts = reply(has_id ? request[kRequest] : "", "500", "not a request of version 1.0");
    return answer;
  }
  const std::string& id = request[kRequest];
  answer.address = request[kAddress];
  CurveKeyBytes key{};
  const bool shows_key = request.size() == kParts && request[kDomain] == kZapDomain &&
                         request[kMechanism] == "CURVE" &&
                         request[kCredentials].size() == key.size();
  if (!shows_key) {
    answer.parts = reply(id, "400", "no CURVE key for this domain");
    return answer;
  }
  std::memcpy(key.data(), request[kCredentials].data(), key.size());
  answer.key = key;
  const std::string* const name = allowed.find(key);
  answer.allowed = name != nullptr;
  answer.parts = answer.allowed ? reply(id, "200", "OK", user_text({key, *name}))
                                : reply(id, "400", "the key is not allowed");
  return answer;
}

}  // namespace pacml::transport
