#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace pacml {

// A file that appears whole or not at all: whoever reads `path`, even after a crash or a kill -9 at
// any moment, finds the old content or the new. Written to a temporary beside it, which goes with
// its owner unless commit() puts it in place; where its owner was killed, with the next one that
// writes the same file (or remove_stale_temporaries). A symbolic link stays one: what it leads to
// is written, also where that is not there yet. What is no plain file, such as a device or a pipe,
// is never replaced: it is written into, and has what was appended, whatever becomes of the rest.
// Thread-confined.
class AtomicFile {
 public:
  // kIo, here and below: the sentence names the path and the reason; the old file is untouched.
  // `mode`: who may read and write it, at no moment more than that. None: as the file that is
  // replaced, or a new one as the process's umask has it.
  [[nodiscard]] static Result<AtomicFile> create(std::filesystem::path path,
                                                 std::optional<mode_t> mode = std::nullopt);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Result<void> append(std::string_view bytes);
  // Syncs the content, renames, syncs the folder. Called once, last. Where only the folder cannot
  // be synced the new file is there all the same, until the machine fails.
  [[nodiscard]] Result<void> commit();
  // The same where nothing has the name yet. False: something has, and stays. Where the file system
  // cannot tell, it is replaced.
  [[nodiscard]] Result<bool> commit_new();

 private:
  enum class Replaces { kWhatIsThere, kNothing };
  [[nodiscard]] Result<bool> commit(Replaces replaces);
  AtomicFile(std::filesystem::path path, std::filesystem::path target, std::string temporary,
             FileDescriptor file);
  static Result<AtomicFile> open_as_it_is(std::filesystem::path path);

  std::filesystem::path path_;    // as the caller calls it
  std::filesystem::path target_;  // what is replaced; empty: written into as it is
  std::string temporary_;         // empty: nothing to remove
  FileDescriptor file_;
};

// The same for a file whose content is at hand.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path,
                                                 std::string_view bytes,
                                                 std::optional<mode_t> mode = std::nullopt);

// ... and that is to be new. False: there is something of that name, which stays.
[[nodiscard]] Result<bool> write_new_file(const std::filesystem::path& path,
                                          std::string_view bytes);

// Where `path` leads to: itself, or what is behind its last part's symbolic links, whether that is
// there or not. kIo: they lead in a circle.
[[nodiscard]] Result<std::filesystem::path> behind_links(const std::filesystem::path& path);

// Removes what AtomicFiles in `folder` have left whose owners were killed; those of living owners,
// on whatever host, stay. What cannot be removed stays, too.
void remove_stale_temporaries(const std::filesystem::path& folder);

// The whole file. A pipe is read to its end if its writer comes, and goes on, without a break of
// more than ten seconds. kIo: cannot be read. kOverLimit: longer than `max_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::uint64_t max_bytes = UINT64_C(1) << 32);

}  // namespace pacml
