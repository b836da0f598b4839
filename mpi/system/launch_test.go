package system

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// environment returns a function like os.Getenv.
func environment(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestReadLaunch(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		want launch
	}{
		"Open MPI":            {[]string{"OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3", "PMIX_RANK", "3"}, launch{LauncherOpenMPI, 3, 4}},
		"Hydra":               {[]string{"PMI_SIZE", "2", "PMI_RANK", "1", "PMI_FD", "7", "HYDI_CONTROL_FD", "5"}, launch{LauncherMPICH, 1, 2}},
		"Hydra without extra": {[]string{"PMI_SIZE", "2", "PMI_RANK", "1", "PMI_FD", "7"}, launch{LauncherMPICH, 1, 2}},
		"Slurm with PMI-2":    {[]string{"PMI_RANK", "1", "PMI_FD", "7", "SLURM_PROCID", "1", "SLURM_NTASKS", "8"}, launch{LauncherPMI, 1, 8}},
		"PMIx":                {[]string{"PMIX_RANK", "0", "PMIX_NAMESPACE", "x"}, launch{LauncherPMIx, 0, -1}},
		"nonsense as size":    {[]string{"OMPI_COMM_WORLD_SIZE", "many"}, launch{LauncherOpenMPI, -1, -1}},
	} {
		got, ok := readLaunch(environment(c.env...))
		assert.True(t, ok, name)
		assert.Equal(t, c.want, got, name)
	}
	_, ok := readLaunch(environment("SLURM_NTASKS", "4", "HOME", "x"))
	assert.False(t, ok, "a batch job that was not started by a launcher of ranks")
}

func TestSeveralHosts(t *testing.T) {
	at := func(pairs ...string) bool {
		return severalHosts(environment(append(pairs, "PMI_FD", "7", "PMI_RANK", "1", "PMI_SIZE", "4")...))
	}
	assert.True(t, at("MPI_LOCALNRANKS", "2"))
	assert.False(t, at("MPI_LOCALNRANKS", "4"))
	assert.False(t, at(), "the launcher does not tell")
	assert.False(t, at("MPI_LOCALNRANKS", "2", "OMPI_COMM_WORLD_SIZE", "4"), "Open MPI")
	assert.False(t, severalHosts(environment()), "no launcher")
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		launcher  string
		available bool
		library   string
		says      string // "" if it fits
	}{
		{LauncherOpenMPI, true, "Open MPI 4.1.4", ""},
		{LauncherMPICH, true, "MPICH 4.0.2", ""},
		{LauncherPMI, true, "MPICH 4.0.2", ""},
		{LauncherPMIx, true, "Open MPI 4.1.4", ""},
		{LauncherOpenMPI, true, "MPICH 4.0.2", "built for MPICH 4.0.2"},
		{LauncherMPICH, true, "Open MPI 4.1.4", "CC=mpicc.mpich go build -tags mpi"},
		{LauncherPMIx, true, "MPICH 4.0.2", "use the launcher of MPICH 4.0.2"},
		{LauncherOpenMPI, false, "", "CC=mpicc.openmpi go build -tags mpi"},
		{LauncherMPICH, false, "", "CC=mpicc.mpich go build -tags mpi"},
		{LauncherPMIx, false, "", "CC=mpicc go build -tags mpi"},
	} {
		err := launch{launcher: c.launcher}.fits(c.available, c.library)
		if c.says == "" {
			assert.NoError(t, err, c)
		} else {
			assert.ErrorContains(t, err, c.says, c)
		}
	}
}

func TestWithoutMPI(t *testing.T) {
	if Available() {
		t.Skip("this build has MPI: the test is about those without the tag mpi")
	}
	require.Empty(t, Library())
	c, err := Init()
	require.Nil(t, c)
	require.ErrorIs(t, err, ErrNotBuilt)
	require.ErrorContains(t, err, "-tags mpi")
}
