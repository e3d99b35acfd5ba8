# environment.sh: sourced before every test: the machine may be small, and we may be root.
# shellcheck shell=sh

# mpirun reads its input; in a background process group, where timeout puts it, a terminal would stop
# it for ever.
exec </dev/null

OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_hwloc_base_binding_policy=none
OMPI_MCA_btl_vader_single_copy_mechanism=none
OMPI_MCA_btl=self,vader,tcp
OMPI_MCA_pml=ob1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_btl_vader_single_copy_mechanism
export OMPI_MCA_btl OMPI_MCA_pml

ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}"
LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$(cd "$srcdir" && pwd)/tests/harness/lsan.supp:print_suppressions=0}"
export ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS
