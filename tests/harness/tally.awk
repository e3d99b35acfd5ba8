# tally.awk: counts the tests in one program's output; prints "passed failed skipped".
# Knows TAP lines and cmocka's. What was announced but gave no result has failed.
/^ok( |$)/ { seen++; if (/# *SKIP/) skipped++; else passed++ }
/^not ok( |$)/ { seen++; failed++ }
/^1\.\.[0-9]+/ { split($0, plan, /\.\.|[^0-9.]/); planned = plan[2] }
/^\[ RUN      \]/ { running++ }
/^\[       OK \]/ { running--; passed++ }
/^\[  SKIPPED \] [^ ]+$/ { if (running > 0) { running--; skipped++ } }
END {
	if (planned > seen)
		failed += planned - seen
	if (running > 0)
		failed += running
	print passed + 0, failed + 0, skipped + 0
}
