#pragma once

namespace pacml::apps {

// Whoever starts a program may have closed its standard input, output or error. Their numbers would
// be those of whatever is opened next, and what a library prints would end up there. Opens each of
// them such that every use fails, as it did. At the beginning, before other threads.
void hold_standard_streams();

}  // namespace pacml::apps
