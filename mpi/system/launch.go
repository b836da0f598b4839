package system

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Launchers, as [Launched] names them. LauncherPMI and LauncherPMIx are batch systems,
// which serve any library with their protocol.
const (
	LauncherOpenMPI = "Open MPI"
	LauncherMPICH   = "MPICH"
	LauncherPMIx    = "PMIx"
	LauncherPMI     = "PMI"
)

// launch is the environment's description of the start of this process.
type launch struct {
	launcher   string
	rank, size int // -1 if the environment does not tell
}

// readLaunch reads the variables of launchers; get is os.Getenv.
func readLaunch(get func(string) string) (launch, bool) {
	number := func(names ...string) int {
		for _, n := range names {
			if x, err := strconv.Atoi(get(n)); err == nil {
				return x
			}
		}
		return -1
	}
	l := launch{rank: number("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"), size: number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")}
	switch {
	case get("OMPI_COMM_WORLD_SIZE") != "":
		l.launcher = LauncherOpenMPI
	case get("PMIX_RANK") != "" || get("PMIX_NAMESPACE") != "":
		l.launcher = LauncherPMIx
	case get("PMI_RANK") == "" && get("PMI_SIZE") == "":
		return launch{rank: -1, size: -1}, false
	case get("HYDI_CONTROL_FD") != "" || get("MPIEXEC_ALLOW_ROOT") != "" || get("PMI_FD") != "" && get("SLURM_PROCID") == "":
		l.launcher = LauncherMPICH
	default:
		l.launcher = LauncherPMI
	}
	return l, true
}

// severalHosts reports whether MPICH's launcher has started processes on other hosts, too; get is
// os.Getenv.
func severalHosts(get func(string) string) bool {
	l, _ := readLaunch(get)
	here, err := strconv.Atoi(get("MPI_LOCALNRANKS"))
	return l.launcher == LauncherMPICH && err == nil && here < l.size
}

// Launched returns the launcher that started this process (Open MPI's mpirun, MPICH's
// mpiexec, a batch system's) and the number of its processes. size is -1 if the environment
// does not tell; ok is false without a launcher. It reads the environment, and does not
// call MPI. Any goroutine.
func Launched() (launcher string, size int, ok bool) {
	l, ok := readLaunch(os.Getenv)
	return l.launcher, l.size, ok
}

// LaunchedRank returns the rank of this process from the launcher; -1 if it is unknown. It
// does not call MPI. Any goroutine.
func LaunchedRank() int {
	l, _ := readLaunch(os.Getenv)
	return l.rank
}

// CheckLaunch returns an error if this program cannot run under its launcher: it was built
// without MPI, or for another library, in which case it would run as many programs of one
// rank each. Nil if it can, or without a launcher. It does not call MPI. Any goroutine.
func CheckLaunch() error {
	l, ok := readLaunch(os.Getenv)
	if !ok {
		return nil
	}
	return l.fits(Available(), Library())
}

// compilers are the usual names of the wrapper compilers.
var compilers = map[string]string{LauncherOpenMPI: "mpicc.openmpi", LauncherMPICH: "mpicc.mpich"}

// fits checks the launcher against the library of the build.
func (l launch) fits(available bool, library string) error {
	cc := compilers[l.launcher]
	if cc == "" {
		cc = "mpicc"
	}
	build := fmt.Sprintf("build it with CC=%s go build -tags mpi", cc)
	if !available {
		return fmt.Errorf("started by a launcher (%s), but built without MPI: %s, or start it directly, with -ranks", l.launcher, build)
	}
	openMPI := strings.HasPrefix(library, LauncherOpenMPI)
	mpich := strings.HasPrefix(library, LauncherMPICH)
	if l.launcher == LauncherOpenMPI && !openMPI || l.launcher == LauncherMPICH && openMPI || l.launcher == LauncherPMIx && mpich {
		return fmt.Errorf("started by a launcher of %s, but built for %s: use the launcher of %s, or %s", l.launcher, library, library, build)
	}
	return nil
}
