#include "common/transport/key_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "common/atomic_file.h"
#include "common/file_descriptor.h"
#include "common/secret_file.h"
#include "common/transport/allow_list.h"
#include "common/try_again.h"

namespace pacml::transport {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kServer = kServerKeyName;
constexpr const char* kActor = "actor";
constexpr const char* kAllowed = "allowed_clients";
constexpr std::size_t kMostKeyBytes = 256;
constexpr mode_t kSecret = 0600;
constexpr mode_t kPublic = 0644;

fs::path file_of(const fs::path& folder, std::string_view name, const char* suffix) {
  return folder / (std::string(name) + suffix);
}

void write(const fs::path& path, std::string_view text, std::optional<mode_t> mode = {}) {
  const auto written = write_file_atomically(path, text, mode);
  if (!written) throw_error(written.error());
}

// Writes a new pair; its public key.
std::string write_pair(const fs::path& folder, std::string_view name) {
  const CurveKeys keys = generate_curve_keys();
  write(file_of(folder, name, ".key"), keys.secret_key + "\n", kSecret);
  write(file_of(folder, name, ".pub"), keys.public_key + "\n", kPublic);
  return keys.public_key;
}

std::string line_of(const std::string& public_key, std::string_view name) {
  return public_key + " " + std::string(name) + "\n";
}

std::string key_in(const fs::path& path, const Result<std::string>& text) {
  if (!text) throw_error(text.error());
  const auto key = parse_curve_key(*text);
  if (!key) throw UserError(path.string() + " " + key.error().detail);
  return *key;
}

std::string read_secret_key(const fs::path& path) {
  return key_in(path, read_secret_file(path, kMostKeyBytes));
}

std::string read_public_key(const fs::path& path) {
  return key_in(path, read_file(path, kMostKeyBytes));
}

// Keeps other processes from changing the folder as long as it lives.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_.is_open() && ::flock(folder_.get(), LOCK_EX) == 0) return;
    throw_system_error("cannot open the folder " + folder.string(), errno);
  }

 private:
  FileDescriptor folder_;
};

// A new folder beside its later place; gone with its owner unless it was moved there.
class NewFolder {
 public:
  explicit NewFolder(fs::path place) : place_(std::move(place)) {
    std::string name = place_.string() + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) fail_to_create(errno);
    path_ = name;
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  void move_into_place() {
    // The system replaces an empty folder by another one, and nothing else.
    if (::rename(path_.c_str(), place_.c_str()) != 0) fail_to_create(errno);
    path_.clear();
  }

 private:
  [[noreturn]] void fail_to_create(int error) const {
    throw_system_error("cannot create the folder " + place_.string(), error);
  }

  fs::path place_;
  fs::path path_;
};

}  // namespace

void create_key_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::equivalent(folder, fs::current_path(), ignored)) {
    // It would be another folder of that name, in which nobody stands.
    throw UserError(folder.string() + " is the folder that you are in; name one to be made");
  }
  fs::path place = (folder / "").parent_path();  // without a slash at its end
  if (fs::is_symlink(place, ignored)) place = fs::canonical(place, ignored);
  if (fs::exists(place, ignored) && !fs::is_empty(place, ignored)) {
    throw UserError(place.string() +
                    " is already there, and keys are never overwritten; --client NAME adds a " +
                    "client's to it");
  }
  NewFolder made(place);
  const std::string server = write_pair(made.path(), kServer);
  const std::string actor = write_pair(made.path(), kActor);
  write(made.path() / kAllowed,
        "# Who may connect to the learner and to replay shards: a public key, and who holds it.\n"
        "# Whoever holds the key of a line that is taken out is turned out, and kept out.\n" +
            line_of(server, kServer) + line_of(actor, kActor),
        kPublic);
  made.move_into_place();
}

void add_client_key(const fs::path& folder, std::string_view name) {
  if (!is_client_name(name)) {
    throw UserError("'" + std::string(name) +
                    "' cannot be a client's name: a letter or digit, then letters, digits, '.', " +
                    "'_' and '-', at most 64");
  }
  const FolderLock lock(folder);
  for (const char* suffix : {".key", ".pub"}) {
    const fs::path path = file_of(folder, name, suffix);
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored))) {
      throw UserError(path.string() + " is already there, and keys are never overwritten");
    }
  }
  const fs::path list = folder / kAllowed;
  static_cast<void>(AllowListFile(list));  // complains of a broken one before anything is written
  const auto text = read_file(list);
  if (!text) throw_error(text.error());
  const bool open_line = !text->empty() && !text->ends_with('\n');
  const std::string public_key = write_pair(folder, name);
  try {
    write(list, *text + (open_line ? "\n" : "") + line_of(public_key, name));
  } catch (const UserError&) {
    // A key that nobody lets in would be in the way of the next try.
    for (const char* suffix : {".key", ".pub"}) {
      std::error_code ignored;
      fs::remove(file_of(folder, name, suffix), ignored);
    }
    throw;
  }
}

Encryption server_encryption(const fs::path& folder) {
  const fs::path secret = file_of(folder, kServer, ".key");
  const fs::path known = file_of(folder, kServer, ".pub");
  Encryption encryption;
  encryption.own.secret_key = read_secret_key(secret);
  encryption.own.public_key = public_curve_key(encryption.own.secret_key);
  encryption.server_public_key = read_public_key(known);
  if (encryption.own.public_key != encryption.server_public_key) {
    throw UserError(known.string() + " is not the public key of " + secret.string());
  }
  encryption.allowed_clients = folder / kAllowed;
  return encryption;
}

Encryption client_encryption(const fs::path& folder, std::string_view client) {
  Encryption encryption;
  encryption.own.secret_key = read_secret_key(file_of(folder, client, ".key"));
  encryption.own.public_key = public_curve_key(encryption.own.secret_key);
  encryption.server_public_key = read_public_key(file_of(folder, kServer, ".pub"));
  return encryption;
}

Result<std::string> parse_curve_key(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (decode_curve_key(text)) return std::string(text);
  return fail(Errc::kCorruptFrame, "is not a key: 40 characters of Z85 on one line");
}

}  // namespace pacml::transport
