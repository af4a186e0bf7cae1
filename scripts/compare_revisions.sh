#!/usr/bin/env bash
# Ask a file of questions of the memories that two revisions of a repository make, and report what moved.
#
#   MEMORY_BASE=main scripts/compare_revisions.sh FOLDER
#
# FOLDER gets report.md and both runs as JSON. MEMORY_QUESTIONS names the file of questions, MEMORY_BUILD the command that
# makes a memory in the store MEMORY_STORE. The questions are those of the new revision. Without MEMORY_BASE nothing is
# compared. Ends with 0 also where a question fails: `failed=true` then stands in $GITHUB_OUTPUT.
set -euo pipefail

folder=${1:?the folder for the report}
questions=${MEMORY_QUESTIONS:-questions.yml}
build=${MEMORY_BUILD:?the command that makes the memory}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
questions=$(realpath "$questions")

# ask STORE OPTION…: exit code 1 is a question that fails, and no fault of the run.
ask() {
  local store=$1 code=0
  shift
  amgs --store "$store" test "$questions" "$@" || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 1 ] || exit "$code"
  return "$code"
}

against=()
if [ -n "${MEMORY_BASE:-}" ]; then
  # Of a shallow clone the other revision is fetched first.
  git cat-file -e "$MEMORY_BASE^{commit}" 2>/dev/null || git fetch --quiet --depth 1 origin "$MEMORY_BASE"
  git worktree add --quiet --detach "$folder/base" "$MEMORY_BASE"
  trap 'git worktree remove --force "$folder/base"' EXIT
  (cd "$folder/base" && MEMORY_STORE="$folder/base.duckdb" bash -euo pipefail -c "$build")
  ask "$folder/base.duckdb" --keep "$folder/base.json" --quiet || true
  against=(--against "$folder/base.json")
fi

MEMORY_STORE="$folder/head.duckdb" bash -euo pipefail -c "$build"
failed=false
ask "$folder/head.duckdb" "${against[@]}" --keep "$folder/head.json" --report "$folder/report.md" || failed=true

[ -z "${GITHUB_OUTPUT:-}" ] || echo "failed=$failed" >>"$GITHUB_OUTPUT"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"
