#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/transport/curve.h"

// A folder of keys, one file each:
//   server.key       secret; of the learner and of replay shards
//   server.pub       what clients know servers by
//   actor.key        secret; of actors and whoever asks for a status
//   actor.pub
//   allowed_clients  who may connect to servers (allow_list.h): the actors, and the learner, which
//                    is a client of the shards
// Further clients have NAME.key and NAME.pub. A client's host needs its .key and server.pub.
// Secret keys have mode 0600 and are refused where others can read them (common/secret_file.h).
// All functions: thread-safe, also against other processes. UserError names the file.

namespace pacml::transport {

// Makes the folder with everything above, whole or not at all. UserError: something is there
// already, which is never overwritten; it cannot be written.
void create_key_folder(const std::filesystem::path& folder);

// Adds one more client to a folder, and to its list. UserError: a bad name, one that is taken, no
// such folder; it cannot be written.
void add_client_key(const std::filesystem::path& folder, std::string_view name);

// What the learner and replay shards use: server.key, server.pub and allowed_clients.
// UserError: one of them is missing, broken, or open to others; the two keys do not match.
[[nodiscard]] Encryption server_encryption(const std::filesystem::path& folder);

// What a client uses: CLIENT.key and server.pub. UserError: as above.
[[nodiscard]] Encryption client_encryption(const std::filesystem::path& folder,
                                           std::string_view client);

// A key out of the text of its file: 40 characters of Z85 and at most a line's end. kCorruptFrame:
// it is none. Pure.
[[nodiscard]] Result<std::string> parse_curve_key(std::string_view text);

}  // namespace pacml::transport
