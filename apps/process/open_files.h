#pragma once

#include <cstddef>

namespace pacml::apps {

// Lets this process have as many files open as the system allows it at most (every connection is
// one); how many that is. Thread-safe.
std::size_t raise_open_file_limit();

// The same for somebody who needs `count`. UserError: the system does not allow so many; the
// sentence says how to be allowed more. `what`: that needs them, for the sentence.
void require_open_files(std::size_t count, const char* what);

}  // namespace pacml::apps
