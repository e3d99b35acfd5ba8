#!/bin/bash
# chaos.sh: random collectives with a fault at a random moment; arguments as of tests/chaos/chaos.
programs=${programs:-tests}

# Without arguments: 300 seeds over shared memory, less than 3 minutes on two CPUs.
timeout -k 5 "${CHAOS_SECONDS:-900}" "$programs/chaos/chaos" "$@"
status=$?
[ "$status" -le 1 ] || echo "not ok - chaos ended with $status"
exit "$status"
