#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "env/graph/profile.h"

namespace pacml::env {

// Reads a profile in PipeDream's text format:
//
//   node<ID> -- <description> -- forward_compute_time=F, backward_compute_time=B,
//       activation_size=A, parameter_size=P[, optimizer_size=O][, ...][ -- stage_id=K]
//                                                                        (on one line)
//   <TAB>node<U> -- node<V>
//
// `optimizer_size` is ours (profile.h), and 0 where it is not there. A value may be a list "[a;
// b]": its sum counts. Blank lines are skipped. Refused, with a UserError that names `source` and
// the line: anything else on a line, ids that are not exactly 1..n, an op described twice, a
// dependency without its tab, given twice, on an unknown op or on itself, a time or size that is
// not a number from 0 to 1e30, a file without ops or whose ops take no time, and a graph with a
// cycle.
[[nodiscard]] Profile read_profile(std::istream& text, std::string model, std::string_view source);

// Reads `path`; the model is named by the folder when the file is called graph.txt, else by its
// stem. UserError also: it cannot be read, or is longer than 256 MiB.
[[nodiscard]] Profile read_profile_file(const std::filesystem::path& path);

// The models below `directory`, i.e. its sub-folders that hold a graph.txt, sorted by name.
// UserError when the folder does not exist or holds none; TryAgainError when nobody can tell now.
[[nodiscard]] std::vector<std::string> list_profiles(const std::filesystem::path& directory);

}  // namespace pacml::env
