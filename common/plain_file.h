#pragma once

#include <filesystem>
#include <fstream>

namespace pacml {

// A file of a run, to be read. Not open where there is none, or where something else stands in its
// place: a pipe that nobody writes to would hold up whoever opens it. Thread-safe.
[[nodiscard]] std::ifstream open_plain_file(const std::filesystem::path& path,
                                            std::ios::openmode mode = std::ios::binary);

}  // namespace pacml
