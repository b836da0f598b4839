package examples

import (
	"archive/zip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	ourModule = "github.com/weft-hpc/weft"
	version   = "v0.1.0"
)

var (
	// ownModule is the shell block of README.md for a module of one's own.
	ownModule = regexp.MustCompile("(?s)```sh\n(go mod init .*?)```")
	// ownClone is what takes the place of its second line where there is a clone.
	ownClone = regexp.MustCompile("`(go mod edit [^`]*)`")
)

// The first program of README.md runs in a new module after the commands of README.md,
// in their order: with this tree as a published version, from a module proxy in a folder, and
// with a clone of it. Nothing is downloaded.
func TestReadmeOwnModule(t *testing.T) {
	sameInEveryBuild(t)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	program, block, clone := firstProgram.FindSubmatch(readme), ownModule.FindSubmatch(readme), ownClone.FindSubmatch(readme)
	require.NotNil(t, block, "README.md does not say how to use weft from another module")
	require.NotNil(t, clone, "README.md does not say how to use a clone")
	lines := strings.Split(strings.TrimSpace(string(block[1])), "\n")
	tree, err := filepath.Abs("..")
	require.NoError(t, err)
	proxy := publish(t, tree)
	inClone := append([]string{}, lines...)
	inClone[1] = strings.ReplaceAll(string(clone[1]), "../weft", tree)
	for name, commands := range map[string][]string{"version": lines, "clone": inClone} {
		t.Run(name, func(t *testing.T) {
			o := newOwn(t, proxy, program[1])
			for i, line := range commands {
				if i == 1 {
					out, err := o.run("build", "-o", os.DevNull)
					require.Error(t, err, "negative control: it builds without weft\n%s", out)
				}
				out, err := o.run(strings.Fields(line)[1:]...)
				require.NoError(t, err, "%s\n%s", line, out)
			}
			out, err := o.run("run", ".")
			require.NoError(t, err, out)
			require.Contains(t, string(readme), "```text\n"+out+"```")
			modules, err := o.run("list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
			require.NoError(t, err, modules)
			require.Contains(t, modules, ourModule)
			require.NotContains(t, modules, "plot", "a program carries what only bench needs")
		})
	}
}

// own is a module of a user, in a folder.
type own struct {
	dir string
	env []string
}

// newOwn makes the folder with the program. It can fetch only modules of the proxy and
// modules that have been fetched for this tree.
func newOwn(t *testing.T, proxy string, program []byte) *own {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	fetched := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	o := &own{dir: t.TempDir()}
	o.env = append(os.Environ(), "GOPROXY="+fileURL(proxy)+","+fileURL(fetched), "GOMODCACHE="+t.TempDir(), "GOSUMDB=off",
		"GONOSUMDB=", "GOPRIVATE=", "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GOTOOLCHAIN=local")
	require.NoError(t, os.WriteFile(filepath.Join(o.dir, "main.go"), program, 0o666))
	return o
}

// run runs the go command, and returns its output.
func (o *own) run(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = o.dir, o.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func fileURL(dir string) string { return "file://" + filepath.ToSlash(dir) }

// publish makes a module proxy in a folder that has the tree as its only version.
func publish(t *testing.T, tree string) (proxy string) {
	proxy = t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(ourModule), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o777))
	info, err := json.Marshal(map[string]string{"Version": version, "Time": "2026-01-01T00:00:00Z"})
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	require.NoError(t, err)
	for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(t, err)
	z := zip.NewWriter(f)
	require.NoError(t, addTree(z, tree))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	return proxy
}

// addTree adds the files that belong to the module: none of nested modules, nothing hidden.
func addTree(z *zip.Writer, tree string) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == tree {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}
		return addFile(z, ourModule+"@"+version+"/"+filepath.ToSlash(name), path)
	})
}

func addFile(z *zip.Writer, name, path string) error {
	w, err := z.Create(name)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(w, f)
	return err
}
