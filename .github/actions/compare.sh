#!/usr/bin/env bash
# The step of ../../action.yml: compare two revisions, write the summary, and end as the verdict says.
set -uo pipefail

words=(--git "$BASE..HEAD" --fail-above "$FAIL_ABOVE" --time "$BUDGET" --markdown equipoise.md --junit equipoise.xml)
[ -n "$BUILD" ] && words+=(--build "$BUILD")
[ -n "$SUITE" ] && words+=(--suite "$SUITE")
if [ -n "$OPTIONS" ]; then  # xargs heeds quotes, and expands nothing
  while IFS= read -r word; do words+=("$word"); done < <(xargs printf '%s\n' <<< "$OPTIONS")
fi
[ -n "$COMMAND" ] && words+=(-- "$COMMAND")

"${EQUIPOISE:-equipoise}" compare "${words[@]}"
status=$?
[ -f equipoise.md ] && cat equipoise.md >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
if [ $status -eq 2 ] && [ "$UNDECIDED" = warn ]; then
  echo "::warning::not decided within $BUDGET; a longer budget or a larger limit decides more"
  exit 0
fi
exit $status
