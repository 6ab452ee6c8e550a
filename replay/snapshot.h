#pragma once

#include <filesystem>
#include <istream>

#include "common/bytes.h"
#include "common/result.h"
#include "replay/table.h"
#include "replay/table_config.h"

// Saving a table while it is in use, and getting it back:
//
//     SnapshotWriter writer(path);
//     table.begin_snapshot(extra, writer);
//     // between requests, until it returns true:
//     if (table.advance_snapshot(256)) writer.finish();
//     // once writer.done(): writer.wait() has the size or the error
//
//     auto [table, extra] = restore_table(path, config);
//
// A restored table goes on bit for bit: the same operations give the same keys, draws, evictions
// and random streams as the saved one's would have from begin_snapshot on.

namespace pacml::replay {

struct RestoredTable {
  Table table;
  Bytes extra;  // what the owner gave to begin_snapshot
};

// UserError: the file cannot be read, is damaged, or is of a table with other settings; the
// sentence names the file.
[[nodiscard]] RestoredTable restore_table(const std::filesystem::path& path,
                                          const TableConfig& config);

// The same from a stream, where any bytes are safe: kCorruptFrame, or kVersionMismatch for another
// format or other settings, with a sentence.
[[nodiscard]] Result<RestoredTable> read_snapshot(std::istream& in, const TableConfig& config);

}  // namespace pacml::replay
