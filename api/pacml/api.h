#pragma once

// What of the library others may call. Everything else in it is hidden, so that it may change.
#define PACML_API __attribute__((visibility("default")))
