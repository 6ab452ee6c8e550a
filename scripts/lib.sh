# shellcheck shell=bash
# What every script here shares; sourced, never run. Leaves the shell in the repository root, so
# that each script works from any directory; $started_in is where the user was.
set -euo pipefail

started_in=$PWD
script_path=$(readlink -f "$0")
cd "$(dirname "$script_path")/.."

die() {  # one sentence, exit code 2: what the user can mend
  echo "${0##*/}: $*" >&2
  exit 2
}

say() { echo "== $*"; }

# The comment block at the top of the script is its help text.
show_help() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$script_path"; }

# That the option which comes first of the words is followed by its value: need "a number" "$@".
need() { (($# >= 3)) || die "$2 needs $1"; }

# A path that the user gave, as seen from where they gave it.
from_user() {
  case $1 in
    /*) echo "$1" ;;
    *) echo "$started_in/$1" ;;
  esac
}

# Parallel compilations: one per core, but never more than memory holds (a file that includes
# LibTorch takes 1.3 GB).
compile_jobs() {
  local cores memory_kib limit by_memory
  cores=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  if limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) && [[ $limit =~ ^[0-9]+$ ]]; then
    ((limit / 1024 < memory_kib)) && memory_kib=$((limit / 1024))
  fi
  by_memory=$((memory_kib / (1300 * 1024)))
  ((by_memory < 1)) && by_memory=1
  echo $((by_memory < cores ? by_memory : cores))
}

# Our files, tracked or about to be; where git does not know, all but what was built.
our_files() {
  { git ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%P\n'; } |
    while read -r file; do if [[ -e $file ]]; then echo "$file"; fi; done
}
# Those that clang-format and clang-tidy look at.
source_files() { our_files | grep -E '\.(h|cc)$'; }
