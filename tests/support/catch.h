#pragma once

// The one way to include Catch2, so that a move to its version 3 is one file. Files that also use
// LibTorch include torch first: glog defines a CHECK of its own.
#ifdef CHECK
#undef CHECK
#endif
#include <catch2/catch.hpp>
