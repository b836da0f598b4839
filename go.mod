module github.com/weft-hpc/weft

go 1.26.0

require (
	github.com/klauspost/cpuid/v2 v2.4.2
	github.com/sourcegraph/conc v0.3.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.49.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
