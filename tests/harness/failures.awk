# failures.awk: of a log, each failed test with what was said of it, and what compilers complained
# of; nothing of the tests that passed. Knows TAP lines, cmocka's and make's, also after "NAME: ".
BEGIN { most = 12 } # lines of explanation for each
{ line = $0; sub(/^[^ ]+: /, "", line) }
line ~ /^not ok( |$)/ { explain = most; print; next }
line ~ /^ok( |$)/ { next }
line ~ /^#/ { if (explain-- > 0) print; next }
line ~ /^\[ *(ERROR|LINE|FAILED) *\]/ { print; next }
/([Ee]rror|ERROR|warning|undefined)[: ]/ { print }
