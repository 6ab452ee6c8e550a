#pragma once

namespace pacml::apps {

// The first process of a container (number 1) is ended by no signal that it has not asked for.
// Makes SIGTERM, SIGINT and SIGHUP end it as they do any other process, with the exit code that a
// shell tells of one; whoever has something to do first asks for them later, as everybody does. At
// the beginning, before other threads.
void end_first_process_by_signals();

}  // namespace pacml::apps
