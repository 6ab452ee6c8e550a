#pragma once

// How a process says to whoever started it what became of it, besides 0: all is well.

namespace pacml {

inline constexpr int kExitBug = 1;           // ours; worth a report
inline constexpr int kExitUserMustMend = 2;  // trying again will not help
inline constexpr int kExitTryAgain = 75;     // it may: EX_TEMPFAIL of sysexits.h
// Stopped (128 + SIGINT, as shells have it) before there was anything to save: whoever asked for a
// trained policy has none.
inline constexpr int kExitStoppedBeforeTraining = 130;

}  // namespace pacml
